package dev.tenon.core.testkit;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import java.util.ArrayList;
import java.util.List;

/**
 * Products with a dequantised constant weight of {@link #DEPTH} by {@link #COLUMNS}, too large to be folded.
 *
 * @param rows of x
 * @param q type of the weight
 * @param dtype of x, the scale and the result
 * @param transposed whether the weight is [columns, depth]
 * @param block elements with one scale; 0 for one a column, -1 for one in all
 * @param zeroPoint whether the weight has zero points
 */
public record DequantizedProducts(
        long rows, DType q, DType dtype, boolean transposed, long block, boolean zeroPoint) {
    public static final long DEPTH = 1032;
    public static final long COLUMNS = 131;

    /** Every type and form, each with few and with many rows. */
    public static List<DequantizedProducts> all() {
        List<DequantizedProducts> all = new ArrayList<>();
        long[] blocks = {-1, 0, 32, 100};
        for (DType q : List.of(DType.I8, DType.U8, DType.I4, DType.U4)) {
            for (int i = 0; i < 8; i++) {
                DType dtype = List.of(DType.F32, DType.F16, DType.BF16, DType.F64).get((i + q.bits()) % 4);
                all.add(new DequantizedProducts(i % 2 == 0 ? 1 : 17, q, dtype, i >= 4, blocks[i % 4], i % 3 > 0));
            }
        }
        return all;
    }

    /** The node that it becomes. */
    public ScaledMatMul expected() {
        return new ScaledMatMul(Math.max(0, block), zeroPoint);
    }

    /** Values for the graph's input. */
    public NdArray x() {
        return new Seeded(11).floats(dtype, -0.125, 0.125, rows, DEPTH);
    }

    /** {@code y = x dequantize(w)}. */
    public Graph graph() {
        return GraphBuilder.build("product", g -> {
            Seeded random = new Seeded(7);
            long least = q == DType.I8 ? -128 : q == DType.I4 ? -8 : 0;
            long most = least + (q.bits() == 8 ? 255 : 15);
            List<Value> operands = new ArrayList<>(List.of(
                    g.constant(random.integers(q, least, most, sizes(DEPTH)).toConstant()),
                    g.constant(random.floats(dtype, 0.0625, 0.125, scales()).toConstant())));
            if (zeroPoint) {
                operands.add(g.constant(random.integers(q, least, most, scales()).toConstant()));
            }
            int axis = (block > 0) == transposed ? 1 : 0;
            Dequantize op = new Dequantize(axis, Math.max(0, block), zeroPoint);
            Value w = g.add("", op, operands).getFirst();
            Value x = g.input("x", TensorType.of(dtype, rows, DEPTH));
            MatMul product = new MatMul(false, transposed, Epilogue.NONE);
            g.output("y", g.add("", product, List.of(x, w)).getFirst());
        });
    }

    private long[] sizes(long depth) {
        return transposed ? new long[] {COLUMNS, depth} : new long[] {depth, COLUMNS};
    }

    private long[] scales() {
        if (block < 0) {
            return new long[0];
        }
        return block == 0 ? new long[] {COLUMNS} : sizes(Math.ceilDiv(DEPTH, block));
    }
}
