package dev.tenon.cpu.packed;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Products of f32 with a weight of 8 or 4 bits: a unit is a panel of columns of the result, whose weights are decoded
 * {@link #DEPTH} at a time into the worker's workspace and multiplied with all rows of x there. Other types of x go by
 * {@link WideScaledStep}.
 */
public final class ScaledProductStep extends LoopStep {
    private static final int NR = Gemm.NR;

    /** Elements of a row of the weight that are decoded at once: a panel of them stays in the second-level cache. */
    private static final int DEPTH = 512;

    /** Neighbours in a row that are decoded together, so that lines of the panel are written while in the cache. */
    private static final int TOGETHER = 8;

    private final DType type;
    private final int rows;
    private final long columns;
    private final long depth;
    private final long block;
    private final long blocks;
    private final int[] slots;
    private final long panelAt;
    private final long workspaceBytes;

    private ScaledProductStep(ScaledMatMul op, Node node, CpuLoweringContext context) {
        Shape x = node.input(0).shape();
        long depth = x.size(x.rank() - 1);
        long columns = node.input(1).shape().size(0);
        int rows = SizeMath.toInt("scaled_mat_mul", x.elements(0, x.rank() - 1));
        super(
                "weights of " + node.input(1).dtype() + " decoded by panels, gemm",
                rows == 0 ? 0 : Math.ceilDiv(columns, (long) NR),
                SizeMath.product("scaled_mat_mul", NR, Math.max(1, depth), 2 + rows));
        this.type = node.input(1).dtype();
        this.rows = rows;
        this.columns = columns;
        this.depth = depth;
        this.block = op.block() == 0 ? Math.max(1, depth) : op.block();
        this.blocks = op.blocks(depth);
        this.slots = new int[] {
            context.slot(node.input(0)),
            context.slot(node.input(1)),
            context.slot(node.input(2)),
            op.zeroPoint() ? context.slot(node.input(3)) : -1,
            context.slot(node.output())
        };
        Layout layout = new Layout();
        layout.take(Gemm.EDGE_BYTES);
        this.panelAt = layout.take(4L * DEPTH * NR);
        this.workspaceBytes = layout.bytes();
    }

    /** The step of a product. */
    public static CpuStep lower(ScaledMatMul op, Node node, CpuLoweringContext context) {
        return node.output().dtype() == DType.F32
                ? new ScaledProductStep(op, node, context)
                : new WideScaledStep(op, node, context);
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }

    /** The weight, its scales and its zero points, which may be absent. */
    private record Weight(MemorySegment q, MemorySegment scale, MemorySegment zero) {}

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        Weight weight = new Weight(
                frame.at(slots[1]), frame.at(slots[2]), slots[3] < 0 ? MemorySegment.NULL : frame.at(slots[3]));
        Matrix x = new Matrix(frame.at(slots[0]), 0, 4 * depth);
        MemorySegment y = frame.at(slots[4]);
        MemorySegment workspace = frame.workspace(worker);
        Place edge = new Place(workspace, 0);
        Matrix panel = new Matrix(workspace, panelAt, 4L * DEPTH * NR);
        for (long unit = from; unit < to; unit++) {
            long column = unit * NR;
            int width = (int) Math.min(NR, columns - column);
            Matrix result = new Matrix(y, 4 * column, 4 * columns);
            long k = 0;
            do { // once where there is nothing to sum
                int some = (int) Math.min(DEPTH, depth - k);
                decode(weight, column, width, k, some, workspace);
                Gemm.Size size = new Gemm.Size(rows, width, some);
                loops.product(size, x.plus(4 * k), panel, result, k == 0 ? Start.ZERO : Start.RESULT, edge);
                k += some;
            } while (k < depth);
        }
    }

    /** Writes weights as f32, those of one index of the sum after another, zero past the last column. */
    private void decode(Weight weight, long column, int width, long from, int count, MemorySegment to) {
        if (width < NR) {
            to.asSlice(panelAt, 4L * count * NR).fill((byte) 0);
        }
        for (int k = 0; k < count; k += TOGETHER) {
            int some = Math.min(TOGETHER, count - k);
            boolean alike = (from + k) / block == (from + k + some - 1) / block;
            for (int j = 0; j < width; j++) {
                long at = panelAt + 4L * ((long) k * NR + j);
                if (alike) {
                    decode(weight, column + j, from + k, some, to, at);
                } else {
                    for (int i = 0; i < some; i++) {
                        decode(weight, column + j, from + k + i, 1, to, at + 4L * i * NR);
                    }
                }
            }
        }
    }

    /** Decodes neighbours of one block. */
    private void decode(Weight weight, long row, long from, int count, MemorySegment to, long at) {
        long scaled = row * blocks + from / block;
        float scale = weight.scale.get(Raw.F32, 4 * scaled);
        int zero = slots[3] < 0 ? 0 : integer(weight.zero, scaled);
        long first = row * depth + from;
        for (int i = 0; i < count; i++) {
            to.set(Raw.F32, at + 4L * i * NR, scale * (integer(weight.q, first + i) - zero));
        }
    }

    private int integer(MemorySegment from, long at) {
        return switch (type) {
            case I8 -> from.get(Raw.I8, at);
            case U8 -> from.get(Raw.I8, at) & 0xFF;
            case I4 -> from.get(Raw.I8, at >> 1) << (28 - (int) (at & 1) * 4) >> 28;
            default -> from.get(Raw.I8, at >> 1) >> (int) (at & 1) * 4 & 0xF;
        };
    }
}
