package dev.tenon.cpu.image;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.WindowLoops;
import dev.tenon.cpu.machine.BlendKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Resampling of f32, its lines in f32 too. */
final class ResizeF32Step extends ResizeStep {
    /** From so many neighbours on, which share their taps, machine code is faster than a loop over elements. */
    private static final int WIDE = 4;

    /** From so many on, loops over them are worth a call. */
    private static final int VERY_WIDE = 32;

    /** Of a thread: a line that is read, and one that is made. */
    private static final ThreadLocal<float[][]> LINES = ThreadLocal.withInitial(() -> new float[2][0]);

    private final Loops loops = Loops.current();
    /** The taps within a line of neighbours that share them, or null. */
    private final BlendKernel.@Nullable Taps rows;

    ResizeF32Step(Resize op, @Nullable AxisTaps[] taps, Node node, CpuLoweringContext context) {
        super("weighted f32 lines, " + Loops.current().tier(), op, taps, node, context);
        rows = inner != null && block >= WIDE && MachineLoops.available() ? inner.rows(block) : null;
    }

    @Override
    void add(MemorySegment source, long offset, long count, double weight, boolean first, MemorySegment line) {
        if (first) {
            loops.affine(source, offset * 4, line, 0, (float) weight, 0, (int) count);
        } else {
            WindowLoops.current().multiplyAdd(source, offset * 4, (float) weight, line, 0, (int) count);
        }
    }

    @Override
    void store(MemorySegment line, boolean inside, long count, MemorySegment target, long to) {
        if (inside) {
            Raw.copy(line, 0, target, to * 4, count * 4);
        } else {
            loops.fill(target, to * 4, (float) extrapolation, (int) count);
        }
    }

    @Override
    void resample(MemorySegment line, boolean inside, AxisTaps taps, MemorySegment target, long to) {
        if (!inside) {
            loops.fill(target, to * 4, (float) extrapolation, taps.size() * (int) block);
            return;
        }
        int width = (int) block;
        if (rows != null
                && MachineLoops.blend(rows, width, new Place(line, 0), new Matrix(target, to * 4, width * 4L))) {
            extrapolate(taps, target, to);
            return;
        }
        if (width < WIDE) {
            narrow(line, taps, target, to);
            return;
        }
        for (int element = 0; element < taps.size(); element++) {
            int first = taps.first(element);
            int count = taps.count(element);
            long at = (to + (long) element * width) * 4;
            if (width >= VERY_WIDE && count > 0) {
                for (int tap = first; tap < first + count; tap++) {
                    long from = 4L * taps.index(tap) * width;
                    if (tap == first) {
                        loops.affine(line, from, target, at, taps.weightF32(tap), 0, width);
                    } else {
                        WindowLoops.current().multiplyAdd(line, from, taps.weightF32(tap), target, at, width);
                    }
                }
                continue;
            }
            for (int i = 0; i < width; i++) {
                float sum = count == 0 ? (float) extrapolation : 0;
                for (int tap = first; tap < first + count; tap++) {
                    sum += taps.weightF32(tap) * line.get(Raw.F32, 4L * ((long) taps.index(tap) * width + i));
                }
                target.set(Raw.F32, at + 4L * i, sum);
            }
        }
    }

    /** Rows of few floats, by way of arrays: each access to memory would be checked. */
    private void narrow(MemorySegment line, AxisTaps taps, MemorySegment target, long to) {
        float[][] lines = LINES.get();
        int count = taps.size() * (int) block;
        if (lines[0].length < lineIn || lines[1].length < count) {
            lines[0] = new float[(int) lineIn];
            lines[1] = new float[count];
        }
        MemorySegment.copy(line, Raw.F32, 0, lines[0], 0, (int) lineIn);
        taps.sum(lines[0], lines[1], (float) extrapolation, (int) block);
        MemorySegment.copy(lines[1], 0, target, Raw.F32, to * 4, count);
    }

    /** Fills the elements that have no taps. */
    private void extrapolate(AxisTaps taps, MemorySegment target, long to) {
        for (int element = 0; element < taps.size(); element++) {
            if (taps.count(element) == 0) {
                loops.fill(target, (to + element * block) * 4, (float) extrapolation, (int) block);
            }
        }
    }
}
