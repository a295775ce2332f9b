package dev.tenon.cuda.kernel;

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
import dev.tenon.cuda.port.Hash;
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
    private static final int WIDEST = 16;
    private static final int IN_FLIGHT_BYTES = 64; // of a thread's operands, beside the row itself
    private static final int MOST_STEPS = 24; // as many elements of a thread make them long code

    private final long rows;
    private final long cols;
    private final double epsilon;
    private final FusedOperands operands;
    private final int inputs;
    private final int live;
    private final int width;
    private final KernelVariant variant;

    /** One part: how its inputs are read, its steps, and the number of the value that it gives. */
    private record Part(String forms, FusedSteps steps, int given) {}

    /**
     * @param inputs of the region's node, all concrete; {@link #misfit} must be empty
     * @param result its type
     */
    public FusedRows(RowRegion op, List<TensorType> inputs, TensorType result) {
        TensorType row = row(op, inputs);
        int axis = axis(op, row.shape());
        DType dtype = row.dtype();
        rows = row.shape().elements(0, axis);
        cols = row.shape().elements(axis, row.shape().rank());
        epsilon = epsilon(op);
        operands = new FusedOperands(row.shape());
        this.inputs = inputs.size();
        Part before = part(op.before(), inputs.subList(0, op.operands()), axis, row.shape(), 0);
        List<TensorType> later = new ArrayList<>(List.of(new TensorType(dtype, rowResult(op, row).shape())));
        later.addAll(inputs.subList(op.operands(), inputs.size()));
        Region after = withParameters(op, inputs.size() - op.parametersEnd());
        Part last = part(after, later, op.row() instanceof Reduce ? -1 : axis, row.shape(), 1);
        live = before.steps.count() + last.steps.count();
        int widest = Stream.concat(
                        Stream.of(dtype, result.dtype()), inputs.stream().map(TensorType::dtype))
                .mapToInt(DType::bytes)
                .max()
                .orElseThrow();
        int most = Math.clamp(WIDEST / widest, dtype == DType.F64 ? 2 : 4, 8);
        width = cols % most == 0 ? most : 1;
        RowPlan.Threads threads = RowPlan.Threads.of(dtype, cols);
        int bytes = Math.max(1, inputs.stream().mapToInt(type -> type.dtype().bytes()).sum() * width);
        int packs = threads.values() / width;
        int batch = Math.clamp(Integer.highestOneBit(Math.max(1, IN_FLIGHT_BYTES / bytes)), 1, packs);
        List<String> lines = new ArrayList<>(List.of(
                "#pragma once",
                "#define TENON_W " + width,
                "#define TENON_THREADS " + threads.threads(),
                "#define TENON_VALUES " + threads.values(),
                "#define TENON_BATCH " + batch,
                "#define TENON_RULE(A) " + rule(op),
                "#define TENON_REDUCES " + (op.row() instanceof Reduce ? 1 : 0),
                "#define TENON_INPUTS " + before.forms,
                "#define TENON_STEPS " + before.steps.text(),
                "#define TENON_GIVES v" + before.given,
                "#define TENON_LATER_INPUTS " + last.forms,
                "#define TENON_LATER_STEPS " + last.steps.text(),
                "#define TENON_RESULT RESULT(" + TypeCodes.of(result.dtype()) + ", " + last.given + ")",
                "#define TENON_LATER " + (op.operands() - 1)));
        lines.addAll(operands.counts(inputs.size(), 1));
        String text = String.join("\n", lines) + "\n";
        KernelVariant typed = KernelVariant.of(dtype);
        String hash = new Hash().add(text).hex().substring(0, 32);
        variant = new KernelVariant(
                "_" + hash + typed.suffix(), dtype, typed.defines(), Map.of("fused_program.cuh", text));
    }

    private Part part(@Nullable Region region, List<TensorType> given, int axis, Shape row, int first) {
        List<DType> types = given.stream().map(TensorType::dtype).toList();
        List<String> forms = new ArrayList<>();
        for (int i = first; i < given.size(); i++) {
            forms.add("INPUT(" + i + ", " + form(given.get(i), axis, row) + ")");
        }
        String text = String.join(" ", forms);
        if (region == null) {
            return new Part(text, FusedSteps.NONE, 0);
        }
        FusedSteps steps = new FusedSteps(region, RegionProgram.types(region, types), types.size());
        return new Part(text, steps, types.size() + region.results().getFirst());
    }

    /** @param axis the first of a row; -1 for operands beside one element a row */
    private String form(TensorType type, int axis, Shape row) {
        int code = TypeCodes.of(type.dtype());
        if (axis < 0) {
            return (type.shape().elements() == 1 ? "Single<" : "Each<") + code + ">";
        }
        Shape shape = padded(type.shape(), row.rank());
        Shape inner = shape.range(axis, row.rank());
        Shape outer = shape.range(0, axis);
        if (rows > 1 && inner.equals(row.range(axis, row.rank())) && outer.elements() == 1) {
            return "Column<" + code + ">";
        }
        if (cols > 1 && inner.elements() == 1 && outer.equals(row.range(0, axis))) {
            return "Each<" + code + ">";
        }
        return operands.form(type.dtype(), type.shape());
    }

    private static Shape padded(Shape shape, int rank) {
        long[] sizes = new long[rank];
        for (int i = 0; i < rank; i++) {
            int at = i - (rank - shape.rank());
            sizes[i] = at < 0 ? 1 : shape.size(at);
        }
        return Shape.of(sizes);
    }

    /** What the row operation works on. */
    public static TensorType row(RowRegion op, List<TensorType> inputs) {
        return op.before() == null
                ? inputs.getFirst()
                : op.before().infer(inputs.subList(0, op.operands())).getFirst();
    }

    private static TensorType rowResult(RowRegion op, TensorType row) {
        return op.row() instanceof Reduce reduce ? reduce.infer(List.of(row)).getFirst() : row;
    }

    /** The first axis of a row; -1 where what the operation goes along is no row. */
    public static int axis(RowRegion op, Shape shape) {
        int rank = shape.rank();
        return switch (op.row()) {
            case Softmax softmax -> softmax.axis() == rank - 1 ? rank - 1 : -1;
            case LogSoftmax softmax -> softmax.axis() == rank - 1 ? rank - 1 : -1;
            case LayerNorm norm -> norm.axis();
            case RmsNorm norm -> norm.axis();
            case Reduce reduce -> {
                int first = rank - reduce.axes().size();
                boolean last = !reduce.axes().isEmpty()
                        && reduce.axes().stream().allMatch(axis -> axis >= first);
                yield last ? first : -1;
            }
            default -> -1;
        };
    }

    private static double epsilon(RowRegion op) {
        return switch (op.row()) {
            case LayerNorm norm -> norm.epsilon();
            case RmsNorm norm -> norm.epsilon();
            default -> 0;
        };
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

    /** What follows the row operation, its scale and bias among it: of [row, scale?, bias?, later inputs...]. */
    private static @Nullable Region withParameters(RowRegion op, int later) {
        int parameters = op.parametersEnd() - op.operands();
        if (parameters == 0) {
            return op.after();
        }
        Region after = op.after();
        int inputs = 1 + parameters + later;
        boolean scale = op.row() instanceof RmsNorm || op.row() instanceof LayerNorm norm && norm.scale();
        List<Region.Step> steps = new ArrayList<>();
        for (int i = 0; i < parameters; i++) {
            BinaryFn fn = i == 0 && scale ? BinaryFn.MUL : BinaryFn.ADD;
            steps.add(new Region.Step(new Binary(fn), List.of(i == 0 ? 0 : inputs + i - 1, 1 + i)));
        }
        if (after == null) {
            return new Region(steps, List.of(steps.size() - 1));
        }
        int old = later + 1;
        int row = inputs + parameters - 1;
        for (Region.Step step : after.steps()) {
            steps.add(new Region.Step(
                    step.op(),
                    step.arguments().stream()
                            .map(of -> of == 0
                                    ? row
                                    : of < old ? of + parameters : of - old + inputs + parameters)
                            .toList()));
        }
        return new Region(steps, List.of(parameters + after.results().getFirst()));
    }

    /** Why no kernel can be made for a region; empty where it can. */
    public static String misfit(RowRegion op, List<TensorType> inputs, TensorType result) {
        TensorType row = row(op, inputs);
        Shape shape = row.shape();
        int axis = shape.isConcrete() && result.shape().isConcrete() ? axis(op, shape) : -1;
        if (axis < 0 || axis > shape.rank()) {
            return "what " + op.row().mnemonic() + " goes along is not whole rows";
        }
        long cols = shape.elements(axis, shape.rank());
        if (cols > RowPlan.mostResidualCols(row.dtype())) {
            return "rows of " + cols + " elements; it takes " + RowPlan.mostResidualCols(row.dtype());
        }
        if (!result.shape().equals(rowResult(op, row).shape())) {
            return "the result is broadcast to " + result.shape();
        }
        int steps = steps(op.before()) + op.parametersEnd() - op.operands() + steps(op.after());
        if (steps > MOST_STEPS) {
            return steps + " steps; it takes " + MOST_STEPS;
        }
        List<DType> types = Stream.concat(types(op, inputs, row), Stream.of(result.dtype()))
                .toList();
        for (DType type : types) {
            if (!TypeCodes.has(type)) {
                return "elements of " + type;
            }
        }
        if (op.row() instanceof Reduce && !standAlone(op, inputs, result.shape())) {
            return "operands after " + op.row().mnemonic() + " that are broadcast";
        }
        return FusedOperands.misfit(inputs.size(), 1, shape.rank());
    }

    private static int steps(@Nullable Region region) {
        return region == null ? 0 : region.steps().size();
    }

    /** All types in it. */
    private static Stream<DType> types(RowRegion op, List<TensorType> inputs, TensorType row) {
        List<DType> given = inputs.stream().map(TensorType::dtype).toList();
        Stream<DType> before = op.before() == null
                ? Stream.of(row.dtype())
                : RegionProgram.types(op.before(), given.subList(0, op.operands())).stream();
        Stream<DType> after = Stream.empty();
        if (op.after() != null) {
            List<DType> later = new ArrayList<>(List.of(row.dtype()));
            later.addAll(given.subList(op.parametersEnd(), given.size()));
            after = RegionProgram.types(op.after(), later).stream();
        }
        return Stream.of(given.stream(), before, after).flatMap(all -> all);
    }

    /** Whether what is read after a reduction is one element, or one for each row. */
    private static boolean standAlone(RowRegion op, List<TensorType> inputs, Shape result) {
        return inputs.subList(op.parametersEnd(), inputs.size()).stream()
                .allMatch(type -> type.shape().elements() == 1 || type.shape().equals(result));
    }

    KernelVariant variant() {
        return variant;
    }

    /** Prepares the launch. */
    public FusedRowsLaunch launch(Kernels kernels) {
        DType dtype = variant.dtype();
        RowPlan plan = RowPlan.fused(dtype, rows, cols, kernels.context().device());
        Kernel kernel = kernels.kernel(KernelCatalog.FUSED_ROWS, plan.entry(), variant);
        return new FusedRowsLaunch(kernel, plan, inputs, rows, cols, epsilon, operands.layout());
    }

    /** {@code 5 steps, 4 elements an access}. */
    public String form() {
        return live + (live == 1 ? " step, " : " steps, ") + width + (width == 1 ? " element" : " elements")
                + " an access";
    }
}
