package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cuda.kernel.ElementwiseKernels;
import dev.tenon.cuda.kernel.FusedRegion;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.step.RegionForm;
import dev.tenon.cuda.port.DeviceBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Compiled regions: every type, every way in which an input is read, tails, several results, as many steps as there may
 * be. Few programs on many sizes: each is compiled.
 */
final class RegionCases {
    private static final String KERNEL = "elementwise_fused";
    private static final List<DType> TYPES =
            Arrays.stream(DType.values()).filter(TypeCodes::has).toList();

    private RegionCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (long size : new long[] {1, 3, 1023, 2049, 40_961}) {
            add(cases, "sum of three", sum(3), 2, whole(DType.F32, 3, size));
        }
        for (long size : new long[] {1, 7, 1031, 4099}) {
            add(
                    cases,
                    "every type",
                    everyType(),
                    16,
                    TYPES.stream().map(type -> StepCases.random(type, size)).toList());
        }
        for (long[] sizes : new long[][] {{2, 33, 64}, {3, 5, 67}, {2, 31, 6}}) {
            for (DType type : List.of(DType.F32, DType.F16)) {
                add(cases, "broadcasts", sum(5), 4, broadcasts(type, sizes[0], sizes[1], sizes[2]));
            }
        }
        for (long[] sizes : new long[][] {{65, 64}, {31, 33}, {1000, 3}}) {
            add(
                    cases,
                    "outer sum",
                    sum(2),
                    1,
                    List.of(StepCases.random(DType.BF16, sizes[0], 1), StepCases.random(DType.BF16, 1, sizes[1])));
        }
        add(cases, "64 steps on 16 inputs", longest(), 64, whole(DType.F32, Region.MAX_INPUTS, 1027));
        for (DType type : List.of(DType.F32, DType.F64)) {
            add(cases, "flags", flags(), 1, List.of(StepCases.random(type, 67, 31), StepCases.random(type, 31)));
        }
        for (DType type : List.of(DType.I32, DType.U8, DType.I64)) {
            add(cases, "integers", integers(), 1, whole(type, 2, 1029));
        }
        cases.add(new KernelCase(KERNEL, "the interpreter's bits", RegionCases::sameBits));
        cases.add(new KernelCase(KERNEL, "i32 divided by 0", RegionCases::division));
        cases.add(new KernelCase(KERNEL, "over its inputs", RegionCases::inPlace));
        return cases;
    }

    private static void add(
            List<KernelCase> cases, String name, Region region, long length, List<StepCases.Input> inputs) {
        cases.add(new KernelCase(
                KERNEL,
                name + " of "
                        + inputs.stream()
                                .map(input -> input.type().toString())
                                .distinct()
                                .toList(),
                stage -> {
                    StepRun.Result result = new StepRun(stage, RegionForm.COMPILED)
                            .check(
                                    region,
                                    inputs.stream().map(StepCases.Input::values).toList(),
                                    length);
                    if (!result.step().tier().startsWith(KERNEL)) {
                        throw new AssertionError(
                                "not compiled: " + result.step().passedOver());
                    }
                }));
    }

    private static List<StepCases.Input> whole(DType type, int count, long size) {
        return Stream.generate(() -> StepCases.random(type, size)).limit(count).toList();
    }

    /** The result's shape, a row, a matrix under a batch, a column, one number. */
    private static List<StepCases.Input> broadcasts(DType type, long batch, long rows, long columns) {
        return List.of(
                StepCases.random(type, batch, rows, columns),
                StepCases.random(type, columns),
                StepCases.random(type, rows, columns),
                StepCases.random(type, batch, rows, 1),
                StepCases.random(type));
    }

    /** x0 + x1 - x2 + … */
    private static Region sum(int inputs) {
        List<Region.Step> steps = new ArrayList<>();
        for (int i = 1; i < inputs; i++) {
            steps.add(step(new Binary(i % 2 == 1 ? BinaryFn.ADD : BinaryFn.SUB), i == 1 ? 0 : inputs + i - 2, i));
        }
        if (inputs == 2) {
            steps.add(step(new Binary(BinaryFn.MUL), 2, 0));
            steps.add(step(new Binary(BinaryFn.MAX), 3, 1));
        }
        return new Region(steps, List.of(steps.size() - 1));
    }

    /** The sum of inputs of every type, each as f32 and then summed in f64, in every type. */
    private static Region everyType() {
        int inputs = TYPES.size();
        List<Region.Step> steps = new ArrayList<>();
        for (int i = 0; i < inputs; i++) {
            steps.add(step(new Cast(DType.F32, false), i));
        }
        for (int i = 0; i < inputs; i++) {
            steps.add(step(new Cast(DType.F64, false), inputs + i));
        }
        for (int i = 1; i < inputs; i++) {
            int last = i == 1 ? 2 * inputs : inputs + steps.size() - 1;
            steps.add(step(new Binary(BinaryFn.ADD), 2 * inputs + i, last));
        }
        int sum = inputs + steps.size() - 1;
        List<Integer> results = new ArrayList<>();
        for (DType type : TYPES) {
            results.add(steps.size());
            steps.add(step(new Cast(type, true), sum));
        }
        return new Region(steps, results);
    }

    private static Region longest() {
        int inputs = Region.MAX_INPUTS;
        List<Region.Step> steps = new ArrayList<>();
        steps.add(step(new Binary(BinaryFn.ADD), 0, 1));
        while (steps.size() < Region.MAX_STEPS) {
            int i = steps.size();
            int last = inputs + i - 1;
            steps.add(
                    i % 4 == 3
                            ? step(Unary.of(UnaryFn.SIGMOID), last)
                            : step(new Binary(i % 4 == 0 ? BinaryFn.MUL : BinaryFn.SUB), last, i % inputs));
        }
        return new Region(steps, List.of(Region.MAX_STEPS - 1, 2, 31));
    }

    /** Booleans, and what is chosen by them. */
    private static Region flags() {
        return new Region(
                List.of(
                        step(new Compare(CompareFn.LT), 0, 1),
                        step(new Unary(UnaryFn.IS_INF, 1, 1), 0),
                        step(Unary.of(UnaryFn.NOT), 3),
                        step(new Binary(BinaryFn.AND), 2, 4),
                        step(new Where(), 5, 0, 1)),
                List.of(4, 0, 3));
    }

    private static Region integers() {
        return new Region(
                List.of(
                        step(new Binary(BinaryFn.SUB), 0, 1),
                        step(new Binary(BinaryFn.SHL), 2, 1),
                        step(new Unary(UnaryFn.CLIP, 1, 100), 3),
                        step(new Binary(BinaryFn.MOD), 2, 4),
                        step(new Compare(CompareFn.GE), 5, 2),
                        step(new Cast(DType.F16, true), 3)),
                List.of(3, 4, 5));
    }

    private static void sameBits(KernelStage stage) {
        Region region = new Region(
                List.of(
                        step(new Binary(BinaryFn.MUL), 0, 1),
                        step(new Binary(BinaryFn.MUL), 1, 2),
                        step(new Binary(BinaryFn.SUB), 3, 4),
                        step(Unary.of(UnaryFn.TANH), 5),
                        step(new Binary(BinaryFn.MUL), 6, 0),
                        step(new Binary(BinaryFn.ADD), 7, 2)),
                List.of(5));
        for (DType type : List.of(DType.F32, DType.F16)) {
            List<NdArray> inputs =
                    whole(type, 3, 4099).stream().map(StepCases.Input::values).toList();
            Tolerance.EXACT.check(
                    "the interpreter's",
                    new StepRun(stage, RegionForm.INTERPRETED)
                            .run(region, inputs)
                            .output(),
                    new StepRun(stage, RegionForm.COMPILED).run(region, inputs).output());
        }
    }

    private static void division(KernelStage stage) {
        Region region = new Region(
                List.of(step(new Binary(BinaryFn.DIV), 0, 1), step(new Binary(BinaryFn.ADD), 2, 1)), List.of(1));
        TensorType type = TensorType.of(DType.I32, 7);
        NdArray a = NdArray.of(type, 7, Integer.MIN_VALUE, -7, 1, 1, 1, 9);
        NdArray b = NdArray.of(type, 0, -1, 2, 1, 1, 1, 2);
        StepRun.Result result = new StepRun(stage, RegionForm.COMPILED).run(region, List.of(a, b));
        Tolerance.EXACT.check("quotient", NdArray.of(type, 0, Integer.MAX_VALUE, -1, 2, 2, 2, 6), result.output());
        Tolerance.EXACT.check("fault", NdArray.of(TensorType.of(DType.I64, 2), 1, 0), result.fault());
    }

    /** Both results over an input each. */
    private static void inPlace(KernelStage stage) {
        Region region = new Region(
                List.of(
                        step(new Binary(BinaryFn.ADD), 0, 1),
                        step(new Binary(BinaryFn.SUB), 0, 1),
                        step(new Binary(BinaryFn.MUL), 3, 2)),
                List.of(0, 2));
        TensorType type = TensorType.of(DType.F32, 9, 1031);
        List<NdArray> inputs = List.of(
                StepCases.random(DType.F32, 9, 1031).values(),
                StepCases.random(DType.F32, 9, 1031).values());
        FusedRegion.Launch launch = new ElementwiseKernels(stage.modules())
                .fused(new FusedRegion(
                        region, type.shape(), List.of(DType.F32, DType.F32), List.of(type.shape(), type.shape())));
        DeviceBuffer a = stage.upload(inputs.get(0));
        DeviceBuffer b = stage.upload(inputs.get(1));
        launch.begin(stage.arguments());
        stage.arguments()
                .word(0, a.address())
                .word(1, b.address())
                .word(2, b.address())
                .word(3, a.address());
        launch.enqueue(stage.stream(), stage.arguments(), stage.zeroed(16).address(), 0);
        List<NdArray> expected = region.evaluate(inputs);
        Tolerance.of(DType.F32, 2).check("over the second", expected.get(0), stage.download(type, b));
        Tolerance.of(DType.F32, 2).check("over the first", expected.get(1), stage.download(type, a));
    }

    private static Region.Step step(Elementwise op, Integer... arguments) {
        return new Region.Step(op, List.of(arguments));
    }
}
