package dev.tenon.core.ir.op.custom;

/** Is one argument of a kernel. */
public sealed interface DeviceArgument {
    /** The address of an input's elements, on a 64-byte boundary; one without elements has an address all the same. */
    record Input(int index) implements DeviceArgument {}

    /** The address of a result's elements, on a 64-byte boundary. */
    record Result(int index) implements DeviceArgument {}

    /** An address in the body's workspace, in bytes from its start, which lies on a 256-byte boundary. */
    record Workspace(long offset) implements DeviceArgument {}

    /** A 32-bit integer. */
    record I32(int value) implements DeviceArgument {}

    /** A 64-bit integer. */
    record I64(long value) implements DeviceArgument {}

    /** A 32-bit float. */
    record F32(float value) implements DeviceArgument {}

    /** A 64-bit float. */
    record F64(double value) implements DeviceArgument {}

    /** Two arguments, {@code void* faults, int step}: what the kernel passes to {@code report_fault}. */
    record Faults() implements DeviceArgument {}
}
