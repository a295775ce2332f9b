/** Collective operations: the contract, and ranks that are threads of one process. */
@SuppressWarnings("module") // the module named in a qualified export is compiled after this one
module dev.tenon.collective {
    requires static org.jspecify;
    requires transitive dev.tenon.core;

    exports dev.tenon.collective;
    exports dev.tenon.collective.inprocess;
    exports dev.tenon.collective.reduce to
            dev.tenon.mpi;
}
