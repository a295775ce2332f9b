package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.cpu.loops.Gemm;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Start;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The products of an f32 recurrent layer through the matrix kernel; weights that are constants are packed once. */
final class GemmRecurrentProducts implements RecurrentProducts {
    private final RecurrentShape shape;
    private final List<RecurrentCell.Part> parts;
    private final Loops loops = Loops.current();
    /**
     * All directions' packed input weights, and recurrent weights, the parts of a direction one after another; empty
     * where they are packed anew each run.
     */
    private final MemorySegment preparedW;

    private final MemorySegment preparedR;

    GemmRecurrentProducts(RecurrentShape shape, List<RecurrentCell.Part> parts, Node node, CpuLoweringContext context) {
        this.shape = shape;
        this.parts = parts;
        this.preparedW = prepared(node.input(1), context, "recurrent input panels", packedW(), this::packW);
        this.preparedR = prepared(node.input(2), context, "recurrent state panels " + parts, packedR(), this::packR);
    }

    /** Packs one direction. */
    private interface Packing {
        void pack(MemorySegment from, int direction, MemorySegment to, long toOffset);
    }

    private MemorySegment prepared(
            Value weights, CpuLoweringContext context, String layout, long bytes, Packing packing) {
        if (!(weights.constant() instanceof ConstantData.Dense dense)) {
            return MemorySegment.NULL;
        }
        return context.prepared(
                dense,
                layout,
                _ -> new CpuLoweringContext.Prepared(bytes * shape.directions(), to -> {
                    for (int d = 0; d < shape.directions(); d++) {
                        packing.pack(dense.segment(), d, to, bytes * d);
                    }
                }));
    }

    private long packedW() {
        return Gemm.packedBytes(shape.features(), shape.rows());
    }

    private long packedR() {
        long bytes = 0;
        for (RecurrentCell.Part part : parts) {
            bytes += packedPart(part);
        }
        return bytes;
    }

    private long packedPart(RecurrentCell.Part part) {
        return Gemm.packedBytes(shape.hidden(), part.to() - part.from());
    }

    private void packW(MemorySegment from, int direction, MemorySegment to, long toOffset) {
        long first = 4L * direction * shape.rows() * shape.features();
        Gemm.pack(from, first, 1, shape.features(), shape.features(), shape.rows(), to, toOffset);
    }

    private void packR(MemorySegment from, int direction, MemorySegment to, long toOffset) {
        long at = toOffset;
        for (RecurrentCell.Part part : parts) {
            long first = 4L * ((long) direction * shape.rows() + part.from()) * shape.hidden();
            Gemm.pack(from, first, 1, shape.hidden(), shape.hidden(), part.to() - part.from(), to, at);
            at += packedPart(part);
        }
    }

    @Override
    public String tier() {
        return "gemm, " + loops.tier();
    }

    @Override
    public long workspaceBytes() {
        return Gemm.EDGE_BYTES
                + (preparedW.byteSize() == 0 ? packedW() : 0)
                + (preparedR.byteSize() == 0 ? packedR() : 0);
    }

    @Override
    public void prepare(CpuFrame frame, RecurrentUnit unit) {
        long at = unit.own() + Gemm.EDGE_BYTES;
        if (preparedW.byteSize() == 0) {
            packW(frame.at(shape.w()), unit.direction(), unit.memory(), at);
            at += packedW();
        }
        if (preparedR.byteSize() == 0) {
            packR(frame.at(shape.r()), unit.direction(), unit.memory(), at);
        }
    }

    @Override
    public void project(CpuFrame frame, RecurrentUnit unit, Rows x, long bias, long to, long toStride) {
        MemorySegment memory = unit.memory();
        boolean once = preparedW.byteSize() != 0;
        long step = Gemm.panelBytes(shape.features());
        Matrix panels = once
                ? new Matrix(preparedW, packedW() * unit.direction(), step)
                : new Matrix(memory, unit.own() + Gemm.EDGE_BYTES, step);
        Gemm.multiply(
                loops,
                new Gemm.Size(x.count(), shape.rows(), shape.features()),
                new Matrix(frame.at(shape.x()), x.first() * 4, x.stride() * 4),
                panels,
                new Matrix(memory, to, toStride * 4),
                Start.bias(memory, bias),
                new Place(memory, unit.own()));
    }

    @Override
    public void recur(
            CpuFrame frame,
            RecurrentUnit unit,
            RecurrentCell.Part part,
            long states,
            boolean add,
            long to,
            long toStride) {
        MemorySegment memory = unit.memory();
        boolean once = preparedR.byteSize() != 0;
        long packed = once
                ? packedR() * unit.direction()
                : unit.own() + Gemm.EDGE_BYTES + (preparedW.byteSize() == 0 ? packedW() : 0);
        for (RecurrentCell.Part before : parts) {
            if (before.equals(part)) {
                break;
            }
            packed += packedPart(before);
        }
        Gemm.multiply(
                loops,
                new Gemm.Size(unit.count(), part.to() - part.from(), shape.hidden()),
                new Matrix(memory, states, 4L * shape.hidden()),
                new Matrix(once ? preparedR : memory, packed, Gemm.panelBytes(shape.hidden())),
                new Matrix(memory, to, toStride * 4),
                add ? Start.RESULT : Start.ZERO,
                new Place(memory, unit.own()));
    }
}
