package dev.tenon.core.options;

/** Says in which order a scatter adds the updates of one element. */
public enum AdditionOrder {
    /** In the order of the indices: results are the same bits in every run and on every device of one kind. */
    FIXED,
    /**
     * In any order: on GPUs f32 and f64 updates are added by atomic additions, which are faster and whose rounding
     * depends on timing. Additions of f32 may take subnormal numbers as 0. Everywhere else the same as {@link #FIXED}.
     */
    ANY
}
