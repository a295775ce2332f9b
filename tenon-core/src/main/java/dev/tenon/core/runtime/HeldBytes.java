package dev.tenon.core.runtime;

import dev.tenon.core.ir.ConstantData;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The bytes of the constants that were made for the plans of a cache, each constant counted once, as a running total.
 * Not thread-safe.
 */
final class HeldBytes {
    /** How many of the plans hold a constant. */
    private final Map<ConstantData, Integer> holders = new HashMap<>();
    /** What was counted for a plan that holds constants, or may hold some later. */
    private final IdentityHashMap<Shared, Set<ConstantData>> counted = new IdentityHashMap<>();

    private final Set<Shared> growing = new HashSet<>();
    private long total;

    /** Counts a plan, and again those whose constants may have become more. */
    void add(Shared plan) {
        if (plan.mayGrow()) {
            growing.add(plan);
        } else {
            count(plan);
        }
        growing.forEach(this::count);
    }

    private void count(Shared plan) {
        Set<ConstantData> now = new HashSet<>(4); // most plans have none
        plan.addConstants(now);
        Set<ConstantData> before = now.isEmpty() ? counted.remove(plan) : counted.put(plan, now);
        for (ConstantData constant : now) {
            if (holders.merge(constant, 1, Integer::sum) == 1) {
                total += constant.heldBytes();
            }
        }
        if (before != null) {
            before.forEach(this::release);
        }
    }

    /** Takes a plan out. */
    void remove(Shared plan) {
        growing.remove(plan);
        Set<ConstantData> held = counted.remove(plan);
        if (held != null) {
            held.forEach(this::release);
        }
    }

    private void release(ConstantData constant) {
        if (holders.merge(constant, -1, Integer::sum) == 0) {
            holders.remove(constant);
            total -= constant.heldBytes();
        }
    }

    /** The bytes that the other plans hold beside the constants of one. */
    long beside(Shared plan) {
        long own = 0;
        for (ConstantData constant : counted.getOrDefault(plan, Set.of())) {
            own += constant.heldBytes();
        }
        return total - own;
    }

    /** Takes all plans out. */
    void clear() {
        holders.clear();
        counted.clear();
        growing.clear();
        total = 0;
    }
}
