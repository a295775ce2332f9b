package dev.tenon.cuda.lower.norm;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.cuda.kernel.Affine;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.kernel.ResidualNormKernels;
import dev.tenon.cuda.kernel.RowKernels;
import dev.tenon.cuda.kernel.RowRule;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.movement.GpuMovementLowering;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.Workspace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Softmax and the norms. */
public final class GpuNormLowering {
    private GpuNormLowering() {}

    private record Strided(RowKernels.Strided launch, int input, int output) implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            launch.enqueue(frame.stream(), frame.arguments(), frame.at(input), frame.at(output));
        }

        @Override
        public String tier() {
            return "softmax_strided";
        }
    }

    /**
     * A factor or summand of each column.
     *
     * @param spread brings it to a row's shape in the workspace at {@code offset}; null where it has it
     */
    private record Parameter(int slot, MovementKernels.@Nullable Move spread, long offset) {
        void prepare(GpuFrame frame) {
            if (spread != null) {
                spread.enqueue(frame.stream(), frame.arguments(), frame.at(slot), frame.workspace() + offset);
            }
        }

        long address(GpuFrame frame) {
            return spread == null ? frame.at(slot) : frame.workspace() + offset;
        }
    }

    /** Rows; the launch's state is at the start of the workspace. */
    private record Rows(
            RowKernels.Rows launch,
            double epsilon,
            @Nullable Parameter gamma,
            @Nullable Parameter beta,
            long workspaceBytes,
            int input,
            int output)
            implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            if (gamma != null) {
                gamma.prepare(frame);
            }
            if (beta != null) {
                beta.prepare(frame);
            }
            launch.enqueue(
                    frame.stream(),
                    frame.arguments(),
                    frame.at(input),
                    new Affine(
                            gamma == null ? 0 : gamma.address(frame), beta == null ? 0 : beta.address(frame), epsilon),
                    frame.at(output),
                    frame.workspace(),
                    frame.counters());
        }

        @Override
        public String tier() {
            return launch.plan().entry() + ", " + launch.plan().reason();
        }

        @Override
        public long counterBytes() {
            return launch.plan().counterBytes();
        }
    }

    /**
     * The norm of a sum; gamma and beta are whole rows.
     *
     * @param beta null for none
     * @param sum null where nobody wants it
     */
    private record Sums(
            ResidualNormKernels.Rows launch,
            double epsilon,
            int x,
            int residual,
            int gamma,
            @Nullable Integer beta,
            int norm,
            @Nullable Integer sum)
            implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            launch.enqueue(
                    frame.stream(),
                    frame.arguments(),
                    frame.at(x),
                    frame.at(residual),
                    new Affine(frame.at(gamma), beta == null ? 0 : frame.at(beta), epsilon),
                    frame.at(norm),
                    sum == null ? 0 : frame.at(sum));
        }

        @Override
        public String tier() {
            return launch.plan().entry() + ", " + launch.plan().reason();
        }
    }

    /** Whether {@link #lower(ResidualNorm, Node, GpuLoweringContext)} takes a node of concrete types. */
    public static boolean claims(ResidualNorm op, Node node) {
        Shape shape = node.input(0).shape();
        if (!shape.range(op.axis(), shape.rank()).isConcrete()) {
            return false;
        }
        long cols = shape.elements(op.axis(), shape.rank());
        return TypeCodes.has(node.input(0).dtype())
                && cols <= ResidualNormKernels.mostCols(node.input(0).dtype())
                && node.inputs().stream().skip(2).allMatch(row -> row.shape().elements() == cols);
    }

    public static Lowered lower(ResidualNorm op, Node node, GpuLoweringContext context) {
        if (!claims(op, node)) {
            return new NoKernel("the CUDA backend takes rows of at most "
                    + ResidualNormKernels.mostCols(node.input(0).dtype())
                    + " elements, with a scale and a bias of that many; add and norm apart");
        }
        Shape shape = node.input(0).shape();
        if (shape.elements() == 0) {
            return new NoWork(node.op().mnemonic());
        }
        ResidualNormKernels.Rows launch = new ResidualNormKernels(context.kernels())
                .rows(
                        op.centred(),
                        node.input(0).dtype(),
                        shape.elements(0, op.axis()),
                        shape.elements(op.axis(), shape.rank()));
        return new Sums(
                launch,
                op.epsilon(),
                context.slot(node.input(0)),
                context.slot(node.input(1)),
                context.slot(node.input(2)),
                op.centred() ? context.slot(node.input(3)) : null,
                context.slot(node.outputs().getFirst()),
                op.sum() ? context.slot(node.outputs().getLast()) : null);
    }

    public static GpuStep lower(Softmax op, Node node, GpuLoweringContext context) {
        return softmax(op.axis(), false, node, context);
    }

    public static GpuStep lower(LogSoftmax op, Node node, GpuLoweringContext context) {
        return softmax(op.axis(), true, node, context);
    }

    private static GpuStep softmax(int axis, boolean log, Node node, GpuLoweringContext context) {
        Value x = node.input(0);
        Shape shape = x.shape();
        if (shape.elements() == 0) {
            return new NoWork(node.op().mnemonic());
        }
        long outer = shape.elements(0, axis);
        long size = shape.size(axis);
        long inner = shape.elements(axis + 1, shape.rank());
        DType dtype = node.input(0).dtype();
        if (inner > 1) {
            return new Strided(
                    new RowKernels(context.kernels()).strided(log, dtype, outer, size, inner),
                    context.slot(x),
                    context.slot(node.output()));
        }
        RowRule rule = log ? RowRule.LOG_SOFTMAX : RowRule.SOFTMAX;
        return rows(rule, outer, Shape.of(size), 0, null, null, node, context);
    }

    public static GpuStep lower(LayerNorm op, Node node, GpuLoweringContext context) {
        @Nullable Value scale = op.scale() ? node.input(1) : null;
        @Nullable Value bias = op.bias() ? node.inputs().getLast() : null;
        return norm(RowRule.LAYER_NORM, op.axis(), op.epsilon(), scale, bias, node, context);
    }

    public static GpuStep lower(RmsNorm op, Node node, GpuLoweringContext context) {
        return norm(RowRule.RMS_NORM, op.axis(), op.epsilon(), op.scale() ? node.input(1) : null, null, node, context);
    }

    private static GpuStep norm(
            RowRule rule,
            int axis,
            double epsilon,
            @Nullable Value scale,
            @Nullable Value bias,
            Node node,
            GpuLoweringContext context) {
        Shape shape = node.input(0).shape();
        if (shape.elements() == 0) {
            return new NoWork(node.op().mnemonic());
        }
        Shape row = shape.range(axis, shape.rank());
        return rows(rule, shape.elements(0, axis), row, epsilon, scale, bias, node, context);
    }

    private static GpuStep rows(
            RowRule rule,
            long rows,
            Shape row,
            double epsilon,
            @Nullable Value scale,
            @Nullable Value bias,
            Node node,
            GpuLoweringContext context) {
        DType dtype = node.input(0).dtype();
        RowKernels.Rows launch = new RowKernels(context.kernels()).alignedRows(rule, dtype, rows, row.elements());
        Workspace workspace = new Workspace();
        workspace.take(launch.plan().stateBytes());
        return new Rows(
                launch,
                epsilon,
                parameter(scale, row, workspace, context),
                parameter(bias, row, workspace, context),
                workspace.bytes(),
                context.slot(node.input(0)),
                context.slot(node.output()));
    }

    private static @Nullable Parameter parameter(
            @Nullable Value value, Shape row, Workspace workspace, GpuLoweringContext context) {
        if (value == null) {
            return null;
        }
        int slot = context.slot(value);
        if (Broadcast.of(row, List.of(value.shape())).isWhole(0)
                && value.shape().elements() == row.elements()) {
            return new Parameter(slot, null, 0);
        }
        return new Parameter(
                slot,
                GpuMovementLowering.expansion(
                        new MovementKernels(context.kernels()), value.dtype(), value.shape(), row),
                workspace.take(value.dtype().bytesFor(row.elements())));
    }
}
