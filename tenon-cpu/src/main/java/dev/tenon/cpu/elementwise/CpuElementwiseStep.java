package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import dev.tenon.cpu.step.Registers;
import java.lang.foreign.MemorySegment;

/** Runs a {@link TileProgram} over all elements, tile by tile, tiles in parallel. */
final class CpuElementwiseStep implements CpuStep, RangeTask {
    /** Elements that are worth a piece of work for another thread: some microseconds of it. */
    private static final long GRAIN = 16_384;

    private final TileProgram program;
    private final int[] inputSlots;
    private final int[] outputSlots;
    private final long elements;
    private final long tilesPerRow;

    CpuElementwiseStep(TileProgram program, int[] inputSlots, int[] outputSlots, long elements) {
        this.program = program;
        this.inputSlots = inputSlots;
        this.outputSlots = outputSlots;
        this.elements = elements;
        this.tilesPerRow = Math.ceilDiv(program.broadcast.inner(), program.tile);
    }

    @Override
    public void run(CpuFrame frame) {
        if (elements == 0) {
            return;
        }
        long tiles = program.byRow
                ? elements / program.broadcast.inner() * tilesPerRow
                : Math.ceilDiv(elements, program.tile);
        frame.parallel(this, tiles, Math.max(1, GRAIN / program.tile));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Loops loops = Loops.current();
        Registers registers = frame.registers(worker);
        registers.ensure(program.types.length);
        place(frame, worker, registers);
        for (long t = from; t < to; t++) {
            long start;
            long end;
            if (program.byRow) {
                long inner = program.broadcast.inner();
                long row = t / tilesPerRow * inner;
                start = row + t % tilesPerRow * program.tile;
                end = Math.min(start + program.tile, row + inner);
            } else {
                start = t * program.tile;
                end = Math.min(start + program.tile, elements);
            }
            tile(frame, loops, registers, start, (int) (end - start));
        }
    }

    /** Buffers, and what is in them for all tiles. */
    private void place(CpuFrame frame, int worker, Registers registers) {
        MemorySegment workspace = frame.workspace(worker);
        for (int value = 0; value < program.types.length; value++) {
            switch (program.homes[value]) {
                case BUFFER, SPLAT -> {
                    registers.segments[value] = workspace;
                    registers.offsets[value] = (long) program.buffers[value] * program.bufferBytes();
                }
                case MEMORY ->
                    registers.segments[value] = value < program.inputs
                            ? frame.at(inputSlots[value])
                            : frame.at(outputSlots[program.resultIndex(value)]);
                case UNUSED -> registers.segments[value] = MemorySegment.NULL;
            }
            if (program.homes[value] == TileProgram.Home.SPLAT) {
                DType dtype = program.types[value];
                long offset = registers.offsets[value];
                int period = program.period(value);
                Convert.load(dtype, frame.at(inputSlots[value]), 0, workspace, offset, period);
                repeat(dtype, workspace, offset, period, program.tile);
            }
        }
    }

    private void tile(CpuFrame frame, Loops loops, Registers registers, long start, int n) {
        long[] offsets = registers.offsets;
        for (int value = 0; value < program.inputs; value++) {
            switch (program.homes[value]) {
                case MEMORY ->
                    offsets[value] = TileKind.of(program.types[value]).bytes()
                            * (program.byRow ? program.broadcast.at(value, start) : start);
                case BUFFER -> gather(frame, registers, value, start, n);
                case SPLAT, UNUSED -> {}
            }
        }
        TileOp[] ops = program.ops;
        int[] arguments = program.arguments;
        for (int i = 0; i < ops.length; i++) {
            if (!program.live[i]) {
                continue;
            }
            int y = program.inputs + i;
            if (program.homes[y] == TileProgram.Home.MEMORY) {
                offsets[y] = TileKind.of(program.types[y]).bytes() * start;
            }
            ops[i].run(loops, registers, arguments[3 * i], arguments[3 * i + 1], arguments[3 * i + 2], y, n);
        }
        store(frame, registers, start, n);
    }

    /**
     * Outputs that are not where their instruction wrote them: of another width, or the same value as an output before.
     */
    private void store(CpuFrame frame, Registers registers, long start, int n) {
        for (int r = 0; r < outputSlots.length; r++) {
            int value = program.results[r];
            if (program.homes[value] != TileProgram.Home.MEMORY || program.resultIndex(value) != r) {
                Convert.store(
                        program.types[value],
                        registers.segments[value],
                        registers.offsets[value],
                        frame.at(outputSlots[r]),
                        start,
                        n);
            }
        }
    }

    /** Fills an input's buffer with the elements that n elements of the result read. */
    private void gather(CpuFrame frame, Registers registers, int value, long start, int n) {
        DType dtype = program.types[value];
        MemorySegment from = frame.at(inputSlots[value]);
        MemorySegment to = registers.segments[value];
        long offset = registers.offsets[value];
        if (program.broadcast.isWhole(value)) {
            Convert.load(dtype, from, start, to, offset, n);
            return;
        }
        int width = TileKind.of(dtype).bytes();
        long inner = program.broadcast.inner();
        long stride = program.broadcast.innerStride(value);
        int done = 0;
        while (done < n) {
            long position = start + done;
            int run = (int) Math.min(n - done, inner - position % inner);
            long element = program.broadcast.at(value, position);
            if (stride == 0) {
                Convert.load(dtype, from, element, to, offset + (long) done * width, 1);
                repeat(dtype, to, offset + (long) done * width, 1, run);
            } else {
                Convert.load(dtype, from, element, to, offset + (long) done * width, run);
            }
            done += run;
        }
    }

    /** Copies the first elements of a tile over the rest of n: twice as many each time. */
    private static void repeat(DType dtype, MemorySegment tile, long offset, int first, int n) {
        long width = TileKind.of(dtype).bytes();
        for (int done = first; done < n; done *= 2) {
            MemorySegment.copy(tile, offset, tile, offset + width * done, width * Math.min(done, n - done));
        }
    }

    @Override
    public String tier() {
        return "tiles";
    }

    @Override
    public long workspaceBytes() {
        return (long) program.bufferCount * program.bufferBytes();
    }
}
