package dev.tenon.cuda.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.schedule.StepUse.Span;
import dev.tenon.cuda.schedule.StreamSchedule.Entry;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StreamScheduleTest {
    private static final double COST = 10;

    private static Span at(long unit) {
        return new Span(0, unit * 64, unit * 64 + 64);
    }

    private static StepUse step(List<Span> reads, Span... writes) {
        return new StepUse(COST, reads, List.of(writes));
    }

    @Test
    void chainStaysOnOneStream() {
        StreamSchedule schedule = StreamSchedule.of(
                List.of(step(List.of(), at(0)), step(List.of(at(0)), at(1)), step(List.of(at(1)), at(0))), 4);
        assertThat(schedule.streams()).isEqualTo(1);
        assertThat(schedule.joins()).isEmpty();
        assertThat(schedule.entries()).allMatch(entry -> entry.waits().isEmpty());
    }

    @Test
    void branchesForkAndJoin() {
        List<StepUse> steps = List.of(
                step(List.of(at(9)), at(0)),
                step(List.of(at(0)), at(1)),
                step(List.of(at(0)), at(2)),
                step(List.of(at(1), at(2)), at(3)));
        StreamSchedule schedule = StreamSchedule.of(steps, 4);
        assertThat(schedule.streams()).isEqualTo(2);
        assertThat(schedule.entries())
                .containsExactly(
                        new Entry(0, 0, List.of()),
                        new Entry(1, 0, List.of()),
                        new Entry(2, 1, List.of(0)),
                        new Entry(3, 1, List.of(1)));
        assertThat(schedule.joins()).containsExactly(3);
    }

    @Test
    void independentStepsWaitForTheStartAndAreJoined() {
        StreamSchedule schedule = StreamSchedule.of(
                List.of(step(List.of(at(9)), at(0)), step(List.of(at(9)), at(1)), step(List.of(at(9)), at(2))), 3);
        assertThat(schedule.streams()).isEqualTo(3);
        assertThat(schedule.entries())
                .extracting(Entry::waits)
                .containsExactly(List.of(), List.of(StreamSchedule.START), List.of(StreamSchedule.START));
        assertThat(schedule.joins()).containsExactlyInAnyOrder(1, 2);
        assertThat(schedule.marks()).isEqualTo(3);
        assertThat(List.of(schedule.mark(StreamSchedule.START), schedule.mark(1), schedule.mark(2)))
                .containsExactlyInAnyOrder(0, 1, 2);
        assertThat(schedule.mark(0)).isNegative();
    }

    @Test
    void reusedMemoryOrdersSteps() {
        // step 2 writes over what step 1 reads, and step 3 over what step 0 has written
        List<StepUse> steps = List.of(
                step(List.of(), at(0)),
                step(List.of(at(0)), at(1)),
                step(List.of(), at(0)),
                step(List.of(), new Span(0, 32, 96)));
        assertThat(Dependencies.of(steps)).isDeepEqualTo(new int[][] {{}, {0}, {0, 1}, {1, 2}});
    }

    @Test
    void otherMemoriesAndEmptySpansOrderNothing() {
        List<StepUse> steps = List.of(
                step(List.of(), new Span(0, 0, 64)),
                step(List.of(), new Span(1, 0, 64)),
                step(List.of(), new Span(0, 32, 32)));
        assertThat(Dependencies.of(steps)).isDeepEqualTo(new int[][] {{}, {}, {}});
    }

    @Test
    void longestWayGoesFirst() {
        List<StepUse> steps = List.of(
                new StepUse(5, List.of(), List.of(at(0))),
                new StepUse(50, List.of(), List.of(at(1))),
                new StepUse(5, List.of(at(0)), List.of(at(2))));
        List<Integer> order =
                StreamSchedule.of(steps, 2).entries().stream().map(Entry::step).toList();
        assertThat(order).containsExactly(1, 0, 2);
    }

    /** Every dependency, counted pair by pair, is kept by streams and waits; no wait follows from the others. */
    @Test
    void drawnStepsKeepTheirDependenciesAndHaveNoWaitTooMany() {
        Random random = new Random(18);
        for (int round = 0; round < 400; round++) {
            List<StepUse> steps = drawn(random, 1 + random.nextInt(40));
            StreamSchedule schedule = StreamSchedule.of(steps, 1 + random.nextInt(5));
            List<Entry> entries = schedule.entries();
            assertThat(entries)
                    .extracting(Entry::step)
                    .containsExactlyInAnyOrderElementsOf(
                            IntStream.range(0, steps.size()).boxed().toList());
            Map<Integer, BitSet> behind = behind(entries, -2, -2);
            for (int late = 0; late < steps.size(); late++) {
                for (int early = 0; early < late; early++) {
                    if (conflict(steps.get(early), steps.get(late))) {
                        assertThat(behind.get(late).get(early + 1))
                                .as("round %d: %d after %d in %s", round, late, early, entries)
                                .isTrue();
                    }
                }
                assertThat(behind.get(late).get(0)).isTrue();
            }
            for (Entry entry : entries) {
                for (int wait : entry.waits()) {
                    BitSet others = behind(entries, entry.step(), wait).get(entry.step());
                    assertThat(others.get(wait + 1))
                            .as("round %d: %s without %d in %s", round, entry, wait, entries)
                            .isFalse();
                }
            }
        }
    }

    private static boolean conflict(StepUse early, StepUse late) {
        return meet(early.writes(), late.writes())
                || meet(early.writes(), late.reads())
                || meet(early.reads(), late.writes());
    }

    private static boolean meet(List<Span> some, List<Span> others) {
        return some.stream().anyMatch(span -> others.stream().anyMatch(span::meets));
    }

    /** By step, the steps (+ 1, the start is 0) that it certainly runs behind, where one wait is left out. */
    private static Map<Integer, BitSet> behind(List<Entry> entries, int without, int wait) {
        Map<Integer, BitSet> behind = new HashMap<>();
        Map<Integer, Integer> last = new HashMap<>();
        for (Entry entry : entries) {
            BitSet set = new BitSet();
            if (entry.stream() == 0) {
                set.set(0);
            }
            List<Integer> earlier = new ArrayList<>(entry.waits());
            if (entry.step() == without) {
                earlier.remove(Integer.valueOf(wait));
            }
            Integer before = last.put(entry.stream(), entry.step());
            if (before != null) {
                earlier.add(before);
            }
            for (int one : earlier) {
                set.set(one + 1);
                if (one != StreamSchedule.START) {
                    set.or(behind.get(one));
                }
            }
            behind.put(entry.step(), set);
        }
        return behind;
    }

    private static List<StepUse> drawn(Random random, int count) {
        List<StepUse> steps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            steps.add(new StepUse(1 + random.nextInt(20), spans(random, 3), spans(random, 2)));
        }
        return steps;
    }

    private static List<Span> spans(Random random, int most) {
        List<Span> spans = new ArrayList<>();
        for (int i = random.nextInt(most + 1); i > 0; i--) {
            long from = random.nextInt(30);
            spans.add(new Span(random.nextInt(2), from, from + random.nextInt(6)));
        }
        return spans;
    }
}
