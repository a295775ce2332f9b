package dev.tenon.collective.inprocess;

import dev.tenon.core.error.CollectiveMismatchException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One operation of the whole group: ranks arrive with their calls, the last one looks whether they agree, and then the
 * work is done or the round has failed for all. Rounds form a chain that each rank walks at its own pace, so a rank
 * that is late for a failed round learns of it when it comes.
 *
 * <p>Thread-safe.
 */
final class Round {
    private static final VarHandle ARRIVED;
    private static final VarHandle OUTCOME;
    private static final VarHandle NEXT;
    private static final VarHandle CLAIMED;
    private static final VarHandle DONE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ARRIVED = lookup.findVarHandle(Round.class, "arrived", int.class);
            OUTCOME = lookup.findVarHandle(Round.class, "outcome", Object.class);
            NEXT = lookup.findVarHandle(Round.class, "next", Round.class);
            CLAIMED = lookup.findVarHandle(Round.class, "claimed", int.class);
            DONE = lookup.findVarHandle(Round.class, "done", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Claims beyond any number of tasks: nobody starts another. */
    private static final int NO_MORE = 1 << 30;

    private final @Nullable Call[] calls;
    private final long index;
    final BooleanSupplier settled = () -> this.outcome != null;
    final BooleanSupplier finished = () -> this.done == this.toDo;
    private volatile int arrived;
    /** Null while ranks are missing; then the {@link RoundPlan} of the work, or the {@link Failure}. */
    private volatile @Nullable Object outcome;

    private volatile @Nullable Round next;
    private volatile int claimed;
    private volatile int done;
    private volatile int toDo = NO_MORE;

    Round(int world, long index) {
        calls = new Call[world];
        this.index = index;
    }

    /** How many rounds came before. */
    long index() {
        return index;
    }

    /** The round after this one. */
    Round next() {
        Round after = next;
        if (after == null) {
            Round made = new Round(calls.length, index + 1);
            after = NEXT.compareAndSet(this, null, made) ? made : next;
        }
        return Objects.requireNonNull(after);
    }

    /** The round after this one if somebody has come so far. */
    @Nullable
    Round made() {
        return next;
    }

    /** A rank's call. Returns whether it was the last. */
    boolean arrive(int rank, Call call) {
        calls[rank] = call;
        return (int) ARRIVED.getAndAdd(this, 1) + 1 == calls.length;
    }

    /** All ranks' calls, once all have arrived. */
    Call call(int rank) {
        return Objects.requireNonNull(calls[rank]);
    }

    /** Ranks that have not arrived, in words. */
    String missing() {
        return IntStream.range(0, calls.length)
                .filter(rank -> calls[rank] == null)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(", "));
    }

    /** Fails when ranks disagree; returns whether they agree. */
    boolean agree() {
        Call first = call(0);
        if (!Arrays.stream(calls).allMatch(call -> first.agrees(Objects.requireNonNull(call)))) {
            fail(this::mismatch);
            return false;
        }
        for (int rank = 1; rank < calls.length; rank++) {
            for (int other = 0; other < rank; other++) {
                if (call(rank).meets(call(other))) {
                    fail(shared(rank, other));
                    return false;
                }
            }
        }
        return true;
    }

    private Failure shared(int one, int other) {
        String name = call(one).operation().toString();
        return rank -> new CollectiveMismatchException(name + ": ranks " + other + " and " + one
                + " gave the same memory, in part or whole (this is rank " + rank
                + "); what a rank writes must be its own (nothing was moved)");
    }

    private CollectiveMismatchException mismatch(int rank) {
        Call own = call(rank);
        int other = IntStream.range(0, calls.length)
                .filter(at -> !own.agrees(call(at)))
                .findFirst()
                .orElseThrow();
        return new CollectiveMismatchException(own.operation() + ": ranks disagree: rank " + rank + " asks for " + own
                + "; rank " + other + " asks for " + call(other)
                + "; every rank must ask for the same (nothing was moved)");
    }

    /** Lets the ranks go to work. Returns false when the round has failed meanwhile. */
    boolean ready(RoundPlan plan) {
        toDo = plan.tasks().count();
        return OUTCOME.compareAndSet(this, null, plan);
    }

    /** Fails a round that is not settled. Returns whether it did. */
    boolean fail(Failure failure) {
        return OUTCOME.compareAndSet(this, null, failure);
    }

    @Nullable
    Object outcome() {
        return outcome;
    }

    /** Does tasks until there are none to start. Returns whether it did the last one. */
    boolean help(Tasks tasks) {
        int count = tasks.count();
        boolean last = false;
        for (int task = (int) CLAIMED.getAndAdd(this, 1); task < count; task = (int) CLAIMED.getAndAdd(this, 1)) {
            try {
                tasks.run(task);
            } finally {
                last = (int) DONE.getAndAdd(this, 1) + 1 == toDo;
            }
        }
        return last;
    }

    /** Whether tasks were left undone. */
    boolean stopped() {
        return claimed >= NO_MORE;
    }

    /** Nobody starts another task; {@link #finished} holds once those that run are done. */
    void stop() {
        int claims = (int) CLAIMED.getAndSet(this, NO_MORE);
        if (claims < NO_MORE) {
            toDo = Math.min(claims, toDo);
        }
    }
}
