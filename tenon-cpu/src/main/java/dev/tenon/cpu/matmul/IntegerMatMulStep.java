package dev.tenon.cpu.matmul;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Products of 8-bit integers, exact, on the f32 micro-kernel: a difference of 8-bit numbers is at most 255, so a sum of
 * 256 products (255 * 255 * 256 < 2^24) is a whole number that f32 holds exactly. k is cut into such pieces, whose sums
 * are added as integers.
 *
 * <p>Java has no instruction for sums of products of bytes; by this way they run at the speed of f32. Where the
 * processor's own can be had, {@link ByteMatMulStep} goes before.
 */
final class IntegerMatMulStep implements CpuStep, RangeTask {
    /** Products a piece. */
    private static final int DEPTH = 256;

    private static final int ROWS = 64;
    private static final int NR = Gemm.NR;

    private final CpuMatMulLowering.Sizes sizes;
    private final DType typeA;
    private final DType typeB;
    private final boolean manyZerosA;
    /** A, B, zero point of A, of B, result; -1 for what is not there. */
    private final int[] slots;

    private final @Nullable MemorySegment packed;
    private final long rowBlocks;
    private final long panels;
    private final long aAt;
    private final long bAt;
    private final long cAt;
    private final long workspaceBytes;

    private IntegerMatMulStep(
            CpuMatMulLowering.Sizes sizes,
            DType typeA,
            DType typeB,
            boolean manyZerosA,
            @Nullable MemorySegment packed,
            int[] slots) {
        this.sizes = sizes;
        this.typeA = typeA;
        this.typeB = typeB;
        this.manyZerosA = manyZerosA;
        this.packed = packed;
        this.slots = slots;
        rowBlocks = Math.ceilDiv(sizes.m(), ROWS);
        panels = Math.ceilDiv(sizes.n(), NR);
        Layout layout = new Layout();
        aAt = layout.take(4L * ROWS * sizes.k());
        bAt = layout.take(packed != null ? 0 : 4L * NR * sizes.k());
        cAt = layout.take(4L * ROWS * NR);
        workspaceBytes = layout.bytes();
    }

    static CpuStep of(MatMulInteger op, Node node, CpuLoweringContext context) {
        Value a = node.input(0);
        Value b = node.input(1);
        CpuMatMulLowering.Sizes sizes =
                CpuMatMulLowering.Sizes.of(a.shape(), b.shape(), node.output().shape(), false);
        @Nullable Value zeroA = op.zeroPointA() ? node.input(2) : null;
        @Nullable Value zeroB = op.zeroPointB() ? node.inputs().getLast() : null;
        boolean manyZerosA = zeroA != null && zeroA.shape().elements() > 1;
        boolean sharedB = b.shape().elements(0, b.shape().rank() - 2) == 1;
        boolean rowsOfA = a.shape().elements(0, a.shape().rank() - 2) == sizes.batches();
        if (sharedB && rowsOfA && !manyZerosA) {
            sizes = CpuMatMulLowering.Sizes.folded(a.shape(), node.output().shape());
        }
        CpuStep bytes = ByteMatMulStep.of(op, node, sizes, manyZerosA, context);
        if (bytes != null) {
            return bytes;
        }
        int[] slots = {
            context.slot(a),
            context.slot(b),
            zeroA == null ? -1 : context.slot(zeroA),
            zeroB == null ? -1 : context.slot(zeroB),
            context.slot(node.output())
        };
        return new IntegerMatMulStep(sizes, a.dtype(), b.dtype(), manyZerosA, packed(b, zeroB, sizes, context), slots);
    }

    /** Constant weights with constant zero points: the differences as f32, in panels. */
    private static @Nullable MemorySegment packed(
            Value b, @Nullable Value zeroB, CpuMatMulLowering.Sizes sizes, CpuLoweringContext context) {
        ConstantData data = b.constant();
        ConstantData zeros = zeroB == null ? null : zeroB.constant();
        if (!(data instanceof ConstantData.Dense dense) || (zeroB != null && zeros == null)) {
            return null;
        }
        int k = sizes.k();
        int n = sizes.n();
        long matrices = data.type().shape().elements() / Math.max(1, (long) k * n);
        long each = Gemm.packedBytes(k, n);
        Bytes bytes = new Bytes(dense.segment(), dense.type().dtype(), k, n);
        ZeroPoints zeroPoints = ZeroPoints.of(bytes.dtype(), zeros);
        String layout = "f32 panels of " + NR + " " + k + "x" + n + " less " + (zeros == null ? "0" : zeros.toString());
        return context.prepared(
                data,
                layout,
                _ -> new CpuLoweringContext.Prepared(matrices * each, to -> {
                    for (long i = 0; i < matrices; i++) {
                        for (int column = 0; column < n; column += NR) {
                            loadPanel(bytes, i * k * n, column, zeroPoints, to, i * each + 4L * column * k);
                        }
                    }
                }));
    }

    static int read(DType dtype, MemorySegment from, long index) {
        byte value = from.get(ValueLayout.JAVA_BYTE, index);
        return dtype == DType.U8 ? value & 0xFF : value;
    }

    /** Matrices B of k rows and n columns, one after another. */
    private record Bytes(MemorySegment memory, DType dtype, int k, int n) {}

    /**
     * The zero points of B's columns.
     *
     * @param memory one for each column, or one for all; empty where {@code all} is the one for all
     */
    record ZeroPoints(DType dtype, MemorySegment memory, int all) {
        static ZeroPoints of(DType dtype, @Nullable ConstantData constant) {
            return switch (constant) {
                case ConstantData.Splat splat ->
                    new ZeroPoints(dtype, MemorySegment.NULL, (int) Elements.toLong(dtype, splat.element()));
                case ConstantData.Dense dense -> new ZeroPoints(dtype, dense.segment(), 0);
                case null -> new ZeroPoints(dtype, MemorySegment.NULL, 0);
            };
        }

        int at(long index) {
            return memory.byteSize() == 0 ? all : read(dtype, memory, memory.byteSize() > 1 ? index : 0);
        }
    }

    /** Columns of the matrix that begins at {@code bFrom} less their zero points, as f32; zero past the last column. */
    private static void loadPanel(Bytes b, long bFrom, int column, ZeroPoints zeros, MemorySegment to, long toOffset) {
        MemorySegment memory = b.memory;
        DType dtype = b.dtype;
        int k = b.k;
        int n = b.n;
        for (int j = 0; j < NR; j++) {
            boolean inside = column + j < n;
            int zero = inside ? zeros.at(column + j) : 0;
            for (int i = 0; i < k; i++) {
                float value = inside ? read(dtype, memory, bFrom + (long) i * n + column + j) - zero : 0;
                to.set(Loops.F32, toOffset + 4L * (i * NR + j), value);
            }
        }
    }

    @Override
    public void run(CpuFrame frame) {
        long blocks = sizes.batches() * rowBlocks * panels;
        long perBlock = Math.max(1, sizes.work() / Math.max(1, blocks));
        // a piece converts its rows of A again: not smaller than some ten microseconds of products
        frame.parallel(this, blocks, Math.max(1, 500_000 / perBlock));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment workspace = frame.workspace(worker);
        Loops loops = Loops.current();
        long loaded = -1;
        for (long unit = from; unit < to; unit++) {
            long rowsOf = unit / panels; // batch and block of rows
            long batch = rowsOf / rowBlocks;
            long row = rowsOf % rowBlocks * ROWS;
            int rows = (int) Math.min(ROWS, sizes.m() - row);
            if (rowsOf != loaded) {
                loadRows(frame, batch, row, rows, workspace);
                loaded = rowsOf;
            }
            panel(frame, loops, batch, row, rows, (int) (unit % panels) * NR, workspace);
        }
    }

    private void loadRows(CpuFrame frame, long batch, long row, int rows, MemorySegment workspace) {
        MemorySegment a = frame.at(slots[0]);
        int k = sizes.k();
        long from = (sizes.batch().at(0, batch) * sizes.m() + row) * k;
        for (int r = 0; r < rows; r++) {
            int zero = slots[2] < 0 ? 0 : read(typeA, frame.at(slots[2]), manyZerosA ? row + r : 0);
            long at = aAt + 4L * r * k;
            long source = from + (long) r * k;
            if (typeA == DType.U8) {
                for (int i = 0; i < k; i++) {
                    int value = a.get(ValueLayout.JAVA_BYTE, source + i) & 0xFF;
                    workspace.set(Loops.F32, at + 4L * i, value - zero);
                }
            } else {
                for (int i = 0; i < k; i++) {
                    int value = a.get(ValueLayout.JAVA_BYTE, source + i);
                    workspace.set(Loops.F32, at + 4L * i, value - zero);
                }
            }
        }
    }

    private void panel(
            CpuFrame frame, Loops loops, long batch, long row, int rows, int column, MemorySegment workspace) {
        int k = sizes.k();
        int n = sizes.n();
        MemorySegment b = packed != null ? packed : workspace;
        long bOffset = bAt;
        if (packed != null) {
            bOffset = sizes.batch().at(1, batch) * Gemm.packedBytes(k, n) + 4L * column * k;
        } else {
            Bytes bytes = new Bytes(frame.at(slots[1]), typeB, k, n);
            MemorySegment zeros = slots[3] < 0 ? MemorySegment.NULL : frame.at(slots[3]);
            long bFrom = sizes.batch().at(1, batch) * k * n;
            loadPanel(bytes, bFrom, column, new ZeroPoints(typeB, zeros, 0), workspace, bAt);
        }
        MemorySegment c = frame.at(slots[4]);
        int columns = Math.min(NR, n - column);
        int depth = 0;
        do {
            int count = Math.min(DEPTH, k - depth);
            loops.product(
                    new Gemm.Size(rows, NR, count),
                    new Matrix(workspace, aAt + 4L * depth, 4L * k),
                    new Matrix(b, bOffset + 4L * depth * NR, 0),
                    new Matrix(workspace, cAt, 4L * NR),
                    Start.ZERO,
                    new Place(workspace, 0));
            for (int r = 0; r < rows; r++) {
                long to = 4 * ((batch * sizes.m() + row + r) * n + column);
                addSums(workspace, cAt + 4L * r * NR, c, to, columns, depth == 0);
            }
            depth += count;
        } while (depth < k);
    }

    private static void addSums(
            MemorySegment sums, long offset, MemorySegment c, long cOffset, int columns, boolean first) {
        for (int j = 0; j < columns; j++) {
            int sum = (int) sums.get(Loops.F32, offset + 4L * j);
            int before = first ? 0 : c.get(Convert.I32, cOffset + 4L * j);
            c.set(Convert.I32, cOffset + 4L * j, before + sum);
        }
    }

    @Override
    public String tier() {
        return packed != null ? "exact f32 gemm, packed" : "exact f32 gemm, packing";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
