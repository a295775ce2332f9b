package dev.tenon.cpu.loops;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The vector loops of copies, windows and quantisation, each with dummy data to warm it up on. Loaded only where there
 * is a Vector API.
 *
 * <p>One object for the process, made on first use and not by a class initialiser: see {@link Lazy}.
 */
public final class MoveLoops {
    private static final Lazy<MoveLoops> LOOPS = new Lazy<>() {
        @Override
        protected MoveLoops make() {
            return new MoveLoops();
        }
    };
    private static final long B = 1 << 14;
    private static final long C = 2 << 14;
    /** Whole vectors and a rest. */
    private static final int N = 16 * 12 + 7;

    private final WindowLoops scalar = new WindowLoops();
    private final QuantLoops scalarQuant = new QuantLoops();
    private final MemorySegment data = Arena.ofShared().allocate(1 << 16, 64);
    private final Taps taps = new Taps(data, 0, 3, 1024, 3, 1, 1);
    private final Taps tapsOfSecond = new Taps(data, 0, 3, 2048, 3, 1, 2);
    private final int[] planeTaps = {0, 4, 8, 64, 68, 72, 128, 132, 136};
    private final Matrix weights = new Matrix(data, C, 16);
    private final ByteScale scale = new ByteScale(0.5f, 3, 0, 255);

    final HotLoop copy = add("copy", HotLoop.WORTH, _ -> vectorCopy(), _ -> plainCopy());
    public final HotLoop spread =
            add("spread", HotLoop.WORTH, _ -> VectorMoves.spread(data, 0, 8, data, B, 1024), _ -> {
                for (int i = 0; i < 8; i++) {
                    MemorySegment.copy(data, 4L * Gemm.NR * i, data, B + 1024L * i, 4L * Gemm.NR);
                }
            });
    final HotLoop rows = add("rows", _ -> VectorMoves.rows(data, 0, 60, data, B, 52, 16), _ -> {
        for (int i = 0; i < 16; i++) {
            Raw.scalarCopy(data, 60L * i, data, B + 52L * i, 52);
        }
    });
    final HotLoop transpose = add(
            "transpose",
            _ -> {
                VectorMoves.transpose4(data, 0, 256, data, B, 256, 17, 17);
                VectorMoves.transpose3(data, 0, 1024, data, B, 201);
            },
            _ -> {
                StridedCopy.words(data, 0, 256, data, B, 256, 17, 17);
                StridedCopy.words(data, 0, 1024, data, B, 12, 201, 3);
            });
    final HotLoop sums = add(
            "window sums",
            _ -> VectorWindowLoops.sums(taps, weights, data, B, N),
            _ -> scalar.correlate(taps, weights, data, B, N));
    final HotLoop sumsOfSecond = add(
            "window sums, stride 2",
            _ -> VectorWindowLoops.sumsOfSecond(tapsOfSecond, weights, data, B, N),
            _ -> scalar.correlate(tapsOfSecond, weights, data, B, N));
    final HotLoop maxima = add(
            "window maxima", _ -> VectorWindowLoops.maxima(taps, data, B, N), _ -> scalar.maximum(taps, data, B, N));
    final HotLoop maximaOfSecond = add(
            "window maxima, stride 2",
            _ -> VectorWindowLoops.maximaOfSecond(tapsOfSecond, data, B, N),
            _ -> scalar.maximum(tapsOfSecond, data, B, N));
    final HotLoop planeSums = add(
            "plane sums",
            brief -> VectorWindowLoops.planeSums(data, planeTaps, data, C, 0.5f, B, brief ? 1 : N),
            _ -> scalar.correlate(data, planeTaps, data, C, 0.5f, B, N));
    final HotLoop planeMaxima = add(
            "plane maxima",
            brief -> VectorWindowLoops.planeMaxima(data, planeTaps, B, brief ? 1 : N),
            _ -> scalar.maximum(data, planeTaps, B, N));
    final HotLoop everySecond = add(
            "every second",
            _ -> VectorWindowLoops.everySecond(data, 0, data, B, N),
            _ -> scalar.everyOther(data, 0, 2, data, B, N));
    final HotLoop multiplyAdd = add(
            "multiply and add",
            _ -> VectorWindowLoops.products(data, 0, 0.5f, data, B, N),
            _ -> scalar.multiplyAdd(data, 0, 0.5f, data, B, N));
    final HotLoop quantize = add(
            "quantize",
            _ -> VectorQuantLoops.toBytes(data, 0, scale, data, B, N),
            _ -> scalarQuant.quantize(data, 0, scale, data, B, N));
    final HotLoop dequantize = add(
            "dequantize",
            _ -> VectorQuantLoops.fromBytes(data, 0, true, 0.5f, 3, data, B, N),
            _ -> scalarQuant.dequantize(data, 0, true, 0.5f, 3, data, B, N));
    final HotLoop range = add(
            "range", _ -> VectorQuantLoops.extremes(data, 0, N, data, B), _ -> scalarQuant.range(data, 0, N, data, B));

    private MoveLoops() {}

    public static MoveLoops get() {
        return LOOPS.get();
    }

    private static HotLoop add(String name, HotLoop.Work vector, HotLoop.Work plain) {
        return add(name, 1, vector, plain);
    }

    private static HotLoop add(String name, int worth, HotLoop.Work vector, HotLoop.Work plain) {
        return new HotLoop(name, worth, vector, plain).inMode();
    }

    public static List<HotLoop> all() {
        MoveLoops loops = get();
        return List.of(
                loops.copy,
                loops.spread,
                loops.rows,
                loops.transpose,
                loops.sums,
                loops.sumsOfSecond,
                loops.maxima,
                loops.maximaOfSecond,
                loops.planeSums,
                loops.planeMaxima,
                loops.everySecond,
                loops.multiplyAdd,
                loops.quantize,
                loops.dequantize,
                loops.range);
    }

    /** Lengths for each of the ways that there are to copy. */
    private void vectorCopy() {
        for (int i = 0; i < 8; i++) {
            VectorMoves.copy(data, 512L * i, data, B, 224);
            VectorMoves.copy(data, 512L * i, data, B, 56);
            VectorMoves.copy(data, 512L * i, data, B, 28);
        }
    }

    private void plainCopy() {
        for (int i = 0; i < 8; i++) {
            Raw.scalarCopy(data, 512L * i, data, B, 224);
            Raw.scalarCopy(data, 512L * i, data, B, 56);
            Raw.scalarCopy(data, 512L * i, data, B, 28);
        }
    }
}
