package dev.tenon.cpu.packed;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Products of rows of f32 or short floats with a weight in packed blocks: a unit is a row of the weight, which is
 * written out as f32 and multiplied with all rows. For formats that {@link PackedRowStep} has no loops for.
 */
final class DecodedRowStep extends LoopStep {
    /** Rows of the weight that make a piece: short floats are widened once a piece. */
    private static final long ROWS = 16;

    private final BlockFormat format;
    private final DType dtype;
    private final int x;
    private final int w;
    private final int y;
    private final long rows;
    private final long columns;
    private final int depth;
    private final long weightAt = 0;
    private final long xAt;
    private final long yAt;
    private final long workspaceBytes;

    DecodedRowStep(DequantMatMul op, Node node, CpuLoweringContext context) {
        Shape shape = node.input(0).shape();
        int depth = SizeMath.toInt("dequant_matmul", shape.size(shape.rank() - 1));
        long rows = shape.elements(0, shape.rank() - 1);
        super(
                "rows of " + op.format() + " written out",
                node.input(1).shape().size(0),
                SizeMath.sum("dequant_matmul", SizeMath.product("dequant_matmul", depth, rows), 8L * depth));
        this.format = op.format();
        this.dtype = node.output().dtype();
        this.depth = depth;
        this.rows = rows;
        this.columns = node.input(1).shape().size(0);
        this.x = context.slot(node.input(0));
        this.w = context.slot(node.input(1));
        this.y = context.slot(node.output());
        Layout layout = new Layout();
        layout.take((long) Float.BYTES * depth);
        xAt = layout.take(dtype == DType.F32 ? 0 : SizeMath.product("dequant_matmul", Float.BYTES, rows, depth));
        yAt = layout.take(Float.BYTES * rows);
        workspaceBytes = layout.bytes();
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }

    @Override
    protected long leastUnits() {
        return ROWS;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        MemorySegment workspace = frame.workspace(worker);
        MemorySegment out = frame.at(y);
        MemorySegment given = frame.at(x);
        long givenAt = 0;
        int count = SizeMath.toInt("dequant_matmul", rows);
        if (dtype != DType.F32) {
            for (long row = 0; row < rows; row++) {
                Convert.load(dtype, given, row * depth, workspace, xAt + Float.BYTES * row * depth, depth);
            }
            given = workspace;
            givenAt = xAt;
        }
        DecodedBlocks blocks = new DecodedBlocks(format);
        long each = depth / format.elements();
        for (long column = from; column < to; column++) {
            blocks.write(frame.at(w), column * each, each, DType.F32, workspace, weightAt);
            loops.dots(workspace, weightAt, given, givenAt, depth, workspace, yAt, count);
            for (long row = 0; row < rows; row++) {
                Convert.store(dtype, workspace, yAt + Float.BYTES * row, out, row * columns + column, 1);
            }
        }
    }
}
