package dev.tenon.cuda.lower.step;

import dev.tenon.core.error.InputException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** In which form fused elementwise expressions run. */
public enum RegionForm {
    /** Compiled where that was done before, where it pays, or where nothing else takes them; else interpreted. */
    BY_SIZE,
    /** Interpreted, and piece by piece where the interpreter does not take them. */
    INTERPRETED,
    /** Compiled. */
    COMPILED;

    /** Elements from which a kernel of its own, some 100 ms to compile when it is not in the cache yet, pays. */
    private static final long MANY = 32 * 1024;

    /**
     * What {@code TENON_REGIONS} asks for. Read when it is asked, so that a word which is none is an ordinary error.
     *
     * @throws InputException for such a word
     */
    public static RegionForm asked() {
        return of(System.getenv("TENON_REGIONS"));
    }

    /**
     * The form of a name.
     *
     * @param name {@code interpreted}, {@code compiled}, or nothing for {@link #BY_SIZE}
     * @throws InputException for another name
     */
    public static RegionForm of(@Nullable String name) {
        return switch (name) {
            case null -> BY_SIZE;
            case "" -> BY_SIZE;
            case "interpreted" -> INTERPRETED;
            case "compiled" -> COMPILED;
            default ->
                throw new InputException("TENON_REGIONS is \"" + name
                        + "\"; it is interpreted or compiled, or not set for a choice by size");
        };
    }

    /**
     * Why a region is not compiled; empty where it is.
     *
     * @param hasOther whether another kernel takes it
     * @param isHeld whether its code is there; asked where that decides
     */
    public String notCompiled(long elements, boolean hasOther, BooleanSupplier isHeld) {
        return switch (this) {
            case COMPILED -> "";
            case INTERPRETED -> "TENON_REGIONS is interpreted";
            case BY_SIZE ->
                hasOther && elements < MANY && !isHeld.getAsBoolean()
                        ? elements + " elements; to compile it pays from " + MANY
                        : "";
        };
    }
}
