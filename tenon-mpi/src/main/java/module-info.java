/** Ranks that are processes, on one host or many, over Open MPI. */
module dev.tenon.mpi {
    requires static org.jspecify;
    requires transitive dev.tenon.collective;
    requires transitive dev.tenon.core;
    requires dev.tenon.nativelib;

    exports dev.tenon.mpi;
}
