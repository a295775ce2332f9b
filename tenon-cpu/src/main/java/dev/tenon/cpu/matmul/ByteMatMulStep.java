package dev.tenon.cpu.matmul;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Products of 8-bit integers with constant weights by the processor's sums of products of bytes, which take A unsigned
 * and B signed. Numbers of the other kind are moved by 128, and the zero points with them; then
 *
 * <pre>sum (a - za)(b - zb) = sum a b - za sum b - zb sum a + k za zb</pre>
 *
 * where the sums of b are known ahead, so that all but the third term is a row that sums begin with.
 */
final class ByteMatMulStep implements CpuStep, RangeTask {
    /** Bytes along k that the processor sums at once. */
    private static final int GROUP = 4;

    /** Rows of A that a worker keeps in its cache. */
    private static final int ROWS = 192;

    private static final int SIGN = 0x80;

    private final CpuMatMulLowering.Sizes sizes;
    private final DType typeA;
    private final Weights weights;
    /** A, zero point of A or -1, result. */
    private final int[] slots;

    private final int groups;
    private final int columns;
    private final long rowBlocks;
    private final long panels;
    private final long startAt;
    private final long workspaceBytes;

    /**
     * B as the kernel wants it.
     *
     * @param memory for each matrix its panels, and behind them for each column the sum and the zero point
     * @param shifted whether some zero point, moved as B was, is not 0
     */
    private record Weights(MemorySegment memory, boolean shifted) {}

    private ByteMatMulStep(CpuMatMulLowering.Sizes sizes, DType typeA, Weights weights, int[] slots) {
        this.sizes = sizes;
        this.typeA = typeA;
        this.weights = weights;
        this.slots = slots;
        groups = groups(sizes.k());
        columns = MachineLoops.byteColumns();
        rowBlocks = Math.ceilDiv(sizes.m(), ROWS);
        panels = Math.ceilDiv(sizes.n(), columns);
        Layout layout = new Layout();
        layout.take((long) ROWS * groups * GROUP);
        startAt = layout.take(4L * panels * columns);
        workspaceBytes = layout.bytes();
    }

    private static int groups(int k) {
        return Math.ceilDiv(k, GROUP);
    }

    /** The step; null where another has to do it: zero points differ by row, B is no constant, no such instruction. */
    static @Nullable CpuStep of(
            MatMulInteger op,
            Node node,
            CpuMatMulLowering.Sizes sizes,
            boolean manyZerosA,
            CpuLoweringContext context) {
        Value b = node.input(1);
        @Nullable Value zeroB = op.zeroPointB() ? node.inputs().getLast() : null;
        ConstantData zeros = zeroB == null ? null : zeroB.constant();
        boolean known = zeroB == null || zeros != null;
        boolean taken = MachineLoops.byteColumns() > 0 && known && !manyZerosA && sizes.n() > 0 && sizes.k() > 0;
        if (!taken || !(b.constant() instanceof ConstantData.Dense dense)) {
            return null;
        }
        int[] slots = {
            context.slot(node.input(0)), op.zeroPointA() ? context.slot(node.input(2)) : -1, context.slot(node.output())
        };
        return new ByteMatMulStep(sizes, node.input(0).dtype(), weights(dense, zeros, sizes, context), slots);
    }

    private static Weights weights(
            ConstantData.Dense data,
            @Nullable ConstantData zeros,
            CpuMatMulLowering.Sizes sizes,
            CpuLoweringContext context) {
        int k = sizes.k();
        int n = sizes.n();
        DType dtype = data.type().dtype();
        IntegerMatMulStep.ZeroPoints points = IntegerMatMulStep.ZeroPoints.of(dtype, zeros);
        int moved = dtype == DType.U8 ? SIGN : 0;
        boolean shifted = false;
        for (int column = 0; column < n; column++) {
            shifted |= points.at(column) != moved;
        }
        long matrices = data.type().shape().elements() / ((long) k * n);
        long each = matrixBytes(k, n);
        String layout = "panels of bytes " + k + "x" + n + " less " + (zeros == null ? "0" : zeros.toString());
        MemorySegment memory = context.prepared(
                data,
                layout,
                _ -> new CpuLoweringContext.Prepared(matrices * each, to -> {
                    for (long i = 0; i < matrices; i++) {
                        pack(data, i, k, n, points, to.asSlice(i * each, each));
                    }
                }));
        return new Weights(memory, shifted);
    }

    private static long panelBytes(int k) {
        return (long) groups(k) * GROUP * MachineLoops.byteColumns();
    }

    /** Of the panels of a matrix and what lies behind them. */
    private static long matrixBytes(int k, int n) {
        long panels = Math.ceilDiv(n, MachineLoops.byteColumns());
        return panels * panelBytes(k) + 2 * 4L * panels * MachineLoops.byteColumns();
    }

    private static void pack(
            ConstantData.Dense data, long matrix, int k, int n, IntegerMatMulStep.ZeroPoints points, MemorySegment to) {
        int columns = MachineLoops.byteColumns();
        DType dtype = data.type().dtype();
        int moved = dtype == DType.U8 ? SIGN : 0;
        long panels = Math.ceilDiv(n, columns);
        long sums = panels * panelBytes(k);
        for (int column = 0; column < panels * columns; column++) {
            long panel = column / columns * panelBytes(k) + (long) GROUP * (column % columns);
            int sum = 0;
            for (int i = 0; i < groups(k) * GROUP; i++) {
                int value = 0;
                if (column < n && i < k) {
                    value = IntegerMatMulStep.read(dtype, data.segment(), (matrix * k + i) * n + column) - moved;
                }
                sum += value;
                to.set(ValueLayout.JAVA_BYTE, panel + (long) (i / GROUP) * GROUP * columns + i % GROUP, (byte) value);
            }
            to.set(Convert.I32, sums + 4L * column, sum);
            to.set(Convert.I32, sums + 4L * (panels * columns + column), column < n ? points.at(column) - moved : 0);
        }
    }

    @Override
    public void run(CpuFrame frame) {
        long units = sizes.batches() * rowBlocks * panels;
        // bytes are multiplied some three times as fast as floats
        frame.parallel(this, units, Math.max(1, 1_500_000 / Math.max(1, sizes.work() / Math.max(1, units))));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment workspace = frame.workspace(worker);
        long unit = from;
        while (unit < to) {
            long rowsOf = unit / panels; // batch and block of rows
            long end = Math.min(to, (rowsOf + 1) * panels);
            block(
                    frame,
                    rowsOf / rowBlocks,
                    rowsOf % rowBlocks * ROWS,
                    unit % panels,
                    end - rowsOf * panels,
                    workspace);
            unit = end;
        }
    }

    /** Some rows times some panels. */
    private void block(CpuFrame frame, long batch, long row, long fromPanel, long toPanel, MemorySegment workspace) {
        int rows = (int) Math.min(ROWS, sizes.m() - row);
        int n = (int) (Math.min(sizes.n(), toPanel * columns) - fromPanel * columns);
        long column = fromPanel * columns;
        Matrix a = rows(frame, batch, row, rows, workspace);
        long matrix = sizes.batch().at(1, batch) * matrixBytes(sizes.k(), sizes.n());
        long sums = matrix + panels * panelBytes(sizes.k());
        begin(frame, sums + 4 * column, n, workspace);
        Matrix b = new Matrix(weights.memory, matrix + fromPanel * panelBytes(sizes.k()), panelBytes(sizes.k()));
        MemorySegment result = frame.at(slots[2]);
        long at = 4 * ((batch * sizes.m() + row) * sizes.n() + column);
        Matrix c = new Matrix(result, at, 4L * sizes.n());
        MachineLoops.productOfBytes(rows, n, groups, a, b, c, new Matrix(workspace, startAt, 0));
        if (weights.shifted) {
            for (int r = 0; r < rows; r++) {
                int sum = sum(a, r);
                long zeros = sums + 4 * (panels * columns + column);
                long to = at + 4L * r * sizes.n();
                for (int j = 0; j < n; j++) {
                    int less = weights.memory.get(Convert.I32, zeros + 4L * j) * sum;
                    result.set(Convert.I32, to + 4L * j, result.get(Convert.I32, to + 4L * j) - less);
                }
            }
        }
    }

    /** The bytes of a row, unsigned as the kernel sees them; those behind the last are zero. */
    private int sum(Matrix a, int row) {
        int sum = 0;
        long at = a.offset() + row * a.stride();
        for (int i = 0; i < sizes.k(); i++) {
            sum += a.memory().get(ValueLayout.JAVA_BYTE, at + i) & 0xFF;
        }
        return sum;
    }

    /** The first, second and fourth term for some columns. */
    private void begin(CpuFrame frame, long sums, int n, MemorySegment workspace) {
        int zero = slots[1] < 0 ? 0 : IntegerMatMulStep.read(typeA, frame.at(slots[1]), 0);
        zero += typeA == DType.U8 ? 0 : SIGN;
        long zeros = sums + 4 * panels * columns;
        for (int j = 0; j < n; j++) {
            int sum = weights.memory.get(Convert.I32, sums + 4L * j);
            int zeroB = weights.memory.get(Convert.I32, zeros + 4L * j);
            workspace.set(Convert.I32, startAt + 4L * j, zero * (sizes.k() * zeroB - sum));
        }
    }

    /** Rows of A, unsigned, in whole groups: where they lie, or a copy. */
    private Matrix rows(CpuFrame frame, long batch, long row, int rows, MemorySegment workspace) {
        MemorySegment a = frame.at(slots[0]);
        int k = sizes.k();
        long from = (sizes.batch().at(0, batch) * sizes.m() + row) * k;
        if (typeA == DType.U8 && k % GROUP == 0) {
            return new Matrix(a, from, k);
        }
        long stride = (long) groups * GROUP;
        int flipped = typeA == DType.U8 ? 0 : SIGN;
        for (int r = 0; r < rows; r++) {
            for (int i = 0; i < stride; i++) {
                int value = i < k ? a.get(ValueLayout.JAVA_BYTE, from + (long) r * k + i) ^ flipped : 0;
                workspace.set(ValueLayout.JAVA_BYTE, r * stride + i, (byte) value);
            }
        }
        return new Matrix(workspace, 0, stride);
    }

    @Override
    public String tier() {
        return "sums of bytes, packed";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
