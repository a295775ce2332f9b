/** FFM bindings to the native libraries that Tenon opens at run time, and the finder that looks for them. The one module that holds a {@code Linker}. */
module dev.tenon.nativelib {
    requires static org.jspecify;
    requires transitive dev.tenon.core;

    exports dev.tenon.nativelib;
    exports dev.tenon.nativelib.cublas;
    exports dev.tenon.nativelib.cuda;
    exports dev.tenon.nativelib.emulated;
    exports dev.tenon.nativelib.mpi;
    exports dev.tenon.nativelib.nccl;
    exports dev.tenon.nativelib.nvrtc;
    exports dev.tenon.nativelib.nvtx;
}
