package dev.tenon.core.ir.fn;

import java.util.Optional;

/** What a scattered update does to the element it meets. */
public enum ScatterFn {
    REPLACE,
    ADD,
    MUL,
    MIN,
    MAX;

    /** Returns the function of the element and the update, empty where the update takes the element's place. */
    public Optional<BinaryFn> combines() {
        return switch (this) {
            case REPLACE -> Optional.empty();
            case ADD -> Optional.of(BinaryFn.ADD);
            case MUL -> Optional.of(BinaryFn.MUL);
            case MIN -> Optional.of(BinaryFn.MIN);
            case MAX -> Optional.of(BinaryFn.MAX);
        };
    }

    /** Returns the types of the elements: any that can be combined. */
    public Accepts accepts() {
        return combines().map(BinaryFn::accepts).orElse(Accepts.ANY);
    }
}
