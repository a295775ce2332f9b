package dev.tenon.core.options;

/** Which streams a GPU serves first where kernels of several streams wait for room. The CPU backend ignores it. */
public enum StreamPriority {
    /** As streams are by default. */
    NORMAL,
    /** Before streams of normal priority, those of other engines of the device among them. */
    HIGH
}
