/** The IR, the compiler, the runtime and its public API; nothing but the JDK below it. */
@SuppressWarnings("module") // the modules named in qualified exports are compiled after this one
module dev.tenon.core {
    requires static org.jspecify;

    exports dev.tenon.core.error;
    exports dev.tenon.core.lazy to
            dev.tenon.cpu,
            dev.tenon.cuda,
            dev.tenon.emulator,
            dev.tenon.formats,
            dev.tenon.models,
            dev.tenon.nativelib;
    exports dev.tenon.core.ir;
    exports dev.tenon.core.ir.op;
    exports dev.tenon.core.collective;
    exports dev.tenon.core.collective.inprocess;
    exports dev.tenon.core.collective.reduce to
            dev.tenon.mpi;
    exports dev.tenon.core.compiler;
    exports dev.tenon.core.runtime;
    exports dev.tenon.core.runtime.spi;

    uses dev.tenon.core.runtime.spi.Backend;
}
