package dev.tenon.collective.inprocess;

import dev.tenon.collective.HostBuffer;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.CollectiveTimeoutException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Messages from each rank to each, in the order sent. Thread-safe; each pair has one sender and one receiver. */
final class Mailboxes {
    private final GroupState group;
    private final AtomicReferenceArray<ConcurrentLinkedQueue<Message>> boxes;

    Mailboxes(GroupState group) {
        this.group = group;
        boxes = new AtomicReferenceArray<>(group.world() * group.world());
    }

    /**
     * One rank's half of two exchanges.
     *
     * @throws CollectiveMismatchException on both sides where a message does not fit
     */
    void sendRecv(int rank, HostBuffer send, int to, HostBuffer receive, int from, long deadline) {
        Message out = new Message(send);
        box(rank, to).add(out);
        group.waiter(to).wake();
        try {
            receive(rank, receive, from, deadline);
        } catch (Throwable e) {
            String why = switch (e) {
                case CollectiveMismatchException misfit -> String.valueOf(misfit.getMessage());
                case CollectiveException _ -> ""; // nobody came: the receiver may wait for another message
                default -> "sendRecv: rank " + rank + " failed: " + e;
            };
            if (!out.withdraw(why)) {
                Waiter.drain(out.answered);
            }
            group.waiter(to).wake();
            throw e;
        }
        BooleanSupplier over = () -> out.answered.getAsBoolean() || group.gone(to) != null;
        boolean heard = group.waiter(rank).await(over, deadline);
        if (!out.answered.getAsBoolean() && out.withdraw("")) {
            throw silence(rank, to, heard, "take the message of " + send);
        }
        Waiter.drain(out.answered);
        if (out.refused()) {
            throw new CollectiveMismatchException(out.answer());
        }
    }

    private void receive(int rank, HostBuffer receive, int from, long deadline) {
        ConcurrentLinkedQueue<Message> box = box(from, rank);
        BooleanSupplier over = () -> !box.isEmpty() || group.gone(from) != null;
        while (true) {
            boolean heard = group.waiter(rank).await(over, deadline);
            Message in = box.poll();
            if (in == null) {
                throw silence(rank, from, heard, "send " + receive);
            }
            if (in.take()) {
                answer(rank, in, receive, from);
                return;
            }
            if (!in.answer().isEmpty()) {
                throw new CollectiveMismatchException(in.answer());
            }
        }
    }

    private void answer(int rank, Message in, HostBuffer receive, int from) {
        String misfit = in.buffer.dtype() == receive.dtype() && in.buffer.length() == receive.length()
                ? ""
                : "sendRecv: rank " + from + " sends " + in.buffer + ", rank " + rank + " receives " + receive
                        + "; both must be the same (nothing was copied)";
        if (!misfit.isEmpty()) {
            in.refuse(misfit);
            group.waiter(from).wake();
            throw new CollectiveMismatchException(misfit);
        }
        try {
            in.buffer.copyTo(receive);
            in.copied();
        } catch (Throwable e) { // an Error too, as of a mapped file that became shorter: the sender waits for an answer
            // without a limit
            in.refuse("sendRecv: rank " + rank + " could not copy the message of rank " + from + ": " + e);
            throw e;
        } finally {
            group.waiter(from).wake();
        }
    }

    private RuntimeException silence(int rank, int peer, boolean heard, String what) {
        Departure gone = group.gone(peer);
        if (heard && gone != null) {
            return gone.at(rank);
        }
        CollectiveException overdue = group.silence(
                rank,
                "sendRecv",
                () -> "rank " + rank + " waited " + group.timeoutText() + " for rank " + peer + " to " + what
                        + "; it did not (the group is over, open another one or begin another run)");
        if (overdue instanceof CollectiveTimeoutException) {
            group.timedOut(rank, overdue);
        }
        return overdue;
    }

    private ConcurrentLinkedQueue<Message> box(int from, int to) {
        int at = from * group.world() + to;
        @Nullable ConcurrentLinkedQueue<Message> box = boxes.get(at);
        if (box == null) {
            boxes.compareAndSet(at, null, new ConcurrentLinkedQueue<>());
            box = boxes.get(at);
        }
        return box;
    }
}
