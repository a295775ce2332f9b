package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.lazy.LazyMap;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelArguments;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A row region as {@code row_fused.cu} runs it: a variant of that file, which depends on operations, types, how each
 * operand is read and how many elements a thread has; and the sizes. Scale and bias of a norm are steps after it.
 * Immutable.
 */
public final class FusedRows {
    /** The most steps of a region, scale and bias of a norm among them: a thread has up to 32 copies of each. */
    public static final int MOST_STEPS = 24;

    private static final int WIDEST = 16;
    private static final int IN_FLIGHT_BYTES = 64; // of a thread's operands, beside the row itself

    private final RowRegion op;
    private final Shape shape;
    private final DType dtype;
    private final long rows;
    private final long cols;
    private final int inputs;
    private final int width;
    private final FusedOperands operands;
    private final Code code;

    /** Making one takes longer than all else of a step, and layers and sizes share few. */
    private static final LazyMap<Key, Code> CODES = new LazyMap<>(256);

    /**
     * What code depends on: how each input is read and how many dims are walked, and of sizes those of rows alone.
     *
     * @param types of the inputs
     */
    private record Key(
            RowRegion op,
            List<DType> types,
            DType row,
            DType result,
            long cols,
            int width,
            String before,
            String after,
            List<String> counts) {}

    /** How a region is compiled: {@code live} steps. */
    private record Code(KernelVariant variant, int live) {}

    /** The steps of a part, and the number of the value that it gives. */
    private record Part(FusedSteps steps, int given) {
        static Part of(@Nullable Region region, List<DType> types) {
            if (region == null) {
                return new Part(FusedSteps.NONE, 0);
            }
            FusedSteps steps = new FusedSteps(region, RegionProgram.types(region, types), types.size());
            return new Part(steps, types.size() + region.results().getFirst());
        }
    }

    /**
     * @param given types of the inputs, all concrete, types and steps as the kernel takes them; the row operation goes
     *     along rows of at most {@link ResidualNormKernels#mostCols} elements
     */
    public FusedRows(RowRegion op, List<TensorType> given) {
        this.op = op;
        TensorType row = op.rowType(given);
        shape = row.shape();
        dtype = row.dtype();
        int axis = op.rowAxis(shape);
        rows = shape.elements(0, axis);
        cols = shape.elements(axis, shape.rank());
        inputs = given.size();
        operands = new FusedOperands(shape);
        DType result = op.infer(given).getFirst().dtype();
        List<DType> streams = Stream.concat(
                        Stream.of(dtype, result), given.stream().map(TensorType::dtype))
                .toList();
        int most = width(streams);
        width = cols % most == 0 ? most : 1;
        Key key = new Key(
                op,
                given.stream().map(TensorType::dtype).toList(),
                dtype,
                result,
                cols,
                width,
                forms(given.subList(0, op.operands()), 0, false),
                forms(given.subList(op.operands(), given.size()), 1, op.row() instanceof Reduce),
                operands.counts(inputs, 1));
        code = CODES.get(key, () -> code(key));
    }

    private int width(List<DType> streams) {
        int widest = streams.stream().mapToInt(DType::bytes).max().orElseThrow();
        return Math.clamp(WIDEST / widest, dtype == DType.F64 ? 2 : 4, 8);
    }

    private static Code code(Key key) {
        RowRegion op = key.op;
        List<DType> later = new ArrayList<>(List.of(key.row));
        later.addAll(key.types.subList(op.operands(), key.types.size()));
        Part before = Part.of(op.before(), key.types.subList(0, op.operands()));
        Part after = Part.of(withParameters(op, later.size()), later);
        RowPlan.Threads threads = RowPlan.Threads.of(key.row, key.cols);
        int packBytes = key.types.stream().mapToInt(DType::bytes).sum() * key.width;
        int batch = Math.clamp(
                Integer.highestOneBit(Math.max(1, IN_FLIGHT_BYTES / packBytes)), 1, threads.values() / key.width);
        String text = String.join(
                "\n",
                "#pragma once",
                "#define TENON_W " + key.width,
                "#define TENON_THREADS " + threads.threads(),
                "#define TENON_VALUES " + threads.values(),
                "#define TENON_BATCH " + batch,
                "#define TENON_RULE(A) " + rule(op),
                "#define TENON_REDUCES " + (op.row() instanceof Reduce ? 1 : 0),
                "#define TENON_INPUTS " + key.before,
                "#define TENON_STEPS " + before.steps.text(),
                "#define TENON_GIVES v" + before.given,
                "#define TENON_LATER_INPUTS " + key.after,
                "#define TENON_LATER_STEPS " + after.steps.text(),
                "#define TENON_RESULT RESULT(" + TypeCodes.of(key.result) + ", " + after.given + ")",
                "#define TENON_LATER " + (op.operands() - 1),
                String.join("\n", key.counts),
                "");
        KernelVariant typed = KernelVariant.of(key.row);
        String hash = new Hash().add(text).hex().substring(0, 32);
        KernelVariant variant = new KernelVariant(
                "_" + hash + typed.suffix(), key.row, typed.defines(), Map.of("fused_program.cuh", text));
        return new Code(variant, before.steps.count() + after.steps.count());
    }

    /**
     * How inputs are read.
     *
     * @param first number of the first one
     * @param single whether a part works on one element a row
     */
    private String forms(List<TensorType> given, int first, boolean single) {
        List<String> forms = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            TensorType type = given.get(i);
            forms.add("INPUT(" + (first + i) + ", " + (single ? single(type) : form(type)) + ")");
        }
        return String.join(" ", forms);
    }

    private static String single(TensorType type) {
        return (type.shape().elements() == 1 ? "Single<" : "Each<") + TypeCodes.of(type.dtype()) + ">";
    }

    private String form(TensorType type) {
        Broadcast alone = Broadcast.of(shape, List.of(type.shape()));
        if (alone.sizes().length == 2 && alone.sizes()[0] == rows) { // then the other is a row's columns
            long[] strides = alone.strides(0);
            if (strides[0] == 0 && strides[1] == 1) {
                return "Column<" + TypeCodes.of(type.dtype()) + ">";
            } else if (strides[0] == 1 && strides[1] == 0) {
                return "Each<" + TypeCodes.of(type.dtype()) + ">";
            }
        }
        return operands.form(type.dtype(), type.shape());
    }

    private static String rule(RowRegion op) {
        return switch (op.row()) {
            case Softmax _ -> "SoftmaxRule<A, false>";
            case LogSoftmax _ -> "SoftmaxRule<A, true>";
            case LayerNorm _ -> "LayerNormRule<A>";
            case RmsNorm _ -> "RmsNormRule<A>";
            case Reduce reduce -> "ReduceRule<A, " + reduce.fn().code() + ">";
            default -> throw new IllegalStateException(op.row().mnemonic());
        };
    }

    /**
     * What follows the row operation, its scale and bias among it.
     *
     * @param inputs of [row, scale?, bias?, later inputs...]
     */
    private static @Nullable Region withParameters(RowRegion op, int inputs) {
        Region after = op.after();
        int parameters = op.parametersEnd() - op.operands();
        if (parameters == 0) {
            return after;
        }
        boolean scale = !(op.row() instanceof LayerNorm norm) || norm.scale();
        List<Region.Step> steps = new ArrayList<>();
        for (int i = 0; i < parameters; i++) {
            BinaryFn fn = i == 0 && scale ? BinaryFn.MUL : BinaryFn.ADD;
            steps.add(new Region.Step(new Binary(fn), List.of(i == 0 ? 0 : inputs + i - 1, 1 + i)));
        }
        if (after == null) {
            return new Region(steps, List.of(parameters - 1));
        }
        int old = inputs - parameters; // inputs of the region as it was
        for (Region.Step step : after.steps()) {
            steps.add(new Region.Step(
                    step.op(),
                    step.arguments().stream()
                            .map(of -> of == 0
                                    ? inputs + parameters - 1
                                    : of < old ? of + parameters : of - old + inputs + parameters)
                            .toList()));
        }
        return new Region(steps, List.of(parameters + after.results().getFirst()));
    }

    KernelVariant variant() {
        return code.variant;
    }

    /** {@code 5 steps, 4 elements an access}. */
    public String form() {
        return code.live + (code.live == 1 ? " step, " : " steps, ") + width + (width == 1 ? " element" : " elements")
                + " an access";
    }

    /** Prepares the launch. */
    public Launch launch(Kernels kernels) {
        RowPlan plan = RowPlan.fused(dtype, rows, cols, kernels.context().device());
        Kernel kernel = kernels.kernel(KernelCatalog.FUSED_ROWS, plan.entry(), code.variant);
        double epsilon = switch (op.row()) {
            case LayerNorm norm -> norm.epsilon();
            case RmsNorm norm -> norm.epsilon();
            default -> 0;
        };
        return new Launch(kernel, plan, inputs, rows, cols, epsilon, operands.layout());
    }

    /**
     * A prepared launch. Immutable; enqueue with a slab of the calling thread.
     *
     * @param plan how rows are cut
     */
    public record Launch(
            Kernel kernel, RowPlan plan, int inputs, long rows, long cols, double epsilon, MemorySegment layout) {
        /**
         * Starts the arguments: the caller then sets the addresses of the inputs and after them of the result, all on
         * 16-byte boundaries, by {@link KernelArguments#word}. The result lies over no input.
         */
        public void begin(KernelArguments arguments) {
            arguments.clear().addWords(inputs + 1);
        }

        public void enqueue(GpuStream stream, KernelArguments arguments, long faults, int step) {
            arguments.add(rows).add(cols);
            if (kernel.variant().dtype() == DType.F64) {
                arguments.add(epsilon);
            } else {
                arguments.add((float) epsilon);
            }
            arguments.add(layout, WalkStruct.ALIGNMENT).add(faults).add(step);
            stream.launch(kernel.function(), plan.shape(), arguments);
        }
    }
}
