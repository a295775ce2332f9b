package dev.tenon.cpu.packed;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;

/**
 * Products with a packed weight in double: a unit is a few rows of the weight, which are written out and multiplied
 * with each row of x; their sums go side by side.
 */
abstract class WideRowStep extends LoopStep {
    private static final int ROWS = 4;

    private final DType dtype;
    final int depth;
    private final long rows;
    private final long columns;
    private final int x;
    private final int y;

    WideRowStep(String tier, Node node, CpuLoweringContext context) {
        Shape shape = node.input(0).shape();
        long columns = node.input(1).shape().size(0);
        long depth = shape.size(shape.rank() - 1);
        long rows = shape.elements(0, shape.rank() - 1);
        super(tier, Math.ceilDiv(columns, (long) ROWS), SizeMath.estimate(Math.max(1, depth), ROWS, 8 + rows));
        this.dtype = node.output().dtype();
        this.depth = SizeMath.toInt("packed product", depth);
        this.rows = rows;
        this.columns = columns;
        this.x = context.slot(node.input(0));
        this.y = context.slot(node.output());
    }

    /** Writes a row of the weight out. */
    abstract void decode(CpuFrame frame, long row, double[] weights);

    @Override
    public final void run(CpuFrame frame, long from, long to, int worker) {
        double[][] weights = new double[ROWS][depth];
        double[] row = new double[depth];
        double[] sums = new double[ROWS];
        for (long unit = from; unit < to; unit++) {
            long first = unit * ROWS;
            int count = (int) Math.min(ROWS, columns - first);
            for (int i = 0; i < count; i++) {
                decode(frame, first + i, weights[i]);
            }
            for (long i = 0; i < rows; i++) {
                Doubles.read(dtype, frame.at(x), i * depth, row, depth);
                dots(row, weights, sums);
                Doubles.write(dtype, sums, count, frame.at(y), i * columns + first);
            }
        }
    }

    /** Rows past the last one have what they had before: their sums are not read. */
    private static void dots(double[] row, double[][] weights, double[] sums) {
        double[] a = weights[0];
        double[] b = weights[1];
        double[] c = weights[2];
        double[] d = weights[3];
        double sumA = 0;
        double sumB = 0;
        double sumC = 0;
        double sumD = 0;
        for (int k = 0; k < row.length; k++) {
            sumA += row[k] * a[k];
            sumB += row[k] * b[k];
            sumC += row[k] * c[k];
            sumD += row[k] * d[k];
        }
        sums[0] = sumA;
        sums[1] = sumB;
        sums[2] = sumC;
        sums[3] = sumD;
    }
}
