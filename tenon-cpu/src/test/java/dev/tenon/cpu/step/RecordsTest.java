package dev.tenon.cpu.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a worker names memory by is made once, but for inputs and outputs. */
class RecordsTest {
    private static CpuFrame frame(WorkerPool pool, MemorySegment... slots) {
        return new CpuFrame(slots, new MemorySegment[] {MemorySegment.NULL}, pool);
    }

    @Test
    void thousandsAreKeptAndSayWhatWasAskedFor() {
        try (WorkerPool pool = new WorkerPool(1);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(1 << 16);
            MemorySegment twin = arena.allocate(1 << 16);
            Records records = frame(pool, memory, twin).records(0);
            int kept = 0;
            List<Matrix> before = new ArrayList<>();
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 1000; i++) {
                    MemorySegment of = i % 2 == 0 ? memory : twin;
                    Matrix matrix = records.matrix(of, 4L * i, i % 7);
                    assertThat(matrix).isEqualTo(new Matrix(of, 4L * i, i % 7));
                    assertThat(matrix.memory().address()).isEqualTo(of.address());
                    if (round == 18) {
                        before.add(matrix);
                    } else if (round == 19 && before.get(i) == matrix) {
                        kept++;
                    }
                    assertThat(records.place(of, 4L * i).offset()).isEqualTo(4L * i);
                }
            }
            assertThat(kept).isGreaterThan(980);
        }
    }

    @Test
    void aLargerValueAtTheSamePlaceIsAnother() {
        try (WorkerPool pool = new WorkerPool(1);
                Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(64);
            MemorySegment part = all.asSlice(0, 16);
            Records records = frame(pool, part, all).records(0);
            assertThat(records.matrix(part, 0, 0).memory().byteSize()).isEqualTo(16);
            assertThat(records.matrix(all, 0, 0).memory().byteSize()).isEqualTo(64);
            assertThat(records.matrix(part, 0, 0).memory().byteSize()).isEqualTo(16);
            assertThat(records.place(part, 0).memory().byteSize()).isEqualTo(16);
            assertThat(records.place(all, 0).memory().byteSize()).isEqualTo(64);
            assertThat(Records.same(all, all.asReadOnly())).isFalse();
            assertThat(Records.same(all, all.asSlice(0))).isTrue();
        }
    }

    @Test
    void inputsAndOutputsAreNotKept() {
        try (WorkerPool pool = new WorkerPool(1);
                Arena arena = Arena.ofConfined()) {
            MemorySegment inside = arena.allocate(64);
            MemorySegment given = arena.allocate(64);
            CpuFrame frame = frame(pool, inside, MemorySegment.NULL);
            frame.bind(1, given);
            Records records = frame.records(0);
            assertThat(records.matrix(inside, 0, 0)).isSameAs(records.matrix(inside, 0, 0));
            assertThat(records.matrix(given, 0, 0)).isNotSameAs(records.matrix(given, 0, 0));
            assertThat(records.place(given, 0)).isNotSameAs(records.place(given, 0));
            assertThat(records.lasts(given)).isFalse();
            assertThat(records.lasts(inside)).isTrue();
        }
    }
}
