package dev.tenon.core.ir.op.state;

/** Which way a recurrent layer walks the sequence. */
public enum RnnDirection {
    FORWARD,
    REVERSE,
    BIDIRECTIONAL
}
