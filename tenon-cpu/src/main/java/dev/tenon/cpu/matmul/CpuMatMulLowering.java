package dev.tenon.cpu.matmul;

import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.quantisation.DequantizedWeight;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Matrix products. */
public final class CpuMatMulLowering {
    /** Multiply-adds that are worth a piece of work for another thread: some ten microseconds. */
    private static final long UNIT = 500_000;

    /** Pieces a thread: the last ones even out what the cores lose to others. */
    private static final int UNITS_PER_THREAD = 4;

    /** The forms of a constant B; its type says how many rows and columns it has. */
    private static final String PANELS = "panels of " + Gemm.NR;

    private static final String TRANSPOSED_PANELS = PANELS + " transposed";

    private CpuMatMulLowering() {}

    /** The sizes of a batched product, and how its batches read the operands. */
    record Sizes(long batches, long m, int k, int n, Broadcast batch) {
        private static final Broadcast ONE = Broadcast.of(Shape.scalar(), List.of(Shape.scalar(), Shape.scalar()));

        /** Multiply-adds. */
        long work() {
            return batches * m * Math.max(1, k) * n;
        }

        static Sizes of(Shape a, Shape b, Shape result, boolean transposeA) {
            int rank = result.rank();
            Shape batch = result.range(0, rank - 2);
            return new Sizes(
                    batch.elements(),
                    result.size(rank - 2),
                    SizeMath.toInt("matmul", a.size(a.rank() - (transposeA ? 2 : 1))),
                    SizeMath.toInt("matmul", result.size(rank - 1)),
                    Broadcast.of(batch, List.of(a.range(0, a.rank() - 2), b.range(0, b.rank() - 2))));
        }

        /** The batches as further rows, where all read the same B and the rows of A follow each other. */
        static Sizes folded(Shape a, Shape result) {
            int rank = result.rank();
            return new Sizes(
                    1,
                    result.elements(0, rank - 1),
                    SizeMath.toInt("matmul", a.size(a.rank() - 1)),
                    SizeMath.toInt("matmul", result.size(rank - 1)),
                    ONE);
        }
    }

    static long wantedUnits(long work, int threads) {
        return threads == 1 ? 1 : Math.clamp(work / UNIT, 1, (long) threads * UNITS_PER_THREAD);
    }

    public static CpuStep lower(MatMul op, Node node, CpuLoweringContext context) {
        Value a = node.input(0);
        Value b = node.input(1);
        DType dtype = a.dtype();
        Epilogue epilogue = op.epilogue();
        int[] slots = {
            context.slot(a),
            context.slot(b),
            epilogue.bias() ? context.slot(node.input(2)) : -1,
            epilogue.residual() ? context.slot(node.inputs().getLast()) : -1,
            context.slot(node.output())
        };
        Shape result = node.output().shape();
        if (TileKind.of(dtype) != TileKind.FLOAT) {
            Sizes sizes = Sizes.of(a.shape(), b.shape(), result, op.transposeA());
            return new TypedMatMulStep(dtype, sizes, op.transposeA(), op.transposeB(), epilogue, slots, passed(node));
        }
        boolean sharedB = b.shape().elements(0, b.shape().rank() - 2) == 1;
        boolean rowsOfA = a.shape().elements(0, a.shape().rank() - 2) == result.elements(0, result.rank() - 2);
        Sizes sizes = sharedB && rowsOfA && !op.transposeA()
                ? Sizes.folded(a.shape(), result)
                : Sizes.of(a.shape(), b.shape(), result, op.transposeA());
        MemorySegment packed = packed(b, sizes.k(), sizes.n(), op.transposeB(), context);
        long units = Math.ceilDiv(wantedUnits(sizes.work(), context.threads()), Math.max(1, sizes.batches()));
        FloatProduct.Form form = new FloatProduct.Form(op.transposeA(), op.transposeB(), packed != null);
        FloatProduct product = new FloatProduct(dtype, sizes.m(), sizes.k(), sizes.n(), form, epilogue, units);
        return new MatMulStep(product, sizes, op.transposeA(), packed, slots, passed(node));
    }

    /** Why a product with a dequantised weight does not take that as it is packed. */
    private static List<String> passed(Node node) {
        String refusal = DequantizedWeight.refusal(node);
        return refusal.isEmpty() ? List.of() : List.of("scaled_mat_mul: " + refusal);
    }

    /** The constant that a value is or shows in another shape; null for none. */
    private static @Nullable ConstantData shown(Value value) {
        ConstantData data = MemoryPlanner.shown(value).constant();
        return data != null
                        && data.type().dtype() == value.dtype()
                        && data.type().shape().elements() == value.shape().elements()
                ? data
                : null;
    }

    /** Whether a node reads that input, if it is a constant, in panels only. */
    public static boolean packs(Node node, int input) {
        return input == 1
                && (node.op() instanceof MatMul || node.op() instanceof GroupedMatMul)
                && shown(node.input(1)) != null
                && TileKind.of(node.input(1).dtype()) == TileKind.FLOAT;
    }

    /** The panels of a constant B, made once for the model; null for a B that each run computes. */
    private static @Nullable MemorySegment packed(
            Value b, int k, int n, boolean transposed, CpuLoweringContext context) {
        ConstantData data = shown(b);
        if (data == null) {
            return null;
        }
        String form = transposed ? TRANSPOSED_PANELS : PANELS;
        return context.prepared(
                data,
                b.constant() != null ? form : form + ", as " + b.shape(),
                constant -> FloatProduct.pack(constant, constant.elements(), k, n, transposed));
    }

    /**
     * The panels of constant weights of f32, made once for the model: for each group those of its matrix [k, n], whose
     * columns lie one behind the other in the constant.
     */
    public static MemorySegment panels(ConstantData data, int groups, int k, int n, CpuLoweringContext context) {
        return context.prepared(
                data,
                TRANSPOSED_PANELS + ", groups " + groups,
                constant -> FloatProduct.pack(constant, constant.elements(), k, n, true));
    }

    public static CpuStep lower(GroupedMatMul op, Node node, CpuLoweringContext context) {
        Value weights = node.input(1);
        Shape shape = weights.shape();
        DType dtype = weights.dtype();
        int k = SizeMath.toInt("matmul", shape.size(1));
        int n = SizeMath.toInt("matmul", shape.size(2));
        long rows = node.input(0).shape().size(0);
        int[] slots = {
            context.slot(node.input(0)), context.slot(weights), context.slot(node.input(2)), context.slot(node.output())
        };
        if (dtype == DType.F64) {
            return new GroupedMatMulStep(op.mnemonic(), node.input(2).dtype(), rows, k, n, null, null, slots);
        }
        MemorySegment packed = packed(weights, k, n, false, context);
        long units = wantedUnits(rows * k * n / Math.max(1, shape.size(0)), context.threads());
        FloatProduct.Form form = new FloatProduct.Form(false, false, packed != null);
        FloatProduct product = new FloatProduct(dtype, rows, k, n, form, Epilogue.NONE, units);
        return new GroupedMatMulStep(op.mnemonic(), node.input(2).dtype(), rows, k, n, product, packed, slots);
    }

    public static CpuStep lower(MatMulInteger op, Node node, CpuLoweringContext context) {
        return IntegerMatMulStep.of(op, node, context);
    }
}
