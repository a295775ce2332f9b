package dev.tenon.core.options;

/** When plans and kernels are made. */
public enum CompileMode {
    /** When a run first needs them. */
    JIT,
    /** When the model is compiled, for the shapes that its {@link ShapeProfile} tells of. */
    AOT
}
