package dev.tenon.collective.inprocess;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.reduce.Arithmetic;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.CollectiveTimeoutException;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One rank's walk through the group's rounds. One thread at a time, but for {@link #leave}. */
final class Rounds {
    private final int rank;
    private final GroupState group;
    private final Waiter waiter;
    private volatile Round next;

    Rounds(int rank, GroupState group) {
        this.rank = rank;
        this.group = group;
        waiter = group.waiter(rank);
        next = group.first;
    }

    /** Joins the next round with a call; returns when this rank's part of it is done. */
    void join(Supplier<Call> maker) {
        check();
        long deadline = System.nanoTime() + group.options().timeout().toNanos();
        Round round = next;
        next = round.next();
        Call call;
        try {
            call = maker.get();
        } catch (RuntimeException | Error e) {
            refuse(round, e);
            throw e;
        }
        if (round.arrive(rank, call)) {
            settle(round);
        } else {
            Departure departure = group.missing(round);
            if (departure != null) {
                round.fail(departure);
            }
        }
        if (!waiter.await(round.settled, deadline)) {
            giveUp(round, group.silence(rank, call.operation().toString(), () -> missing(round)));
        }
        switch (round.outcome()) {
            case RoundPlan plan -> work(round, plan, call, deadline);
            case Failure failure -> throw ended(failure.at(rank));
            case null, default -> throw new IllegalStateException("a round without an outcome");
        }
    }

    /**
     * Ends a round in which a rank did not come. After a timeout the whole group is over: what kept that rank away once
     * would cost every later call its full wait as well. An interrupt is known to all ranks of the round, and the group
     * goes on.
     */
    private void giveUp(Round round, CollectiveException overdue) {
        Failure failure = at -> {
            if (at == rank) {
                return overdue;
            }
            String why = "rank " + at + ": rank " + rank + " has given this round up: " + overdue.getMessage();
            return overdue instanceof CollectiveTimeoutException
                    ? new CollectiveTimeoutException(why, overdue)
                    : new CollectiveAbortedException(why, overdue);
        };
        round.fail(failure); // no effect where the last rank came at this very moment
        group.wakeAll();
    }

    /**
     * Each rank that learns of a timeout ends the group before it goes on, so that its own next call fails at once too.
     */
    private CollectiveException ended(CollectiveException why) {
        if (why instanceof CollectiveTimeoutException) {
            group.timedOut(rank, why);
        }
        return why;
    }

    /** Whether this rank can still do anything. */
    void check() {
        if (group.gone(rank) != null) {
            throw new ClosedException("rank " + rank + " has left the group");
        }
        Failure broken = group.broken();
        if (broken != null) {
            throw broken.at(rank);
        }
    }

    /** This rank comes to no more rounds. */
    void leave(String how, @Nullable Throwable cause) {
        if (group.gone(rank) == null) {
            Round missed = next;
            group.leave(new Departure(rank, missed.index(), how, cause), missed);
        }
    }

    private String missing(Round round) {
        return "rank " + rank + " waited " + group.timeoutText() + "; rank(s) " + round.missing()
                + " did not come (nothing was moved; the group is over, open another one or begin another run)";
    }

    /** Others need not wait for a call that was wrong in itself. */
    private void refuse(Round round, Throwable e) {
        round.fail(at -> new CollectiveMismatchException(
                "rank " + at + " waits for rank " + rank + ", whose call was refused: " + e.getMessage()
                        + " (nothing was moved)",
                e));
        group.wakeAll();
    }

    private void settle(Round round) {
        try {
            if (round.agree()) {
                round.ready(RoundPlan.of(round, group.world(), group.options()));
            }
        } catch (RuntimeException | Error e) {
            round.fail(at -> new CollectiveAbortedException(
                    "rank " + at + ": the round could not be planned: " + e.getMessage(), e));
        }
        group.wakeAll();
    }

    private void work(Round round, RoundPlan plan, Call call, long deadline) {
        Wait wait = condition -> {
            if (!waiter.await(condition, deadline)) {
                throw group.silence(rank, call.operation().toString(), this::unfinished);
            }
        };
        try {
            switch (plan.algorithm()) {
                case AUTO, DIRECT -> {
                    if (round.help(plan.tasks())) {
                        group.wakeAll();
                    }
                    wait.until(round.finished);
                }
                case RING -> ring(Objects.requireNonNull(plan.kernel()), plan.arrays(), call, wait);
                case DOUBLING -> doubling(Objects.requireNonNull(plan.kernel()), call, wait);
            }
            if (round.stopped()) {
                throw Objects.requireNonNull(group.broken()).at(rank);
            }
        } catch (Throwable e) {
            breakUp(round, plan, call, e);
        }
    }

    private String unfinished() {
        return "rank " + rank + " was not done after " + group.timeoutText()
                + "; buffers hold partial results, and the group is broken";
    }

    /** A failure in the middle of moving elements: nobody can tell any more what the buffers hold. */
    private void breakUp(Round round, RoundPlan plan, Call call, Throwable e) {
        String what = call.operation() + ": rank " + rank + " failed in the middle: " + e;
        group.breakUp(at ->
                new CollectiveAbortedException(at == rank ? what : "rank " + at + ": the group is broken: " + what, e));
        round.stop();
        group.wakeAll();
        if (plan.tasks().count() > 0) {
            Waiter.drain(round.finished); // others may be writing this rank's buffers
        }
        throw e instanceof CollectiveException known
                ? known
                : Objects.requireNonNull(group.broken()).at(rank);
    }

    private <A> void ring(Arithmetic<A> kernel, boolean arrays, Call call, Wait wait) {
        int world = group.world();
        Ring<A> ring = new Ring<>(
                kernel,
                new Chunks(call.length(), world),
                rank,
                group.links.get(rank, (rank + 1) % world),
                group.links.get((rank + world - 1) % world, rank),
                wait,
                group.options().listener());
        @Nullable A source = kernel.array(call.source());
        @Nullable A target = kernel.array(call.target());
        if (arrays && source != null && target != null) {
            ring.reduceArrays(source, target, call.target());
        } else {
            ring.reduceBuffers(call.source(), call.target());
        }
    }

    private <A> void doubling(Arithmetic<A> kernel, Call call, Wait wait) {
        new Doubling<>(kernel, (int) call.length(), rank, group.world(), group.links, wait)
                .reduce(call.source(), call.target());
    }
}
