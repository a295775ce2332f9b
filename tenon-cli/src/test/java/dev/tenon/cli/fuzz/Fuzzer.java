package dev.tenon.cli.fuzz;

import dev.tenon.core.error.TenonException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Feeds changed files to a target. Each file comes from a seed of its own, so that a number in a report makes it again.
 * A file that takes longer than the limit, or does anything but succeed or be refused by a {@link TenonException}, is a
 * finding.
 */
final class Fuzzer {
    private static final long LIMIT_MILLIS = 20_000;

    private final Target target;
    private final Map<String, Long> outcomes = new TreeMap<>();
    private final List<String> findings = new ArrayList<>();
    private long count;

    Fuzzer(Target target) {
        this.target = target;
    }

    /** Files from {@code first} on: as many as wanted or as fit in the time, whichever is less. */
    void run(long first, long files, double seconds) throws InterruptedException {
        long start = System.nanoTime();
        long next = first;
        while (next < first + files && System.nanoTime() - start < seconds * 1e9) {
            Batch batch = new Batch(next, first + files, start + (long) (seconds * 1e9));
            Thread thread = Thread.ofPlatform().daemon().name("fuzz").start(batch);
            while (thread.isAlive()) {
                thread.join(200);
                if (batch.late()) {
                    findings.add("seed " + batch.seed + ": not done after " + LIMIT_MILLIS + " ms");
                    break; // the thread is left to itself
                }
            }
            next = batch.seed + 1;
        }
    }

    private final class Batch implements Runnable {
        private final long end;
        private final long deadline;
        private volatile long seed;
        private volatile long began = System.nanoTime();

        Batch(long first, long end, long deadline) {
            this.seed = first;
            this.end = end;
            this.deadline = deadline;
        }

        boolean late() {
            return System.nanoTime() - began > LIMIT_MILLIS * 1_000_000;
        }

        @Override
        public void run() {
            for (long now = seed; now < end && System.nanoTime() < deadline; now++) {
                seed = now;
                began = System.nanoTime();
                byte[] file = target.next(new SplittableRandom(now));
                String outcome = outcome(file);
                synchronized (Fuzzer.this) {
                    count++;
                    outcomes.merge(outcome, 1L, Long::sum);
                    if (outcome.startsWith("finding")) {
                        findings.add("seed " + now + ": " + outcome + " for "
                                + HexFormat.of().formatHex(file, 0, Math.min(file.length, 4000)));
                    }
                }
            }
        }

        private String outcome(byte[] file) {
            try {
                return target.use(file);
            } catch (TenonException e) {
                return "refused";
            } catch (Throwable e) {
                return "finding " + shown(e);
            }
        }
    }

    private static String shown(Throwable e) {
        StackTraceElement at = null;
        for (StackTraceElement element : e.getStackTrace()) {
            if (element.getClassName().startsWith("dev.tenon")) {
                at = element;
                break;
            }
        }
        return e.getClass().getSimpleName() + " " + first(e.getMessage()) + " at " + at;
    }

    private static String first(@Nullable String message) {
        return message == null ? "" : message.substring(0, Math.min(120, message.length()));
    }

    synchronized long count() {
        return count;
    }

    /** Files by what became of them. */
    synchronized Map<String, Long> outcomes() {
        return new TreeMap<>(outcomes);
    }

    synchronized List<String> findings() {
        return List.copyOf(findings);
    }
}
