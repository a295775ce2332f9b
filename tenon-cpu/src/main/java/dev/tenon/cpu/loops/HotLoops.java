package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.lazy.Lazy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The vector loops, each with dummy data to warm it up on. Loaded only where there is a Vector API.
 *
 * <p>One object for the process, made on first use and not by a class initialiser: see {@link Lazy}.
 */
public final class HotLoops {
    private static final Lazy<HotLoops> LOOPS = new Lazy<>() {
        @Override
        protected HotLoops make() {
            return new HotLoops();
        }
    };

    /** Short, because what counts before a method is compiled is calls (600) beside iterations; not a multiple of four. */
    private static final int DEPTH = 27;

    private static final long A = 0;
    private static final long B = 1 << 16;
    private static final long C = 2 << 16;
    private static final long D = 3 << 16;
    private final Loops scalar = new Loops();
    private final int lanes = VectorLoops.LANES;
    /** An odd number of vectors, so that the loops over two or four at a time meet their ends. */
    private final int n = 31 * lanes;

    private final MemorySegment data = Arena.ofShared().allocate(1 << 18, 64);
    private final List<HotLoop> all = new ArrayList<>();

    /** Functions that share a loop, which runs both branches of it while it warms up. */
    private final Map<UnaryFn, Unary> shared = Map.of(
            UnaryFn.SIGMOID, Unary.silu(),
            UnaryFn.SILU, Unary.of(UnaryFn.SIGMOID),
            UnaryFn.HARD_SIGMOID, Unary.of(UnaryFn.HARD_SWISH),
            UnaryFn.HARD_SWISH, new Unary(UnaryFn.HARD_SIGMOID, 0.2, 0.5));

    final HotLoop tile = add("tile", this::vectorTile, this::scalarTile);
    final HotLoop expSum = add(
            "exp sum",
            () -> keep(VectorRows.expSum(data, A, 0, data, B, n)),
            () -> keep(scalar.expSum(data, A, 0, data, B, n)));
    final HotLoop max = add("row max", () -> keep(VectorRows.max(data, A, n)), () -> keep(scalar.max(data, A, n)));
    final HotLoop moments = add(
            "moments", () -> VectorRows.moments(data, A, n, 1, data, B), () -> scalar.moments(data, A, n, 1, data, B));
    final HotLoop normalise = add("normalise", this::vectorNormalise, this::scalarNormalise);
    final HotLoop affine = add(
            "affine",
            () -> VectorUnary.affine(data, A, data, B, n, 2, 1),
            () -> scalar.affine(data, A, data, B, 2, 1, n));
    final HotLoop sum = add("sum", () -> keep(VectorRows.sum(data, A, n)), () -> keep(scalar.sum(data, A, n)));
    final HotLoop dot =
            add("dot", () -> keep(VectorRows.dot(data, A, data, B, n)), () -> keep(scalar.dot(data, A, data, B, n)));
    final HotLoop mix = add(
            "mix",
            () -> VectorRows.mix(data, A, data, B, lanes, data, C, DEPTH),
            () -> scalar.mix(data, A, data, B, lanes, data, C, DEPTH));
    final HotLoop compare = add("compare", this::vectorCompare, this::scalarCompare);
    final HotLoop select = add(
            "select",
            () -> VectorBinary.select(data, D, data, A, data, B, data, C, n),
            () -> scalar.select(data, D, data, A, data, B, data, C, n));
    private final Map<UnaryFn, HotLoop> unary = new EnumMap<>(UnaryFn.class);
    private final Map<BinaryFn, HotLoop> binary = new EnumMap<>(BinaryFn.class);

    private HotLoops() {
        for (UnaryFn fn : UnaryFn.values()) {
            unary.put(fn, unaryLoop(fn));
        }
        for (BinaryFn fn : BinaryFn.values()) {
            if (VectorBinary.has(fn)) {
                binary.put(
                        fn,
                        add(
                                fn.word(),
                                () -> VectorBinary.run(fn, data, A, data, B, data, C, n),
                                () -> scalar.binary(fn, data, A, data, B, data, C, n)));
            }
        }
        String mode = Vectors.mode();
        if (mode.equals(Vectors.VECTOR)) {
            all.forEach(HotLoop::adopt);
        } else if (mode.equals(Vectors.SCALAR)) {
            all.forEach(HotLoop::refuse);
        }
    }

    static HotLoops get() {
        return LOOPS.get();
    }

    private HotLoop add(String name, Runnable vector, Runnable scalar) {
        HotLoop loop = new HotLoop(name, vector, scalar);
        all.add(loop);
        return loop;
    }

    /** A result that nobody uses would not be computed. */
    private void keep(double result) {
        data.set(Convert.F64, D, result);
    }

    private HotLoop unaryLoop(UnaryFn fn) {
        if (!VectorUnary.has(fn)) {
            HotLoop none = new HotLoop(fn.name(), () -> {}, () -> {});
            none.refuse();
            return none;
        }
        UnaryFn.Parameters usual = fn.typical().getFirst();
        Unary op = new Unary(fn, usual.alpha(), usual.beta());
        Unary twin = Objects.requireNonNull(shared.getOrDefault(fn, op));
        return add(
                fn.word(),
                () -> {
                    VectorUnary.run(op, data, A, data, C, n);
                    VectorUnary.run(twin, data, A, data, C, n);
                },
                () -> {
                    scalar.unary(op, data, A, data, C, n);
                    scalar.unary(twin, data, A, data, C, n);
                });
    }

    static HotLoop of(UnaryFn fn) {
        return Objects.requireNonNull(get().unary.get(fn));
    }

    /** For functions that {@link VectorBinary} has. */
    static HotLoop of(BinaryFn fn) {
        return Objects.requireNonNull(get().binary.get(fn));
    }

    /** What most models run: asked for when the device opens, while the model is still being read. */
    static void requestUsual() {
        HotLoops loops = get();
        for (HotLoop loop : List.of(
                loops.tile,
                loops.expSum,
                loops.max,
                loops.moments,
                loops.normalise,
                loops.affine,
                of(BinaryFn.ADD),
                of(UnaryFn.GELU),
                of(BinaryFn.MUL))) {
            loop.request();
        }
    }

    public static List<HotLoop> all() {
        return List.copyOf(get().all);
    }

    private void vectorTile() {
        for (int rows : new int[] {8, 4, 2, 1}) {
            VectorTile.add(rows, data, B, data, D, 0, data, C, Gemm.NR);
            VectorTile.run(rows, DEPTH, data, A, DEPTH, data, B, data, C, Gemm.NR);
        }
    }

    private void scalarTile() {
        MemorySegment none = MemorySegment.NULL;
        for (int rows : new int[] {8, 4, 2, 1}) {
            PlainProduct.run(rows, Gemm.NR, DEPTH, data, A, DEPTH, data, B, 0, data, C, Gemm.NR, Loops.ZERO, none, 0);
        }
    }

    private void vectorNormalise() {
        VectorRows.normalise(data, A, data, B, n, 1, 2, 3);
        VectorRows.normaliseAndScale(data, A, data, B, n, 1, 2, 3, data, C);
        VectorRows.normaliseScaleAndShift(data, A, data, B, n, 1, 2, 3, data, C, data, D);
    }

    private void scalarNormalise() {
        MemorySegment none = MemorySegment.NULL;
        scalar.normalise(data, A, data, B, n, 1, 2, 3, none, 0, none, 0);
        scalar.normalise(data, A, data, B, n, 1, 2, 3, data, C, none, 0);
        scalar.normalise(data, A, data, B, n, 1, 2, 3, data, C, data, D);
    }

    private void vectorCompare() {
        for (CompareFn fn : CompareFn.values()) {
            VectorBinary.compare(fn, data, A, data, B, data, D, n);
        }
    }

    private void scalarCompare() {
        for (CompareFn fn : CompareFn.values()) {
            scalar.compare(fn, data, A, data, B, data, D, n);
        }
    }
}
