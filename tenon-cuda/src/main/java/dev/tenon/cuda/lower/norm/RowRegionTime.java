package dev.tenon.cuda.lower.norm;

import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model of how long a row region takes in one launch, and in a launch a part. One launch moves fewer bytes; but there
 * a row has the lanes of one warp or block for its steps, where an elementwise launch spreads them over the device:
 * few long rows of costly steps are done sooner apart.
 */
final class RowRegionTime {
    /** Nanoseconds of one more launch in a recorded plan: its start, and one read from memory before it ends. */
    private static final double LAUNCH = 2000;

    /** Bytes a nanosecond of memory, instructions of lanes a nanosecond of all lanes and of those of a lone row. */
    private static final double MEMORY_RATE = 4000; // as RowPlan has it, from an H200

    private static final double ALL_LANES = 132 * 218;
    private static final double WARP_LANES = 27; // 32 at 1.7 GHz, half of the time
    private static final double MOST_LANES = 218;

    /** The longest rows of a warp and of four, as RowPlan has it. */
    private static final long WARP_COLUMNS = 1024;

    private static final long BLOCK_COLUMNS = 4096;

    private RowRegionTime() {}

    /** Whether one launch is done no later. */
    static boolean pays(RowRegion op, List<TensorType> inputs, TensorType result) {
        TensorType row = op.rowType(inputs);
        double elements = row.shape().elements();
        boolean reduces = result.shape().elements() < elements;
        long rows = Math.max(1, rows(op, row));
        double before = cost(op.before());
        double after = cost(op.after()) * (reduces ? rows / elements : 1);
        double rowBytes = row.bytes();
        double saved = 0;
        if (op.before() != null) {
            saved += LAUNCH + 2 * rowBytes / MEMORY_RATE;
        }
        if (op.after() != null) {
            saved += LAUNCH + 2 * (reduces ? result.bytes() : rowBytes) / MEMORY_RATE;
        }
        double cols = elements / rows;
        double lanes = cols <= WARP_COLUMNS ? WARP_LANES : cols <= BLOCK_COLUMNS ? 4 * WARP_LANES : MOST_LANES;
        double alone = cols * (before + after) / lanes;
        double spread = elements * (before + after) / ALL_LANES;
        return Math.max(alone, spread) - spread <= saved;
    }

    private static long rows(RowRegion op, TensorType row) {
        return row.shape().elements(0, op.rowAxis(row.shape()));
    }

    /** Instructions of an element, roughly. */
    private static double cost(@Nullable Region region) {
        return region == null
                ? 0
                : region.steps().stream()
                        .mapToDouble(step -> switch (step.op()) {
                            case Unary(UnaryFn fn, double _, double _) -> cost(fn);
                            case Binary(BinaryFn fn) -> cost(fn);
                            default -> 2;
                        })
                        .sum();
    }

    private static double cost(UnaryFn fn) {
        return switch (fn) {
            case NEG, ABS, SIGN, RELU, AFFINE, CLIP, FLOOR, CEIL, ROUND, TRUNC, NOT, IS_NAN, IS_INF, LEAKY_RELU -> 2;
            default -> 40;
        };
    }

    private static double cost(BinaryFn fn) {
        return switch (fn) {
            case ADD, SUB, MUL, MAX, MIN, AND, OR, XOR -> 2;
            case DIV -> 16;
            default -> 80;
        };
    }
}
