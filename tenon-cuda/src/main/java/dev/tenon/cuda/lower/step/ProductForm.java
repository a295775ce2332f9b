package dev.tenon.cuda.lower.step;

import dev.tenon.nativelib.Switches;

/** Which of our kernels for matrix products are taken. */
public enum ProductForm {
    /** By sizes, types and what is there. */
    BY_CHOICE,
    /** The one for few rows wherever it can, even if a library is there. */
    FEW_ROWS,
    /** That of warpgroups for short sums wherever it can, even if a library is there. */
    ROWS,
    /** That of warpgroups for sums of any length wherever it can, even if a library is there. */
    RING,
    /** That of warpgroups whose blocks share sums wherever it can, even if a library is there. */
    PARTS,
    /** That on tensor cores wherever it can, even if a library is there. */
    TENSOR_CORES,
    /** By choice, without tensor cores. */
    NO_TENSOR_CORES,
    /** The plain one wherever no library makes the product. */
    PLAIN;

    /** Whether one of the kernels of warpgroups is asked for. */
    public boolean isOfWarpgroups() {
        return this == ROWS || this == RING || this == PARTS;
    }

    private static final String VARIABLE = "TENON_CUDA_WMMA";

    /** What {@code TENON_CUDA_WMMA} asks for: 1 forces tensor cores, 0 forbids them. */
    private static final ProductForm ASKED = of(System.getenv(VARIABLE) != null, Switches.on(VARIABLE, false));

    static ProductForm asked() {
        return ASKED;
    }

    private static ProductForm of(boolean set, boolean on) {
        return !set ? BY_CHOICE : on ? TENSOR_CORES : NO_TENSOR_CORES;
    }
}
