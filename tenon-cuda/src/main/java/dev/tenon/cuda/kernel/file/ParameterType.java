package dev.tenon.cuda.kernel.file;

/** What a kernel's parameter is, as the test that parses the sources reads it. */
public enum ParameterType {
    /** An address of device memory. */
    POINTER,
    I32,
    I64,
    F32,
    /** A struct by value. */
    STRUCT,
    /** float, or double in the variants of f64. */
    COMPUTE
}
