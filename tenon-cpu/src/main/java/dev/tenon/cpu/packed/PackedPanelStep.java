package dev.tenon.cpu.packed;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.machine.BlockProductKernel;
import dev.tenon.cpu.machine.CallableCode;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Products of rows of f32 with a constant weight in Q8_0, Q4_0 or Q4_K by machine code: panels of 16 rows of the
 * weight, turned once for the model, times rows of x in fixed point. Rows of x that have no such form (infinities, NaN,
 * tiny numbers, one that dwarfs its neighbours) go by loops over the weight as it came, as all do where a
 * scale of it is no number.
 */
final class PackedPanelStep implements CpuStep {
    private static final int ROWS = BlockProductKernel.ROWS;
    private static final int RUN = BlockProductKernel.RUN;

    /** Rows of x that are in fixed point at a time. */
    private static final long MOST = 64;

    /** Behind the panels: whether all of their scales are numbers. */
    private static final long FLAG_BYTES = 64;

    private static final Map<BlockFormat, BlockProductKernel> KERNELS = kernels();
    private static final ThreadLocal<MemorySegment> ARGUMENTS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CallableCode.ARGUMENT_BYTES, 64));

    private final BlockFormat format;
    private final BlockProductKernel kernel;
    private final int x;
    private final int w;
    private final int y;
    private final long rows;
    private final long columns;
    private final int depth;
    private final MemorySegment panels;
    private final long panelBytes;
    private final long fixedAt = 0;
    private final long fitsAt;
    private final long resultAt;
    private final long sumsAt;
    private final long workspaceBytes;
    private final RangeTask fix = this::fix;
    private final RangeTask multiply = this::multiply;

    private PackedPanelStep(
            DequantMatMul op,
            BlockProductKernel kernel,
            ConstantData.Dense weight,
            Node node,
            CpuLoweringContext context) {
        Shape shape = node.input(0).shape();
        this.format = op.format();
        this.kernel = kernel;
        this.depth = SizeMath.toInt("dequant_matmul", shape.size(shape.rank() - 1));
        this.rows = shape.elements(0, shape.rank() - 1);
        this.columns = node.input(1).shape().size(0);
        this.x = context.slot(node.input(0));
        this.w = context.slot(node.input(1));
        this.y = context.slot(node.output());
        int blocks = depth / format.elements();
        this.panelBytes =
                SizeMath.product("dequant_matmul", blocks, kernel.format().bytes());
        long bytes = SizeMath.product("dequant_matmul", Math.ceilDiv(columns, (long) ROWS), panelBytes);
        this.panels = context.prepared(
                weight,
                "panels of " + format,
                data -> new CpuLoweringContext.Prepared(
                        SizeMath.sum("dequant_matmul", bytes, FLAG_BYTES),
                        to -> turn(kernel, weight.segment(), blocks, columns, to)));
        Layout layout = new Layout();
        long most = Math.min(MOST, rows);
        layout.take(SizeMath.product("dequant_matmul", most, depth / RUN, BlockProductKernel.RUN_BYTES));
        fitsAt = layout.take(most);
        resultAt = layout.take(4L * ROWS);
        sumsAt = layout.take(4L * (depth / RUN));
        workspaceBytes = layout.bytes();
    }

    private static Map<BlockFormat, BlockProductKernel> kernels() {
        Map<BlockFormat, BlockProductKernel> kernels = new EnumMap<>(BlockFormat.class);
        if (MachineLoops.byteColumns() > 0) {
            kernels.put(BlockFormat.Q8_0, BlockProductKernel.make(BlockProductKernel.Format.BYTES));
            kernels.put(BlockFormat.Q4_0, BlockProductKernel.make(BlockProductKernel.Format.NIBBLES));
            kernels.put(BlockFormat.Q4_K, BlockProductKernel.make(BlockProductKernel.Format.LARGE));
        }
        return kernels;
    }

    /** The step of a product, or null where it has none. */
    static @Nullable CpuStep lower(DequantMatMul op, Node node, CpuLoweringContext context) {
        BlockProductKernel kernel = KERNELS.get(op.format());
        boolean any =
                node.input(0).shape().elements() > 0 && node.input(1).shape().elements() > 0;
        return kernel != null && any && node.input(1).constant() instanceof ConstantData.Dense weight
                ? new PackedPanelStep(op, kernel, weight, node, context)
                : null;
    }

    private static void turn(
            BlockProductKernel kernel, MemorySegment weight, int blocks, long columns, MemorySegment to) {
        long rowBytes = (long) blocks * kernel.blockBytes();
        boolean finite = true;
        long put = 0;
        for (long column = 0; column < columns; column += ROWS) {
            int count = (int) Math.min(ROWS, columns - column);
            for (int block = 0; block < blocks; block++) {
                long at = column * rowBytes + (long) block * kernel.blockBytes();
                for (int row = 0; row < count; row++) {
                    finite &= kernel.isFinite(weight, at + row * rowBytes);
                }
                kernel.turn(weight, at, rowBytes, count, to, put);
                put += kernel.format().bytes();
            }
        }
        to.set(Raw.I8, put, (byte) (finite ? 1 : 0));
    }

    @Override
    public void run(CpuFrame frame) {
        for (long row = 0; row < rows; row += MOST) {
            long count = Math.min(MOST, rows - row);
            frame.group()[0] = row;
            frame.group()[1] = count;
            frame.parallel(fix, count, LoopStep.grain(8L * depth));
            long panelCount = Math.ceilDiv(columns, (long) ROWS);
            frame.parallel(multiply, panelCount, LoopStep.grain(count * depth));
        }
    }

    /** Writes rows of x in fixed point. */
    private void fix(CpuFrame frame, long from, long to, int worker) {
        MemorySegment workspace = frame.workspace(0);
        boolean finite = panels.get(Raw.I8, panels.byteSize() - FLAG_BYTES) != 0;
        int runs = depth / RUN;
        for (long row = from; row < to; row++) {
            Place given = new Place(frame.at(x), 4L * depth * (frame.group()[0] + row));
            boolean fits = finite && kernel.fix(given, runs, new Place(workspace, fixedAt(row)));
            workspace.set(Raw.I8, fitsAt + row, (byte) (fits ? 1 : 0));
        }
    }

    private long fixedAt(long row) {
        return fixedAt + row * (depth / RUN) * BlockProductKernel.RUN_BYTES;
    }

    /** Multiplies panels with all rows of x that are in fixed point. */
    private void multiply(CpuFrame frame, long from, long to, int worker) {
        MemorySegment arguments = ARGUMENTS.get();
        MemorySegment shared = frame.workspace(0);
        MemorySegment workspace = frame.workspace(worker);
        MemorySegment out = frame.at(y);
        Place result = new Place(workspace, resultAt);
        for (long panel = from; panel < to; panel++) {
            Place weights = new Place(panels, panel * panelBytes);
            long column = panel * ROWS;
            int count = (int) Math.min(ROWS, columns - column);
            for (long row = 0; row < frame.group()[1]; row++) {
                long put = 4 * ((frame.group()[0] + row) * columns + column);
                if (shared.get(Raw.I8, fitsAt + row) != 0) {
                    Place given = new Place(shared, fixedAt(row));
                    kernel.run(depth / format.elements(), given, weights, result, arguments);
                    MemorySegment.copy(workspace, resultAt, out, put, 4L * count);
                    mendOverflows(frame, frame.group()[0] + row, column, count);
                } else {
                    plain(frame, frame.group()[0] + row, column, count, workspace);
                }
            }
        }
    }

    /** Results that are no numbers, once more: sums overflow where what their scale makes of them does not. */
    private void mendOverflows(CpuFrame frame, long row, long column, int count) {
        MemorySegment out = frame.at(y);
        long blocks = depth / format.elements();
        for (int i = 0; i < count; i++) {
            long put = 4 * (row * columns + column + i);
            if (!Float.isFinite(out.get(Raw.F32, put))) {
                long at = (column + i) * blocks * format.bytes();
                out.set(
                        Raw.F32,
                        put,
                        PackedLoops.inFull(format, frame.at(w), at, frame.at(x), 4 * row * depth, blocks));
            }
        }
    }

    private void plain(CpuFrame frame, long row, long column, int count, MemorySegment workspace) {
        MemorySegment in = frame.at(x);
        MemorySegment weight = frame.at(w);
        long inAt = row * depth * Float.BYTES;
        long blocks = depth / format.elements();
        PackedLoops.sums(in, inAt, workspace, sumsAt, depth / RUN);
        boolean fast = PackedRowStep.isFast(format, in, weight);
        Place given = new Place(in, inAt);
        for (int i = 0; i < count; i++) {
            Place packed = new Place(weight, (column + i) * blocks * format.bytes());
            float dot = PackedRowStep.dot(format, fast, packed, given, workspace, sumsAt, blocks);
            frame.at(y).set(Raw.F32, 4 * (row * columns + column + i), dot);
        }
    }

    @Override
    public String tier() {
        return "packed " + format + ", machine code";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
