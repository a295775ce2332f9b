package dev.tenon.collective.inprocess;

import java.util.concurrent.atomic.AtomicReferenceArray;

/** The links between all pairs of ranks, each made when it is first used. Thread-safe. */
final class Links {
    private final Waiter[] waiters;
    private final AtomicReferenceArray<Link> links;

    Links(Waiter[] waiters) {
        this.waiters = waiters;
        links = new AtomicReferenceArray<>(waiters.length * waiters.length);
    }

    Link get(int from, int to) {
        int at = from * waiters.length + to;
        Link link = links.get(at);
        if (link == null) {
            Link made = new Link(waiters[from], waiters[to]);
            link = links.compareAndSet(at, null, made) ? made : links.get(at);
        }
        return link;
    }
}
