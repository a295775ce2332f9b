package dev.tenon.cuda.lower;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.Epilogue;
import dev.tenon.core.ir.op.MatMul;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.blas.LtProduct;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.MatMulChoice.Libraries;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** Matrix products: by the libraries where they are, else by our own kernel. With {@code TENON_LOG_FALLBACK=1} each choice is logged with the reasons. */
final class MatMulLowering {
    private static final System.Logger LOG = System.getLogger(MatMulLowering.class.getName());
    private static final boolean LOGGED = "1".equals(System.getenv("TENON_LOG_FALLBACK"));

    private MatMulLowering() {}

    /** @throws UnsupportedException for integers and 8-bit floats, of which there is no kernel yet */
    static Step lower(MatMul op, Node node, LoweringContext context) {
        DType dtype = node.output().dtype();
        if (dtype != DType.F32 && dtype != DType.F64 && dtype != DType.F16 && dtype != DType.BF16) {
            throw new UnsupportedException("the CUDA backend has no matrix product of " + dtype + " yet: " + node);
        }
        MatMulShape shape =
                MatMulShape.of(node.input(0).shape(), node.input(1).shape(), op.transposeA(), op.transposeB());
        Step step = step(op.epilogue(), dtype, shape, node, context);
        if (LOGGED) {
            LOG.log(Level.INFO, "\"" + node.name() + "\": " + step.tier() + "; passed over " + step.passedOver());
        }
        return step;
    }

    private static Step step(Epilogue epilogue, DType dtype, MatMulShape shape, Node node, LoweringContext context) {
        Blas blas = context.blas();
        Libraries libraries = new Libraries(
                blas.unavailable(),
                blas.ltUnavailable(),
                context.modules().context().device().architecture());
        MatMulChoice choice = MatMulChoice.of(dtype, shape, epilogue, libraries, context.precision());
        LtProduct prepared = null;
        if (choice.lt()) {
            try {
                prepared = blas.prepare(problem(choice, epilogue, dtype, shape));
            } catch (UnsupportedException e) {
                Libraries without =
                        new Libraries(libraries.cublas(), String.valueOf(e.getMessage()), libraries.architecture());
                choice = MatMulChoice.of(dtype, shape, epilogue, without, context.precision());
            }
        }
        Slots slots = Slots.of(epilogue, node, context);
        MatMulKernels kernels = new MatMulKernels(context.modules());
        return switch (choice.tier()) {
            case NONE -> new NoWork(choice.text(dtype, epilogue, ""));
            case SCALAR -> new ScalarMatMul(choice, epilogue, dtype, shape, kernels, slots);
            case MIXED, FUSED, BLAS -> {
                MatMulKernels.Finish finish = choice.fused()
                        ? null
                        : kernels.finish(
                                dtype, shape.matrices() * shape.m(), shape.n(), epilogue.bias(), epilogue.activation());
                GemmProblem problem = problem(choice, epilogue, dtype, shape);
                GemmCalls calls = prepared == null ? new GemmCalls(problem, shape) : null;
                yield new LibraryMatMul(
                        choice.text(dtype, epilogue, ""),
                        choice.passedOver(),
                        prepared,
                        calls,
                        finish,
                        slots,
                        blas.workspaceBytes());
            }
        };
    }

    private static GemmProblem problem(MatMulChoice choice, Epilogue epilogue, DType dtype, MatMulShape shape) {
        boolean fused = choice.fused() && choice.lt();
        GemmProblem.@Nullable Activation activation =
                fused ? MatMulChoice.activation(epilogue.activation()) : GemmProblem.Activation.NONE;
        if (activation == null) {
            throw new IllegalStateException(epilogue + " is not the library's");
        }
        boolean batched = !shape.batch().isEmpty();
        return new GemmProblem(
                shape.matrices(),
                shape.m(),
                shape.n(),
                shape.k(),
                shape.transposeA(),
                shape.transposeB(),
                batched ? shape.stridesA().getLast() : 0,
                batched ? shape.stridesB().getLast() : 0,
                dtype,
                dtype,
                fused && epilogue.residual(),
                fused && epilogue.bias(),
                activation,
                choice.tf32());
    }

    /**
     * Where a product's values are; -1 for those it does not have.
     *
     * @param a the left operand
     * @param b the right one
     * @param bias a number a column
     * @param residual like the result
     * @param y the result
     */
    record Slots(int a, int b, int bias, int residual, int y) {
        static Slots of(Epilogue epilogue, Node node, LoweringContext context) {
            return new Slots(
                    context.slot(node.input(0)),
                    context.slot(node.input(1)),
                    epilogue.bias() ? context.slot(node.input(2)) : -1,
                    epilogue.residual() ? context.slot(node.inputs().getLast()) : -1,
                    context.slot(node.output()));
        }

        static long at(Frame frame, int slot) {
            return slot < 0 ? 0 : frame.at(slot);
        }
    }
}
