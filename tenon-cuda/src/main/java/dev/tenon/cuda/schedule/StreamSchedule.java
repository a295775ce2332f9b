package dev.tenon.cuda.schedule;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.Stream;

/**
 * Says in which order steps are enqueued, on which stream each runs, and which steps of other streams it waits for.
 * Stream 0 is that of the session: the others begin behind what it has done before, and it ends behind all of them.
 * Immutable.
 *
 * <p>The method is list scheduling by critical path: of the steps that are ready, the one with the longest way to the
 * end goes next, on the stream where it can start first. A wait that follows from others is left out.
 */
public final class StreamSchedule {
    /** Stands for what stream 0 has done before the first step. */
    public static final int START = -1;

    /** Predicted microseconds that a wait for another stream takes. */
    private static final double CROSSING = 1.5;

    /**
     * A step in the order of enqueuing.
     *
     * @param step the number of the step
     * @param stream where it runs
     * @param waits steps of other streams that it waits for, {@link #START} among them
     */
    public record Entry(int step, int stream, List<Integer> waits) {
        public Entry {
            waits = List.copyOf(waits);
        }
    }

    private final List<Entry> entries;
    private final List<Integer> joins;
    private final int streams;
    /** The numbers of the marks of steps that others wait for. */
    private final Map<Integer, Integer> marks = new HashMap<>();

    private StreamSchedule(List<Entry> entries, List<Integer> joins) {
        this.entries = List.copyOf(entries);
        this.joins = List.copyOf(joins);
        this.streams = 1 + entries.stream().mapToInt(Entry::stream).max().orElse(0);
        Stream.concat(entries.stream().flatMap(entry -> entry.waits.stream()), joins.stream())
                .forEach(step -> marks.putIfAbsent(step, marks.size()));
    }

    /**
     * Makes the schedule of steps that are given in an order in which they could run one by one.
     *
     * @param most how many streams there are, 1 or more
     */
    public static StreamSchedule of(List<StepUse> steps, int most) {
        return most == 1 ? inOrder(steps.size()) : new Maker(steps, Dependencies.of(steps), most).schedule();
    }

    private static StreamSchedule inOrder(int count) {
        List<Entry> entries = new ArrayList<>();
        for (int step = 0; step < count; step++) {
            entries.add(new Entry(step, 0, List.of()));
        }
        return new StreamSchedule(entries, List.of());
    }

    /** Returns the steps in the order of enqueuing, each behind all that it waits for. */
    public List<Entry> entries() {
        return entries;
    }

    /** Returns the steps that stream 0 waits for at the end. */
    public List<Integer> joins() {
        return joins;
    }

    /** Returns how many streams are used, 1 or more. */
    public int streams() {
        return streams;
    }

    /** Returns how many places are waited for: steps, and {@link #START}. */
    public int marks() {
        return marks.size();
    }

    /** Returns the number of the mark behind a step or {@link #START}, from 0; -1 where nothing waits for it. */
    public int mark(int step) {
        return marks.getOrDefault(step, -1);
    }

    /** Makes one schedule. */
    private static final class Maker {
        private final List<StepUse> steps;
        private final int[][] before;
        private final int[][] after;
        /** By step, the predicted time from its start to the end of all. */
        private final double[] way;

        private final int[] stream;
        private final double[] finish;
        /** By stream, when it is free, and its last step. */
        private final double[] free;

        private final int[] last;
        /** By step: of each stream, how many of its steps are known to be done when the step begins. */
        private final int[][] known;

        /** By step, its number among those of its stream, from 1, and among all. */
        private final int[] place;

        private final int[] order;
        /** By stream, how many steps it has. */
        private final int[] count;

        private final List<Entry> entries = new ArrayList<>();

        Maker(List<StepUse> steps, int[][] before, int most) {
            this.steps = steps;
            this.before = before;
            int size = steps.size();
            this.after = turned(before);
            this.way = new double[size];
            this.stream = new int[size];
            this.finish = new double[size];
            this.free = new double[most];
            this.last = new int[most];
            this.known = new int[size][];
            this.place = new int[size];
            this.order = new int[size];
            this.count = new int[most];
            Arrays.fill(last, START);
            for (int step = size - 1; step >= 0; step--) {
                for (int next : after[step]) {
                    way[step] = Math.max(way[step], way[next]);
                }
                way[step] += steps.get(step).cost();
            }
        }

        private static int[][] turned(int[][] before) {
            List<List<Integer>> after = new ArrayList<>();
            for (int step = 0; step < before.length; step++) {
                after.add(new ArrayList<>());
                for (int earlier : before[step]) {
                    after.get(earlier).add(step);
                }
            }
            return after.stream()
                    .map(list -> list.stream().mapToInt(Integer::intValue).toArray())
                    .toArray(int[][]::new);
        }

        StreamSchedule schedule() {
            PriorityQueue<Integer> ready = new PriorityQueue<>(
                    Comparator.comparingDouble((Integer step) -> -way[step]).thenComparingInt(step -> step));
            int[] missing = new int[before.length];
            for (int step = 0; step < missing.length; step++) {
                missing[step] = before[step].length;
                if (missing[step] == 0) {
                    ready.add(step);
                }
            }
            while (!ready.isEmpty()) {
                int step = ready.remove();
                place(step);
                for (int next : after[step]) {
                    if (--missing[next] == 0) {
                        ready.add(next);
                    }
                }
            }
            return new StreamSchedule(entries, joins());
        }

        private void place(int step) {
            int best = 0;
            double start = start(step, 0);
            for (int other = 1; other < free.length; other++) {
                double there = start(step, other);
                if (there < start) {
                    best = other;
                    start = there;
                }
            }
            stream[step] = best;
            finish[step] = start + steps.get(step).cost();
            free[best] = finish[step];
            order[step] = entries.size();
            entries.add(new Entry(step, best, waits(step)));
            last[best] = step;
            place[step] = ++count[best];
        }

        /** When a step could start on a stream; behind a step there that it comes after anyway it needs no wait. */
        private double start(int step, int on) {
            double start = free[on];
            if (on != 0 && last[on] == START) {
                start = CROSSING;
            }
            for (int earlier : before[step]) {
                start = Math.max(start, finish[earlier] + (stream[earlier] == on ? 0 : CROSSING));
            }
            return start;
        }

        /** The waits that do not follow from the stream's order and from each other; notes what is known then. */
        private List<Integer> waits(int step) {
            int on = stream[step];
            int[] now = last[on] == START ? new int[free.length] : known[last[on]].clone();
            boolean begun = on == 0 || last[on] != START;
            now[on] = count[on];
            List<Integer> latest = new ArrayList<>();
            for (int earlier : before[step]) {
                latest.add(earlier);
            }
            latest.sort(newestFirst());
            List<Integer> waits = new ArrayList<>();
            for (int earlier : latest) {
                if (now[stream[earlier]] < place[earlier]) {
                    waits.add(earlier);
                    learn(now, earlier);
                    begun = true; // the other stream began behind the start itself
                }
            }
            if (!begun) {
                waits.add(START);
            }
            known[step] = now;
            return waits;
        }

        /** What was enqueued late may come after what was enqueued before it, and never the other way round. */
        private Comparator<Integer> newestFirst() {
            return Comparator.comparingInt((Integer step) -> order[step]).reversed();
        }

        private void learn(int[] now, int earlier) {
            for (int other = 0; other < now.length; other++) {
                now[other] = Math.max(now[other], known[earlier][other]);
            }
            now[stream[earlier]] = Math.max(now[stream[earlier]], place[earlier]);
        }

        private List<Integer> joins() {
            int[] now = last[0] == START ? new int[free.length] : known[last[0]].clone();
            List<Integer> ends = new ArrayList<>();
            for (int other = 1; other < free.length; other++) {
                if (last[other] != START) {
                    ends.add(last[other]);
                }
            }
            ends.sort(newestFirst());
            List<Integer> joins = new ArrayList<>();
            for (int end : ends) {
                if (now[stream[end]] < place[end]) {
                    joins.add(end);
                    learn(now, end);
                }
            }
            return joins;
        }
    }
}
