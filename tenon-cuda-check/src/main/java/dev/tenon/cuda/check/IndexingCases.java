package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.core.ir.op.searching.NonZeroIndices;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.cuda.kernel.Transposition;
import dev.tenon.cuda.port.DeviceBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Padding, indexing, sorting and searching through their lowerings, at sizes where each form is taken. */
final class IndexingCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    private static final List<DType> WIDTHS = List.of(DType.U8, DType.F16, DType.F32, DType.I64);
    /** Of memory on the way to the device: some of the matrices that are transposed there go in several parts. */
    private static final long PASSAGE_BYTES = 32 * 1024;

    private final List<KernelCase> cases = new ArrayList<>();

    private IndexingCases() {}

    static List<KernelCase> all() {
        IndexingCases all = new IndexingCases();
        WIDTHS.forEach(all::moves);
        WIDTHS.forEach(all::orders);
        WIDTHS.forEach(all::transpositions);
        FLOATS.forEach(all::sums);
        List.of(DType.I32, DType.U8).forEach(all::sums);
        all.casts();
        all.searches();
        all.cases.add(new KernelCase("indexing", "scatter out of range", IndexingCases::outOfRange));
        for (DType type : List.of(DType.F32, DType.F64)) {
            for (long[] sizes : new long[][] {{1, 1, 1}, {3, 5000, 1}, {257, 1031, 33}, {1000, 3, 65}}) {
                String what = "scatter_add in any order, " + sizes[1] + " updates of "
                        + TensorType.of(type, sizes[0], sizes[2]);
                all.cases.add(new KernelCase("indexing", what, stage -> anyOrder(stage, type, sizes)));
            }
        }
        return all.cases;
    }

    /** An operand: its type, and the range of its integers, both ends included. */
    private record Input(TensorType type, int least, int most) {
        NdArray values() {
            Random random = new Random(type.hashCode() + 31L * most);
            NdArray values = NdArray.zeros(type);
            for (int i = 0; i < values.size(); i++) {
                values.set(i, (long) random.nextInt(least, most + 1));
            }
            return values;
        }
    }

    private static Input integers(DType dtype, int least, int most, long... sizes) {
        return new Input(TensorType.of(dtype, sizes), least, most);
    }

    private static Input small(DType dtype, long... sizes) {
        return integers(dtype, dtype.isUnsigned() ? 0 : -7, 7, sizes);
    }

    private void add(Primitive op, long reductionLength, Input... inputs) {
        List<Input> all = List.of(inputs);
        String types = String.join(
                " ", all.stream().map(input -> input.type().toString()).toList());
        cases.add(new KernelCase(
                "indexing",
                op + " of " + types,
                stage -> new StepRun(stage)
                        .check(op, all.stream().map(Input::values).toList(), reductionLength)));
    }

    private static List<Long> longs(long... values) {
        return Arrays.stream(values).boxed().toList();
    }

    private void moves(DType type) {
        for (PadMode mode : PadMode.values()) {
            add(new Pad(mode, longs(1, 0, 2), longs(0, 3, 5)), 1, small(type, 9, 17, 31));
            add(new Pad(mode, longs(1, 2, 0), longs(3, 0, 0)), 1, small(type, 5, 7, 48));
        }
        add(new Pad(PadMode.CONSTANT, longs(-1, 2), longs(0, 0)), 1, small(type, 67, 32), small(type));
        add(new Trilu(true, 3), 1, small(type, 3, 65, 64));
        add(new Trilu(false, -2), 1, small(type, 2, 33, 67));
        add(new OneHot(64, 1), 1, integers(DType.I64, -70, 70, 513), small(type, 2));
        add(new OneHot(33, 0), 1, integers(DType.I32, -40, 40, 67), small(type, 2));
        add(new GatherNd(0), 1, small(type, 9, 11, 24), integers(DType.I64, -9, 8, 300, 2));
        add(new GatherNd(1), 1, small(type, 3, 50, 5), integers(DType.I64, -50, 49, 3, 77, 1));
        add(
                new ScatterElements(1, ScatterFn.REPLACE),
                1,
                small(type, 17, 65),
                integers(DType.I64, -65, 64, 17, 300),
                small(type, 17, 300));
        add(
                new ScatterNd(ScatterFn.REPLACE),
                1,
                small(type, 67, 24),
                integers(DType.I64, -67, 66, 300, 1),
                small(type, 300, 24));
    }

    private void sums(DType type) {
        for (ScatterFn fn : List.of(ScatterFn.ADD, ScatterFn.MAX)) {
            for (long updates : new long[] {100, 5000}) {
                add(
                        new ScatterElements(0, fn),
                        updates,
                        small(type, 257),
                        integers(DType.I64, -257, 256, updates),
                        small(type, updates));
                add(
                        new ScatterNd(fn),
                        updates,
                        small(type, 70, 33),
                        integers(DType.I64, -70, 69, updates, 1),
                        small(type, updates, 33));
            }
        }
        for (long inner :
                new long[] {136, 1104}) { // slices of whole accesses, less and more than a warp takes at a time
            for (ScatterFn fn : List.of(ScatterFn.ADD, ScatterFn.MUL)) {
                add(
                        new ScatterNd(fn),
                        40,
                        small(type, 600, inner),
                        integers(DType.I64, -600, 599, 1031, 1),
                        small(type, 1031, inner));
            }
        }
        add(
                new ScatterNd(ScatterFn.ADD),
                400,
                small(type, 5, 128),
                integers(DType.I64, 0, 3, 1200, 1),
                small(type, 1200, 128));
        for (long[] sizes : new long[][] {{300, 67}, {3, 2049}, {1, 20_003}}) {
            add(new Cumulative(CumulativeFn.SUM, 1, false, false), sizes[1], integers(type, 0, 3, sizes));
            add(new Cumulative(CumulativeFn.SUM, 1, true, true), sizes[1], integers(type, 0, 3, sizes));
        }
        add(new Cumulative(CumulativeFn.SUM, 1, true, false), 520, integers(type, 0, 3, 67, 520));
        add(new Cumulative(CumulativeFn.SUM, 1, false, false), 1024, integers(type, 0, 3, 9, 1024));
        add(new Cumulative(CumulativeFn.PROD, 1, false, false), 24, integers(type, 1, 1, 33, 24));
        add(new Cumulative(CumulativeFn.SUM, 0, false, true), 5003, integers(type, 0, 3, 5003, 5));
        add(new Cumulative(CumulativeFn.PROD, 1, true, false), 40, integers(type, 1, 1, 7, 40, 33));
    }

    private void orders(DType type) {
        int most = type == DType.U8 ? 255 : 2000;
        for (long n : new long[] {1, 33, 2048, 2049, 10_007}) {
            for (boolean largest : new boolean[] {true, false}) {
                add(new TopK(Math.min(n, 50), 1, largest, true), 1, integers(type, 0, most, 3, n));
                add(new TopK(n, 0, largest, true), 1, integers(type, 0, most, n, 2));
                add(new ArgReduce(largest, 1, false, !largest), 1, integers(type, 0, most, 3, n));
                add(new ArgReduce(largest, 0, false, largest), 1, integers(type, 0, most, n, 5));
            }
        }
        add(new TopK(7, 1, true, true), 1, integers(type, 0, most, 700, 40));
        for (long n : new long[] {128, 509, 777, 1024}) { // a warp a row, with and without accesses of 16 bytes
            add(new TopK(n / 16, 1, true, true), 1, integers(type, 0, most, 9, n));
            add(new TopK(n / 8, 1, false, true), 1, integers(type, 0, 3, 3, n)); // mostly equal
            add(new ArgReduce(true, 1, false, false), 1, integers(type, 0, most, 67, n));
        }
        add(new TopK(200, 1, true, true), 1, integers(type, 0, most, 2, 8192));
        add(new TopK(200, 1, true, true), 1, integers(type, 0, 1, 2, 8192)); // too many equals to gather
        for (boolean last : new boolean[] {false, true}) {
            add(new ArgReduce(true, 1, false, last), 1, integers(type, 0, most, 3, 40_000));
            add(new ArgReduce(false, 1, false, last), 1, integers(type, 0, 0, 2, 1000));
        }
    }

    private void casts() {
        for (DType narrow : List.of(DType.F8E4M3, DType.F8E5M2, DType.I4, DType.U4)) {
            for (DType type : List.of(DType.F32, DType.F16, DType.F64, DType.I32, DType.U8, DType.BOOL)) {
                int least = type == DType.BOOL || type.isUnsigned() ? 0 : -200;
                int most = type == DType.BOOL ? 1 : 200;
                add(new Cast(narrow, true), 1, integers(type, least, most, 4099));
                add(new Cast(type, true), 1, integers(narrow, narrow == DType.U4 ? 0 : -7, 7, 4099));
            }
            Region.Step relu = new Region.Step(Unary.of(UnaryFn.RELU), List.of(0));
            Region to = new Region(List.of(relu, new Region.Step(new Cast(narrow, true), List.of(1))), List.of(1));
            add(to, 1, integers(DType.F32, -20, 20, 33, 31));
            Region.Step wide = new Region.Step(new Cast(DType.F32, true), List.of(0));
            Region from = new Region(List.of(wide, new Region.Step(Unary.of(UnaryFn.RELU), List.of(1))), List.of(1));
            add(from, 1, integers(narrow, narrow == DType.U4 ? 0 : -7, 7, 33, 31));
            add(new Cast(narrow, false), 1, integers(DType.F32, -999, 999, 1023));
            add(new Transpose(List.of(1, 0)), 1, integers(narrow, narrow == DType.U4 ? 0 : -7, 7, 33, 67));
        }
    }

    private void searches() {
        for (DType type : WIDTHS) {
            add(new NonZeroIndices(), 1, integers(type, 0, 1, 7, 1001, 3));
            add(new NonZeroIndices(), 1, integers(type, 0, 0, 33));
            for (boolean sorted : new boolean[] {true, false}) {
                add(new UniqueIndices(0, sorted), 1, integers(type, 0, 200, 5003));
                add(new UniqueIndices(1, sorted), 1, integers(type, 0, 2, 2, 1500, 3));
            }
        }
        for (DType type : List.of(DType.F32, DType.F64)) {
            cases.add(new KernelCase("indexing", "box_selection of " + type, stage -> boxes(stage, type)));
        }
    }

    private static void boxes(KernelStage stage, DType type) {
        Random random = new Random(7);
        NdArray corners = CaseArrays.filled(type, random::nextDouble, 2, 600, 4);
        NdArray scores = CaseArrays.filled(type, random::nextDouble, 2, 3, 600);
        NdArray overlap = CaseArrays.filled(type, () -> 0.5, new long[0]);
        NdArray least = CaseArrays.filled(type, () -> 0.25, new long[0]);
        for (long most : new long[] {20, 600}) {
            new StepRun(stage).check(new BoxSelection(most, false), List.of(corners, scores, overlap, least), 1);
        }
    }

    /** @param sizes rows of data, updates, elements of a row */
    private static void anyOrder(KernelStage stage, DType type, long[] sizes) {
        Random random = new Random(sizes[1]);
        NdArray data = CaseArrays.normal(random, type, sizes[0], sizes[2]);
        NdArray at = CaseArrays.filled(DType.I64, () -> random.nextInt(Math.toIntExact(sizes[0])), sizes[1], 1);
        NdArray updates = CaseArrays.normal(random, type, sizes[1], sizes[2]);
        List<NdArray> inputs = List.of(data, at, updates);
        ScatterNd op = new ScatterNd(ScatterFn.ADD);
        StepRun.Result result = new StepRun(stage).inAnyOrder().run(op, inputs);
        Tolerance.of(type, sizes[1])
                .check(result.step().tier(), Interpreter.run(op, inputs).getFirst(), result.output());
        if (!result.step().tier().contains("any order")) {
            throw new AssertionError("the step is \"" + result.step().tier() + "\"; expected atomic additions");
        }
    }

    /** Of weights on their way to the device, at sizes about the tiles. */
    private void transpositions(DType type) {
        for (long[] sizes :
                new long[][] {{1, 1}, {31, 33}, {64, 32}, {65, 97}, {3, 300}, {300, 2}, {97, 257}, {0, 3}}) {
            TensorType matrix = TensorType.of(type, sizes);
            cases.add(new KernelCase("transposition", matrix.toString(), stage -> transposed(stage, matrix)));
        }
    }

    private static void transposed(KernelStage stage, TensorType type) {
        Random random = new Random(7);
        NdArray matrix = NdArray.zeros(type);
        for (int i = 0; i < matrix.size(); i++) {
            matrix.set(i, (double) random.nextInt(251));
        }
        NdArray expected =
                new Transpose(List.of(1, 0)).evaluate(List.of(matrix)).getFirst();
        Transposition transposition = new Transposition(stage.modules(), type, PASSAGE_BYTES);
        DeviceBuffer passage = stage.poisoned(transposition.passageBytes());
        DeviceBuffer result = stage.poisoned(type.bytes());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment elements = arena.allocate(type.bytes(), 16);
            matrix.write(elements);
            transposition.enqueue(stage.stream(), stage.arguments(), elements, passage, result.address());
            Tolerance.EXACT.check("transposed", expected, stage.download(expected.type(), result));
        }
    }

    private static void outOfRange(KernelStage stage) {
        NdArray data = NdArray.of(TensorType.of(DType.F32, 3), 1, 2, 3);
        NdArray at = NdArray.of(TensorType.of(DType.I64, 2), 3, -3);
        NdArray updates = NdArray.of(TensorType.of(DType.F32, 2), 7, 5);
        StepRun.Result result =
                new StepRun(stage).run(new ScatterElements(0, ScatterFn.ADD), List.of(data, at, updates));
        NdArray expected = NdArray.of(TensorType.of(DType.F32, 3), 6, 2, 3);
        Tolerance.EXACT.check("scattered", expected, result.output());
        Tolerance.EXACT.check("fault", NdArray.of(TensorType.of(DType.I64, 2), 1, 3), result.fault());
    }
}
