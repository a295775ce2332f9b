package dev.tenon.models.tokenizer;

/** The end of a sequence at which tokens are cut off or padding is put. */
public enum Direction {
    LEFT,
    RIGHT
}
