package dev.tenon.core.ir.op.attention;

/** The kind of mask that an attention takes. */
public enum AttentionMask {
    NONE,
    BOOLEAN,
    ADDITIVE
}
