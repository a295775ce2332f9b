/** The IR, the compiler, the runtime and its public API; nothing but the JDK below it. */
module dev.tenon.core {
    requires static org.jspecify;

    exports dev.tenon.core.error;
    exports dev.tenon.core.ir;
    exports dev.tenon.core.ir.op;
}
