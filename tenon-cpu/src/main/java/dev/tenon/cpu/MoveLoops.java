package dev.tenon.cpu;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The vector loops of copies, windows and quantisation, each with dummy data to warm it up on. Loaded only where there is a Vector API. */
final class MoveLoops {
    private static final WindowKernels SCALAR = new WindowKernels();
    private static final QuantKernels SCALAR_QUANT = new QuantKernels();
    private static final MemorySegment DATA = Arena.ofShared().allocate(1 << 16, 64);
    private static final long B = 1 << 14;
    private static final long C = 2 << 14;
    /** Whole vectors and a rest. */
    private static final int N = 16 * 12 + 7;

    static final HotLoop COPY = add("copy", MoveLoops::vectorCopy, MoveLoops::scalarCopy);
    static final HotLoop SPREAD = add("spread", () -> VectorMoves.spread(DATA, 0, 8, DATA, B, 1024), () -> {
        for (int i = 0; i < 8; i++) {
            MemorySegment.copy(DATA, 4L * Gemm.NR * i, DATA, B + 1024L * i, 4L * Gemm.NR);
        }
    });
    static final HotLoop TRANSPOSE = add(
            "transpose",
            () -> VectorMoves.transpose4(DATA, 0, 256, DATA, B, 256, 16, 16),
            () -> StridedCopy.words(DATA, 0, 256, DATA, B, 256, 16, 16));
    static final HotLoop SUMS = add(
            "window sums",
            () -> VectorWindowKernels.sums(DATA, 0, 3, 1024, DATA, C, 16, 3, 1, DATA, B, N),
            () -> SCALAR.correlate(DATA, 0, 3, 1024, DATA, C, 16, 3, 1, 1, DATA, B, N));
    static final HotLoop SUMS_OF_SECOND = add(
            "window sums, stride 2",
            () -> VectorWindowKernels.sumsOfSecond(DATA, 0, 3, 2048, DATA, C, 16, 3, 1, DATA, B, N),
            () -> SCALAR.correlate(DATA, 0, 3, 2048, DATA, C, 16, 3, 1, 2, DATA, B, N));
    static final HotLoop MAXIMA = add(
            "window maxima",
            () -> VectorWindowKernels.maxima(DATA, 0, 3, 1024, 3, 1, DATA, B, N),
            () -> SCALAR.maximum(DATA, 0, 3, 1024, 3, 1, 1, DATA, B, N));
    static final HotLoop MAXIMA_OF_SECOND = add(
            "window maxima, stride 2",
            () -> VectorWindowKernels.maximaOfSecond(DATA, 0, 3, 2048, 3, 1, DATA, B, N),
            () -> SCALAR.maximum(DATA, 0, 3, 2048, 3, 1, 2, DATA, B, N));
    static final HotLoop MULTIPLY_ADD = add(
            "multiply and add",
            () -> VectorWindowKernels.products(DATA, 0, 0.5f, DATA, B, N),
            () -> SCALAR.multiplyAdd(DATA, 0, 0.5f, DATA, B, N));
    static final HotLoop QUANTIZE = add(
            "quantize",
            () -> VectorQuantKernels.toBytes(DATA, 0, 0.5f, 3, 0, 255, DATA, B, N),
            () -> SCALAR_QUANT.quantize(DATA, 0, 0.5f, 3, 0, 255, DATA, B, N));
    static final HotLoop DEQUANTIZE = add(
            "dequantize",
            () -> VectorQuantKernels.fromBytes(DATA, 0, true, 0.5f, 3, DATA, B, N),
            () -> SCALAR_QUANT.dequantize(DATA, 0, true, 0.5f, 3, DATA, B, N));
    static final HotLoop RANGE = add(
            "range",
            () -> VectorQuantKernels.extremes(DATA, 0, N, DATA, B),
            () -> SCALAR_QUANT.range(DATA, 0, N, DATA, B));

    private MoveLoops() {}

    private static HotLoop add(String name, Runnable vector, Runnable scalar) {
        HotLoop loop = new HotLoop(name, vector, scalar);
        switch (Vectors.mode()) {
            case Vectors.VECTOR -> loop.adopt();
            case Vectors.SCALAR -> loop.refuse();
            default -> {}
        }
        return loop;
    }

    static List<HotLoop> all() {
        return List.of(
                COPY,
                SPREAD,
                TRANSPOSE,
                SUMS,
                SUMS_OF_SECOND,
                MAXIMA,
                MAXIMA_OF_SECOND,
                MULTIPLY_ADD,
                QUANTIZE,
                DEQUANTIZE,
                RANGE);
    }

    /** Lengths for each of the ways that there are to copy. */
    private static void vectorCopy() {
        for (int i = 0; i < 8; i++) {
            VectorMoves.copy(DATA, 512L * i, DATA, B, 224);
            VectorMoves.copy(DATA, 512L * i, DATA, B, 56);
            VectorMoves.copy(DATA, 512L * i, DATA, B, 28);
        }
    }

    private static void scalarCopy() {
        for (int i = 0; i < 8; i++) {
            Raw.scalarCopy(DATA, 512L * i, DATA, B, 224);
            Raw.scalarCopy(DATA, 512L * i, DATA, B, 56);
            Raw.scalarCopy(DATA, 512L * i, DATA, B, 28);
        }
    }
}
