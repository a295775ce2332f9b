package dev.tenon.cpu.norm;

import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Softmax or its logarithm of f64 over an axis that is not the last: tiles of columns, row by row. */
final class DoubleSoftmaxStep implements CpuStep, RangeTask {
    private static final ValueLayout.OfDouble F64 = Convert.F64;
    private static final int COLUMNS = 512;
    private static final long SUM_AT = 8L * COLUMNS;

    private final long outer;
    private final long size;
    private final long inner;
    private final boolean log;
    private final int input;
    private final int output;
    private final long tiles;

    DoubleSoftmaxStep(long outer, long size, long inner, boolean log, int input, int output) {
        this.outer = outer;
        this.size = size;
        this.inner = inner;
        this.log = log;
        this.input = input;
        this.output = output;
        this.tiles = Math.ceilDiv(inner, COLUMNS);
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(this, outer * tiles, Math.max(1, 2048 / Math.max(1, size * Math.min(inner, COLUMNS))));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        MemorySegment found = frame.workspace(worker);
        for (long unit = from; unit < to; unit++) {
            long column = unit % tiles * COLUMNS;
            long first = unit / tiles * size * inner + column;
            int n = (int) Math.min(COLUMNS, inner - column);
            find(x, first, n, found);
            write(x, y, first, n, found);
        }
    }

    private void find(MemorySegment x, long first, int n, MemorySegment found) {
        for (int j = 0; j < n; j++) {
            found.set(F64, 8L * j, Double.NEGATIVE_INFINITY);
            found.set(F64, SUM_AT + 8L * j, 0);
        }
        for (long i = 0; i < size; i++) {
            long at = 8 * (first + i * inner);
            for (int j = 0; j < n; j++) {
                found.set(F64, 8L * j, Math.max(found.get(F64, 8L * j), x.get(F64, at + 8L * j)));
            }
        }
        for (long i = 0; i < size; i++) {
            long at = 8 * (first + i * inner);
            for (int j = 0; j < n; j++) {
                double e = Math.exp(x.get(F64, at + 8L * j) - found.get(F64, 8L * j));
                found.set(F64, SUM_AT + 8L * j, found.get(F64, SUM_AT + 8L * j) + e);
            }
        }
    }

    private void write(MemorySegment x, MemorySegment y, long first, int n, MemorySegment found) {
        for (int j = 0; log && j < n; j++) {
            found.set(F64, SUM_AT + 8L * j, Math.log(found.get(F64, SUM_AT + 8L * j)));
        }
        for (long i = 0; i < size; i++) {
            long at = 8 * (first + i * inner);
            for (int j = 0; j < n; j++) {
                double difference = x.get(F64, at + 8L * j) - found.get(F64, 8L * j);
                double sum = found.get(F64, SUM_AT + 8L * j);
                y.set(F64, at + 8L * j, log ? difference - sum : Math.exp(difference) / sum);
            }
        }
    }

    @Override
    public String tier() {
        return "f64 loops";
    }

    @Override
    public long workspaceBytes() {
        return 2 * SUM_AT;
    }
}
