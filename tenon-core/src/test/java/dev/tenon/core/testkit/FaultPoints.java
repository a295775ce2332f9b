package dev.tenon.core.testkit;

import java.util.Map;
import java.util.TreeMap;

/** Counts the calls of a platform that could fail and says which one does. Thread-safe. */
public final class FaultPoints {
    /** What every injected failure says. */
    public static final String MARK = "injected fault";

    private final Map<String, Integer> kinds = new TreeMap<>();
    private int passed;
    private int failing;

    /** Counts from 1 anew; the call of that number fails, none for 0. */
    public synchronized void arm(int number) {
        kinds.clear();
        passed = 0;
        failing = number;
    }

    /** Passes a point. @return whether this call is to fail */
    public synchronized boolean fails(String call) {
        kinds.merge(call, 1, Integer::sum);
        passed++;
        return passed == failing;
    }

    /** How many points were passed since {@link #arm}. */
    public synchronized int passed() {
        return passed;
    }

    /** How many points of each call were passed since {@link #arm}. */
    public synchronized Map<String, Integer> kinds() {
        return new TreeMap<>(kinds);
    }
}
