package dev.tenon.cpu.packed;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Products of rows of f32 with a weight in Q8_0, Q4_0 or Q4_K, where {@link PackedPanelStep} does not run: a unit is a
 * row of the weight, which is unpacked in registers. Other formats and short floats are written out row by row ({@link
 * DecodedRowStep}), and f64 as such ({@link WideBlocksStep}).
 */
public final class PackedRowStep extends LoopStep {
    /** Rows of the weight that make a piece: sums of x are made once a piece. */
    private static final long ROWS = 16;

    private final BlockFormat format;
    private final int x;
    private final int w;
    private final int y;
    private final long rows;
    private final long columns;
    private final long depth;
    private final boolean vectors;
    /** The weight in memory that vector loops take; null where it lies in some already. */
    private final @Nullable MemorySegment weight;

    private PackedRowStep(DequantMatMul op, Node node, CpuLoweringContext context) {
        Shape shape = node.input(0).shape();
        long depth = shape.size(shape.rank() - 1);
        long rows = shape.elements(0, shape.rank() - 1);
        boolean vectors = Vectors.available() && VectorPacked.fits();
        super(
                "packed " + op.format() + (vectors ? ", vectors" : ", scalar"),
                node.input(1).shape().size(0),
                SizeMath.product("dequant_matmul", depth, rows));
        this.format = op.format();
        this.vectors = vectors;
        this.depth = depth;
        this.rows = rows;
        this.columns = node.input(1).shape().size(0);
        this.x = context.slot(node.input(0));
        this.w = context.slot(node.input(1));
        this.y = context.slot(node.output());
        this.weight = vectors ? prepared(node.input(1).constant(), context) : null;
    }

    /** The step of a product. */
    public static CpuStep lower(DequantMatMul op, Node node, CpuLoweringContext context) {
        boolean has =
                op.format() == BlockFormat.Q8_0 || op.format() == BlockFormat.Q4_0 || op.format() == BlockFormat.Q4_K;
        if (has && node.output().dtype() == DType.F32) {
            CpuStep panels = PackedPanelStep.lower(op, node, context);
            return panels != null ? panels : new PackedRowStep(op, node, context);
        }
        return TileKind.of(node.output().dtype()) == TileKind.FLOAT
                ? new DecodedRowStep(op, node, context)
                : new WideBlocksStep(op, node, context);
    }

    /** Vector loops do not take mapped memory. */
    private static @Nullable MemorySegment prepared(@Nullable ConstantData data, CpuLoweringContext context) {
        return data instanceof ConstantData.Dense(var type, MemorySegment segment, var _)
                        && !Segments.isNative(segment)
                        && type.bytes() > 0
                ? context.prepared(
                        data,
                        "bytes",
                        _ -> new CpuLoweringContext.Prepared(segment.byteSize(), to -> to.copyFrom(segment)))
                : null;
    }

    @Override
    public long workspaceBytes() {
        return format == BlockFormat.Q4_K ? rows * (depth / 32) * Float.BYTES : 0;
    }

    @Override
    protected long leastUnits() {
        return ROWS;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment in = frame.at(x);
        MemorySegment packed = weight == null ? frame.at(w) : weight;
        MemorySegment out = frame.at(y);
        MemorySegment sums = frame.workspace(worker);
        if (format == BlockFormat.Q4_K) {
            PackedLoops.sums(in, 0, sums, 0, rows * (depth / 32));
        }
        boolean fast = isFast(format, in, packed);
        long blocks = depth / format.elements();
        for (long column = from; column < to; column++) {
            long at = column * blocks * format.bytes();
            for (long row = 0; row < rows; row++) {
                Place given = new Place(in, row * depth * Float.BYTES);
                long sumsAt = row * (depth / 32) * Float.BYTES;
                float dot = dot(format, fast, new Place(packed, at), given, sums, sumsAt, blocks);
                out.set(Raw.F32, (row * columns + column) * Float.BYTES, dot);
            }
        }
    }

    /** Whether vector loops are there, and take such memory. */
    static boolean isFast(BlockFormat format, MemorySegment in, MemorySegment packed) {
        if (!Vectors.available() || !VectorPacked.fits() || !Segments.isNative(in) || !Segments.isNative(packed)) {
            return false;
        }
        PackedHotLoops loops = PackedHotLoops.get();
        return switch (format) {
            case Q8_0 -> loops.q8.ready();
            case Q4_0 -> loops.q4.ready();
            default -> loops.q4k.ready();
        };
    }

    /** A row of x times one of the weight; of Q4_K {@code sums} has those of each 32 elements of x. */
    static float dot(
            BlockFormat format, boolean fast, Place w, Place in, MemorySegment sums, long sumsAt, long blocks) {
        MemorySegment packed = w.memory();
        long at = w.offset();
        MemorySegment x = in.memory();
        long xAt = in.offset();
        float dot = switch (format) {
            case Q8_0 ->
                fast ? VectorPacked.q8(packed, at, x, xAt, blocks) : PackedLoops.q8(packed, at, x, xAt, blocks);
            case Q4_0 ->
                fast ? VectorPacked.q4(packed, at, x, xAt, blocks) : PackedLoops.q4(packed, at, x, xAt, blocks);
            default ->
                fast
                        ? VectorPacked.q4k(packed, at, x, xAt, sums, sumsAt, blocks)
                        : PackedLoops.q4k(packed, at, x, xAt, sums, sumsAt, blocks);
        };
        return Float.isFinite(dot) ? dot : PackedLoops.inFull(format, packed, at, x, xAt, blocks);
    }

    @Override
    public List<String> passedOver() {
        return vectors ? List.of() : List.of("vectors: the Vector API is absent, or its vectors hold 4 numbers");
    }
}
