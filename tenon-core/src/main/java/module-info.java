/** The IR, the compiler, the runtime and its public API; nothing but the JDK below it. */
@SuppressWarnings("module") // the modules named in qualified exports are compiled after this one
module dev.tenon.core {
    requires static jdk.jfr;
    requires static org.jspecify;

    exports dev.tenon.core.backend;
    exports dev.tenon.core.build;
    exports dev.tenon.core.compiler;
    exports dev.tenon.core.compiler.memory;
    exports dev.tenon.core.error;
    exports dev.tenon.core.ir;
    exports dev.tenon.core.ir.fn;
    exports dev.tenon.core.ir.op.attention;
    exports dev.tenon.core.ir.op.contraction;
    exports dev.tenon.core.ir.op.control;
    exports dev.tenon.core.ir.op.convolution;
    exports dev.tenon.core.ir.op.custom;
    exports dev.tenon.core.ir.op.elementwise;
    exports dev.tenon.core.ir.op.filling;
    exports dev.tenon.core.ir.op.image;
    exports dev.tenon.core.ir.op.indexing;
    exports dev.tenon.core.ir.op.movement;
    exports dev.tenon.core.ir.op.normalisation;
    exports dev.tenon.core.ir.op.pooling;
    exports dev.tenon.core.ir.op.quantisation;
    exports dev.tenon.core.ir.op.random;
    exports dev.tenon.core.ir.op.reduction;
    exports dev.tenon.core.ir.op.searching;
    exports dev.tenon.core.ir.op.signal;
    exports dev.tenon.core.ir.op.state;
    exports dev.tenon.core.options;
    exports dev.tenon.core.report;
    exports dev.tenon.core.runtime;
    exports dev.tenon.core.tensor;
    exports dev.tenon.core.lazy to
            dev.tenon.collective,
            dev.tenon.cpu,
            dev.tenon.cuda,
            dev.tenon.emulator,
            dev.tenon.formats,
            dev.tenon.models,
            dev.tenon.nativelib;

    uses dev.tenon.core.backend.Backend;
}
