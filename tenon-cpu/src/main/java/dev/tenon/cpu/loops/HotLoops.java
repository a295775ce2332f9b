package dev.tenon.cpu.loops;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.machine.NormFactors;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
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

    /**
     * Short, because what counts before a method is compiled is calls (600) beside iterations; not a multiple of four.
     */
    private static final int DEPTH = 27;

    /** Of the warm-up's product: long rows, as those of models are, or C2 would not unroll the plain loop. */
    private static final int COLUMNS = 384;

    private static final NormFactors AFFINE = new NormFactors(1, 2, 3);
    private static final long A = 0;
    private static final long B = 1 << 16;
    private static final long C = 2 << 16;
    private static final long D = 3 << 16;
    private final Loops plain = new Loops();
    private final int lanes = VectorLoops.LANES;
    /** An odd number of vectors, so that the loops over two or four at a time meet their ends. */
    private final int n = 31 * lanes;

    private final MemorySegment data = Arena.ofShared().allocate(1 << 18, 64);
    private final Place a = new Place(data, A);
    private final Place b = new Place(data, B);
    private final Place c = new Place(data, C);
    private final Place d = new Place(data, D);
    private final List<HotLoop> all = new ArrayList<>();

    /** Functions that share a loop, which runs both branches of it while it warms up. */
    private final Map<UnaryFn, Unary> shared = Map.of(
            UnaryFn.SIGMOID, Unary.silu(),
            UnaryFn.SILU, Unary.of(UnaryFn.SIGMOID),
            UnaryFn.HARD_SIGMOID, Unary.of(UnaryFn.HARD_SWISH),
            UnaryFn.HARD_SWISH, new Unary(UnaryFn.HARD_SIGMOID, 0.2, 0.5));

    final HotLoop tile = add("tile", this::vectorTile, _ -> plainTile());
    final HotLoop expSum = add(
            "exp sum",
            brief -> keep(VectorRows.expSum(data, A, 0, data, B, n(brief))),
            _ -> keep(plain.expSum(data, A, 0, data, B, n)));
    final HotLoop max =
            add("row max", brief -> keep(VectorRows.max(data, A, n(brief))), _ -> keep(plain.max(data, A, n)));
    final HotLoop moments = add(
            "moments",
            brief -> VectorRows.moments(data, A, n(brief), 1, data, B),
            _ -> plain.moments(data, A, n, 1, data, B));
    final HotLoop normalise = add("normalise", brief -> vectorNormalise(n(brief)), _ -> plainNormalise());
    final HotLoop affine = add(
            "affine",
            brief -> VectorUnary.affine(data, A, data, B, n(brief), 2, 1),
            _ -> plain.affine(data, A, data, B, 2, 1, n));
    final HotLoop sum = add("sum", brief -> keep(VectorRows.sum(data, A, n(brief))), _ -> keep(plain.sum(data, A, n)));
    final HotLoop dot = add(
            "dot",
            brief -> keep(VectorRows.dot(data, A, data, B, n(brief))),
            _ -> keep(plain.dot(data, A, data, B, n)));
    final HotLoop mix = add(
            "mix",
            brief -> VectorRows.mix(data, A, data, B, lanes, data, C, brief ? 2 : DEPTH),
            _ -> plain.mix(data, A, data, B, lanes, data, C, DEPTH));
    final HotLoop compare = add("compare", brief -> vectorCompare(n(brief)), _ -> plainCompare());
    final HotLoop select =
            add("select", brief -> VectorBinary.select(d, a, b, c, n(brief)), _ -> plain.select(d, a, b, c, n));
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
                                brief -> VectorBinary.run(fn, data, A, data, B, data, C, n(brief)),
                                _ -> plain.binary(fn, data, A, data, B, data, C, n)));
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

    private HotLoop add(String name, HotLoop.Work vector, HotLoop.Work plain) {
        return add(new HotLoop(name, HotLoop.WORTH, vector, plain));
    }

    private HotLoop add(HotLoop loop) {
        all.add(loop);
        return loop;
    }

    /** A result that nobody uses would not be computed. */
    private void keep(double result) {
        data.set(Convert.F64, D, result);
    }

    private HotLoop unaryLoop(UnaryFn fn) {
        if (!VectorUnary.has(fn)) {
            HotLoop none = new HotLoop(fn.name(), _ -> {}, _ -> {});
            none.refuse();
            return none;
        }
        UnaryFn.Parameters usual = fn.typical().getFirst();
        Unary op = new Unary(fn, usual.alpha(), usual.beta());
        Unary twin = Objects.requireNonNull(shared.getOrDefault(fn, op));
        HotLoop.Work vector = brief -> {
            VectorUnary.run(op, data, A, data, C, n(brief));
            VectorUnary.run(twin, data, A, data, C, n(brief));
        };
        HotLoop.Work scalar = _ -> {
            plain.unary(op, data, A, data, C, n);
            plain.unary(twin, data, A, data, C, n);
        };
        return PlainElementwise.has(fn)
                ? add(fn.word(), vector, scalar)
                : add(new HotLoop(fn.word(), vector, scalar)); // by its definition it is many times slower
    }

    static HotLoop of(UnaryFn fn) {
        return Objects.requireNonNull(get().unary.get(fn));
    }

    /** For functions that {@link VectorBinary} has. */
    static HotLoop of(BinaryFn fn) {
        return Objects.requireNonNull(get().binary.get(fn));
    }

    /** Asks for the one loop that every model needs at once. */
    static void requestUsual() {
        get().tile.request();
    }

    public static List<HotLoop> all() {
        return List.copyOf(get().all);
    }

    private int n(boolean brief) {
        return brief ? lanes : n;
    }

    /** All tiles: {@link VectorTile#ROWS} of rows, and what is left of twice as many but one. */
    private void vectorTile(boolean brief) {
        int rows = 2 * VectorTile.ROWS - 1;
        int depth = brief ? 2 : DEPTH;
        int columns = brief ? Gemm.NR : COLUMNS;
        VectorTile.add(rows, b, new Matrix(data, D, 0), new Matrix(data, C, 4L * Gemm.NR));
        Gemm.Size size = new Gemm.Size(rows, columns, depth);
        VectorProduct.run(size, left(depth), panels(depth), result(columns), Start.ZERO, d);
    }

    private void plainTile() {
        Gemm.Size size = new Gemm.Size(2 * VectorTile.ROWS - 1, COLUMNS, DEPTH);
        PlainProduct.run(size, left(DEPTH), panels(DEPTH), result(COLUMNS), Start.ZERO);
    }

    private Matrix left(int depth) {
        return new Matrix(data, A, 4L * depth);
    }

    private Matrix panels(int depth) {
        return new Matrix(data, B, 4L * depth * Gemm.NR);
    }

    private Matrix result(int columns) {
        return new Matrix(data, C, 4L * columns);
    }

    private void vectorNormalise(int count) {
        VectorRows.normalise(a, b, count, AFFINE);
        VectorRows.normaliseAndScale(a, b, count, AFFINE, c);
        VectorRows.normaliseScaleAndShift(a, b, count, AFFINE, c, d);
    }

    private void plainNormalise() {
        plain.normalise(a, b, n, AFFINE, Place.NONE, Place.NONE);
        plain.normalise(a, b, n, AFFINE, c, Place.NONE);
        plain.normalise(a, b, n, AFFINE, c, d);
    }

    private void vectorCompare(int count) {
        for (CompareFn fn : CompareFn.values()) {
            VectorBinary.compare(fn, data, A, data, B, data, D, count);
        }
    }

    private void plainCompare() {
        for (CompareFn fn : CompareFn.values()) {
            plain.compare(fn, data, A, data, B, data, D, n);
        }
    }
}
