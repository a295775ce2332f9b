package dev.tenon.cuda.backend;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What recorded work of a session takes, the least recently used first. Thread-safe.
 *
 * @param <K> whose work it is
 */
final class Recordings<K> {
    private static final float LOAD = 0.75f;

    private final long most;
    private final LinkedHashMap<K, Long> bytes = new LinkedHashMap<>(16, LOAD, true);
    private long total;

    /** @param most bytes of all together; the newest one stays whatever it takes */
    Recordings(long most) {
        this.most = most;
    }

    /** Adds one and returns those that must go, which are no longer counted. */
    synchronized List<K> add(K key, long size) {
        remove(key);
        bytes.put(key, size);
        total += size;
        List<K> gone = new ArrayList<>();
        Iterator<Map.Entry<K, Long>> oldest = bytes.entrySet().iterator();
        while (total > most && bytes.size() > 1 && oldest.hasNext()) {
            Map.Entry<K, Long> entry = oldest.next();
            gone.add(entry.getKey());
            total -= entry.getValue();
            oldest.remove();
        }
        return gone;
    }

    /** It is in use: the others go before it. */
    synchronized void use(K key) {
        bytes.get(key);
    }

    /** It is gone; does nothing where it is not there. */
    synchronized void remove(K key) {
        Long size = bytes.remove(key);
        total -= size == null ? 0 : size;
    }
}
