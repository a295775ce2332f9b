/**
 * FFM bindings to the native libraries that Tenon opens at run time, and the finder that looks for them. The one module
 * that holds a {@code Linker}.
 */
@SuppressWarnings("module") // the modules named in qualified exports are compiled after this one
module dev.tenon.nativelib {
    requires static org.jspecify;
    requires transitive dev.tenon.core;

    exports dev.tenon.nativelib to
            dev.tenon.cli,
            dev.tenon.cuda,
            dev.tenon.emulator,
            dev.tenon.mpi;
    exports dev.tenon.nativelib.cublas to
            dev.tenon.cuda;
    exports dev.tenon.nativelib.cuda to
            dev.tenon.cuda;
    exports dev.tenon.nativelib.cudnn to
            dev.tenon.cuda;
    exports dev.tenon.nativelib.emulated to
            dev.tenon.emulator;
    exports dev.tenon.nativelib.mpi to
            dev.tenon.mpi;
    exports dev.tenon.nativelib.nccl to
            dev.tenon.cuda;
    exports dev.tenon.nativelib.nvrtc to
            dev.tenon.cuda;
    exports dev.tenon.nativelib.nvtx to
            dev.tenon.cuda;
}
