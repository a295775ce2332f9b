package dev.tenon.cpu.image;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Resampling by weighted sums, a line at a time: the input lines that a line of the result is made of are added up in
 * workspace, then the last resampled axis is taken within that line. Where many elements lie behind the last resampled
 * axis they are the line, and nothing is left to do within it.
 */
class ResizeStep extends LoopStep {
    /** Elements behind the last resampled axis from which on they make lines of their own. */
    private static final long LONG_BLOCK = 512;

    private static final long CHUNK = 4096;

    private final DType dtype;
    final double extrapolation;
    /** The axes before the line, with the input's stride each; no taps where they are copied as they are. */
    private final @Nullable AxisTaps[] outer;

    private final long[] sizes;
    private final long[] strides;
    /** The axis within the line, or null. */
    final @Nullable AxisTaps inner;

    final long block;
    final long lineIn;
    private final long lineOut;
    private final long chunks;
    private final int input;
    private final int output;

    ResizeStep(Resize op, @Nullable AxisTaps[] taps, Node node, CpuLoweringContext context) {
        this("weighted lines", op, taps, node, context);
    }

    ResizeStep(String tier, Resize op, @Nullable AxisTaps[] taps, Node node, CpuLoweringContext context) {
        Shape from = node.input(0).shape();
        Shape to = node.output().shape();
        int last = taps.length - 1;
        while (last >= 0 && taps[last] == null) {
            last--;
        }
        long block = to.elements(last + 1, to.rank());
        boolean within = last >= 0 && block < LONG_BLOCK;
        int before = within ? last : last + 1;
        long lineIn = within ? SizeMath.product("resize", from.size(last), block) : Math.min(block, CHUNK);
        long lineOut = within ? SizeMath.product("resize", to.size(last), block) : lineIn;
        long chunks = within ? 1 : Math.ceilDiv(block, Math.max(1, lineIn));
        super(
                tier,
                to.elements() == 0 ? 0 : SizeMath.product("resize", to.elements(0, before), chunks),
                4 * (lineIn + lineOut));
        this.dtype = node.output().dtype();
        this.extrapolation = op.extrapolation();
        this.outer = java.util.Arrays.copyOf(taps, before);
        this.sizes = to.range(0, before).sizes();
        this.strides = java.util.Arrays.copyOf(from.strides(), before);
        this.inner = within ? taps[last] : null;
        this.block = block;
        this.lineIn = lineIn;
        this.lineOut = lineOut;
        this.chunks = chunks;
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    @Override
    public long workspaceBytes() {
        return lineIn * 8;
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        MemorySegment line = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            long row = unit / chunks;
            long first = unit % chunks * lineIn;
            if (inner != null) {
                boolean inside = gather(source, row, 0, lineIn, line);
                resample(line, inside, inner, target, row * lineOut);
            } else {
                long count = Math.min(lineIn, block - first);
                boolean inside = gather(source, row, first, count, line);
                store(line, inside, count, target, row * block + first);
            }
        }
    }

    /** Adds up the input lines of a row in workspace; false where the row is extrapolated. */
    private boolean gather(MemorySegment source, long row, long first, long count, MemorySegment line) {
        long combinations = 1;
        long rest = row;
        for (int i = outer.length - 1; i >= 0; i--) {
            AxisTaps taps = outer[i];
            combinations *= taps == null ? 1 : taps.count((int) (rest % sizes[i]));
            rest /= sizes[i];
        }
        for (long combination = 0; combination < combinations; combination++) {
            long offset = first;
            double weight = 1;
            long choice = combination;
            rest = row;
            for (int i = outer.length - 1; i >= 0; i--) {
                AxisTaps taps = outer[i];
                long index = rest % sizes[i];
                rest /= sizes[i];
                if (taps != null) {
                    int count0 = taps.count((int) index);
                    int tap = taps.first((int) index) + (int) (choice % count0);
                    choice /= count0;
                    weight *= taps.weight(tap);
                    index = taps.index(tap);
                }
                offset += index * strides[i];
            }
            add(source, offset, count, weight, combination == 0, line);
        }
        return combinations > 0;
    }

    /** Adds an input line by its weight to the line in workspace, or starts it. */
    void add(MemorySegment source, long offset, long count, double weight, boolean first, MemorySegment line) {
        for (long i = 0; i < count; i++) {
            double value = weight * Elements.getDouble(dtype, source, offset + i);
            line.set(Raw.F64, i * 8, first ? value : line.get(Raw.F64, i * 8) + value);
        }
    }

    /** Writes the line as it is; the extrapolation value where it is not {@code inside}. */
    void store(MemorySegment line, boolean inside, long count, MemorySegment target, long to) {
        for (long i = 0; i < count; i++) {
            double value = inside ? line.get(Raw.F64, i * 8) : extrapolation;
            Elements.setDouble(dtype, target, to + i, value);
        }
    }

    /** Writes the line resampled. */
    void resample(MemorySegment line, boolean inside, AxisTaps taps, MemorySegment target, long to) {
        for (int element = 0; element < taps.size(); element++) {
            int firstTap = taps.first(element);
            int count = taps.count(element);
            for (long i = 0; i < block; i++) {
                double sum = inside && count > 0 ? 0 : extrapolation;
                for (int tap = firstTap; inside && tap < firstTap + count; tap++) {
                    sum += taps.weight(tap) * line.get(Raw.F64, (taps.index(tap) * block + i) * 8);
                }
                Elements.setDouble(dtype, target, to + element * block + i, sum);
            }
        }
    }
}
