package dev.tenon.cpu;

import dev.tenon.core.ir.op.BinaryFn;
import dev.tenon.core.ir.op.CompareFn;
import dev.tenon.core.ir.op.Unary;
import dev.tenon.core.ir.op.UnaryFn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** The vector loops, each with dummy data to warm it up on. Loaded only where there is a Vector API. */
final class HotLoops {
    private static final Kernels SCALAR = new Kernels();
    private static final int LANES = VectorKernels.LANES;
    /** An odd number of vectors, so that the loops over two or four at a time meet their ends. */
    private static final int N = 31 * LANES;

    /** Short, because what counts before a method is compiled is calls (600) beside iterations; not a multiple of four. */
    private static final int DEPTH = 27;

    private static final MemorySegment DATA = Arena.ofShared().allocate(1 << 18, 64);
    private static final long A = 0;
    private static final long B = 1 << 16;
    private static final long C = 2 << 16;
    private static final long D = 3 << 16;
    private static final List<HotLoop> ALL = new ArrayList<>();

    static final HotLoop TILE = add("tile", HotLoops::vectorTile, HotLoops::scalarTile);
    static final HotLoop EXP_SUM = add(
            "exp sum",
            () -> keep(VectorRows.expSum(DATA, A, 0, DATA, B, N)),
            () -> keep(SCALAR.expSum(DATA, A, 0, DATA, B, N)));
    static final HotLoop MAX =
            add("row max", () -> keep(VectorRows.max(DATA, A, N)), () -> keep(SCALAR.max(DATA, A, N)));
    static final HotLoop MOMENTS = add(
            "moments", () -> VectorRows.moments(DATA, A, N, 1, DATA, B), () -> SCALAR.moments(DATA, A, N, 1, DATA, B));
    static final HotLoop NORMALISE = add("normalise", HotLoops::vectorNormalise, HotLoops::scalarNormalise);
    static final HotLoop AFFINE = add(
            "affine",
            () -> VectorUnary.affine(DATA, A, DATA, B, N, 2, 1),
            () -> SCALAR.affine(DATA, A, DATA, B, 2, 1, N));
    static final HotLoop SUM = add("sum", () -> keep(VectorRows.sum(DATA, A, N)), () -> keep(SCALAR.sum(DATA, A, N)));
    static final HotLoop DOT =
            add("dot", () -> keep(VectorRows.dot(DATA, A, DATA, B, N)), () -> keep(SCALAR.dot(DATA, A, DATA, B, N)));
    static final HotLoop MIX = add(
            "mix",
            () -> VectorRows.mix(DATA, A, DATA, B, LANES, DATA, C, DEPTH),
            () -> SCALAR.mix(DATA, A, DATA, B, LANES, DATA, C, DEPTH));
    static final HotLoop COMPARE = add("compare", HotLoops::vectorCompare, HotLoops::scalarCompare);
    static final HotLoop SELECT = add(
            "select",
            () -> VectorBinary.select(DATA, D, DATA, A, DATA, B, DATA, C, N),
            () -> SCALAR.select(DATA, D, DATA, A, DATA, B, DATA, C, N));
    private static final Map<UnaryFn, HotLoop> UNARY = new EnumMap<>(UnaryFn.class);
    private static final Map<BinaryFn, HotLoop> BINARY = new EnumMap<>(BinaryFn.class);

    static {
        for (UnaryFn fn : UnaryFn.values()) {
            UNARY.put(fn, unaryLoop(fn));
        }
        for (BinaryFn fn : BinaryFn.values()) {
            if (VectorBinary.has(fn)) {
                BINARY.put(
                        fn,
                        add(
                                fn.name().toLowerCase(Locale.ROOT),
                                () -> VectorBinary.run(fn, DATA, A, DATA, B, DATA, C, N),
                                () -> SCALAR.binary(fn, DATA, A, DATA, B, DATA, C, N)));
            }
        }
        String mode = Vectors.mode();
        if (mode.equals(Vectors.VECTOR)) {
            ALL.forEach(HotLoop::adopt);
        } else if (mode.equals(Vectors.SCALAR)) {
            ALL.forEach(HotLoop::refuse);
        }
    }

    private HotLoops() {}

    private static HotLoop add(String name, Runnable vector, Runnable scalar) {
        HotLoop loop = new HotLoop(name, vector, scalar);
        ALL.add(loop);
        return loop;
    }

    /** A result that nobody uses would not be computed. */
    private static void keep(double result) {
        DATA.set(Convert.F64, D, result);
    }

    private static HotLoop unaryLoop(UnaryFn fn) {
        if (!VectorUnary.has(fn)) {
            HotLoop none = new HotLoop(fn.name(), () -> {}, () -> {});
            none.refuse();
            return none;
        }
        Unary op = switch (fn) {
            case LEAKY_RELU, HARD_SIGMOID, CLIP, AFFINE, SCALED_TANH, SILU -> new Unary(fn, 0.5, 1);
            default -> Unary.of(fn);
        };
        // functions that share a loop run both branches of it
        Unary twin = switch (fn) {
            case SIGMOID -> new Unary(UnaryFn.SILU, 1, 0);
            case SILU -> Unary.of(UnaryFn.SIGMOID);
            case HARD_SIGMOID -> Unary.of(UnaryFn.HARD_SWISH);
            case HARD_SWISH -> new Unary(UnaryFn.HARD_SIGMOID, 0.2, 0.5);
            default -> op;
        };
        return add(
                fn.name().toLowerCase(Locale.ROOT),
                () -> {
                    VectorUnary.run(op, DATA, A, DATA, C, N);
                    VectorUnary.run(twin, DATA, A, DATA, C, N);
                },
                () -> {
                    SCALAR.unary(op, DATA, A, DATA, C, N);
                    SCALAR.unary(twin, DATA, A, DATA, C, N);
                });
    }

    static HotLoop of(UnaryFn fn) {
        return Objects.requireNonNull(UNARY.get(fn));
    }

    /** For functions that {@link VectorBinary} has. */
    static HotLoop of(BinaryFn fn) {
        return Objects.requireNonNull(BINARY.get(fn));
    }

    /** What most models run: asked for when the device opens, while the model is still being read. */
    static void requestUsual() {
        for (HotLoop loop : List.of(
                TILE, EXP_SUM, MAX, MOMENTS, NORMALISE, AFFINE, of(BinaryFn.ADD), of(UnaryFn.GELU), of(BinaryFn.MUL))) {
            loop.request();
        }
    }

    static List<HotLoop> all() {
        return List.copyOf(ALL);
    }

    private static void vectorTile() {
        for (int rows : new int[] {8, 4, 2, 1}) {
            VectorTile.add(rows, DATA, B, DATA, D, 0, DATA, C, Gemm.NR);
            VectorTile.run(rows, DEPTH, DATA, A, DEPTH, DATA, B, DATA, C, Gemm.NR);
        }
    }

    private static void scalarTile() {
        for (int rows : new int[] {8, 4, 2, 1}) {
            SCALAR.addTile(rows, DATA, B, DATA, D, 0, DATA, C, Gemm.NR);
            ScalarTile.run(rows, DEPTH, DATA, A, DEPTH, DATA, B, DATA, C, Gemm.NR);
        }
    }

    private static void vectorNormalise() {
        VectorRows.normalise(DATA, A, DATA, B, N, 1, 2, 3);
        VectorRows.normaliseAndScale(DATA, A, DATA, B, N, 1, 2, 3, DATA, C);
        VectorRows.normaliseScaleAndShift(DATA, A, DATA, B, N, 1, 2, 3, DATA, C, DATA, D);
    }

    private static void scalarNormalise() {
        MemorySegment none = MemorySegment.NULL;
        SCALAR.normalise(DATA, A, DATA, B, N, 1, 2, 3, none, 0, none, 0);
        SCALAR.normalise(DATA, A, DATA, B, N, 1, 2, 3, DATA, C, none, 0);
        SCALAR.normalise(DATA, A, DATA, B, N, 1, 2, 3, DATA, C, DATA, D);
    }

    private static void vectorCompare() {
        for (CompareFn fn : CompareFn.values()) {
            VectorBinary.compare(fn, DATA, A, DATA, B, DATA, D, N);
        }
    }

    private static void scalarCompare() {
        for (CompareFn fn : CompareFn.values()) {
            SCALAR.compare(fn, DATA, A, DATA, B, DATA, D, N);
        }
    }
}
