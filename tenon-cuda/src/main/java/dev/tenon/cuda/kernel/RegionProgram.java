package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cuda.kernel.file.TypeCodes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A region as {@code elementwise_region.cu} reads it: loads, steps and a store on numbered slots, which are used again
 * once their value is done with. Immutable.
 */
public final class RegionProgram {
    public static final int MAX_STEPS = 16;
    public static final int MAX_INPUTS = 8;
    static final int THREADS = 128;
    private static final int SLOT_BYTES = THREADS * 16;
    private static final int MAX_SLOTS = 24; // 48 KiB of shared memory, which every device gives
    private static final int MAX_OPERATIONS = 25;
    private static final int WORDS = 3;

    private static final int LOAD = 0;
    private static final int UNARY = 1;
    private static final int BINARY = 2;
    private static final int COMPARE = 3;
    private static final int WHERE = 4;
    private static final int CAST = 5;
    private static final int STORE = 6;

    private final List<DType> types;
    private final int inputs;
    private final boolean wide;
    private final long[] words = new long[1 + WORDS * MAX_OPERATIONS];
    private final int[] slots;
    private final Deque<Integer> free = new ArrayDeque<>();
    private int slotCount;

    /** @param inputs the types of the region's inputs; {@link #misfit} must be empty */
    public RegionProgram(Region region, List<DType> inputs) {
        this.types = types(region, inputs);
        this.inputs = inputs.size();
        this.wide = !types.stream().allMatch(RegionProgram::isNarrow);
        this.slots = new int[types.size()];
        Arrays.fill(slots, -1);
        int result = this.inputs + region.results().getFirst();
        int[] lastUse = lastUses(region.steps(), region.results(), this.inputs);
        for (int i = 0; i < region.steps().size(); i++) {
            if (lastUse[this.inputs + i] >= 0) {
                step(region.steps().get(i), i, lastUse);
            }
        }
        append(STORE, TypeCodes.of(types.get(result)), 0, 0, List.of(slots[result]), 0, 0);
    }

    /**
     * For each input and after them each step: the last step that reads it, the number of steps for a result, -1 for
     * what no result needs.
     */
    public static int[] lastUses(List<Region.Step> steps, List<Integer> results, int inputs) {
        int[] last = new int[inputs + steps.size()];
        Arrays.fill(last, -1);
        results.forEach(result -> last[inputs + result] = steps.size());
        for (int i = steps.size() - 1; i >= 0; i--) {
            if (last[inputs + i] >= 0) {
                for (int argument : steps.get(i).arguments()) {
                    last[argument] = Math.max(last[argument], i);
                }
            }
        }
        return last;
    }

    /** Why the interpreter cannot take a region; empty when it can. */
    public static String misfit(Region region, List<DType> inputs) {
        if (region.steps().size() > MAX_STEPS) {
            return region.steps().size() + " steps; it takes " + MAX_STEPS;
        }
        if (inputs.size() > MAX_INPUTS) {
            return inputs.size() + " inputs; it takes " + MAX_INPUTS;
        }
        if (region.results().size() > 1) {
            return region.results().size() + " results; it gives 1";
        }
        return types(region, inputs).stream()
                .filter(type -> !TypeCodes.has(type))
                .findFirst()
                .map(type -> "elements of " + type)
                .orElse("");
    }

    /** The types of the inputs and after them of what each step gives. */
    public static List<DType> types(Region region, List<DType> inputs) {
        List<DType> types = new ArrayList<>(inputs);
        for (Region.Step step : region.steps()) {
            types.add(step.op()
                    .dtypes(step.arguments().stream().map(types::get).toList())
                    .getFirst());
        }
        return types;
    }

    private static boolean isNarrow(DType type) {
        return type == DType.F32 || type == DType.F16 || type == DType.BF16 || type == DType.BOOL;
    }

    private void step(Region.Step step, int number, int[] lastUse) {
        for (int argument : step.arguments()) {
            if (slots[argument] < 0) {
                slots[argument] = take();
                append(LOAD, TypeCodes.of(types.get(argument)), 0, slots[argument], List.of(argument), 0, 0);
            }
        }
        List<Integer> from =
                step.arguments().stream().map(argument -> slots[argument]).toList();
        step.arguments().stream()
                .distinct()
                .filter(argument -> lastUse[argument] == number)
                .forEach(argument -> free.push(slots[argument]));
        int value = inputs + number;
        slots[value] = take();
        operation(step.op(), TypeCodes.of(types.get(step.arguments().getLast())), slots[value], from);
    }

    private void operation(Elementwise op, int type, int slot, List<Integer> from) {
        switch (op) {
            case Unary unary -> append(UNARY, type, unary.fn().code(), slot, from, unary.alpha(), unary.beta());
            case Binary binary -> append(BINARY, type, binary.fn().code(), slot, from, 0, 0);
            case Compare compare -> append(COMPARE, type, compare.fn().code(), slot, from, 0, 0);
            case Where _ -> append(WHERE, type, 0, slot, from, 0, 0);
            case Cast cast -> append(CAST, type, TypeCodes.of(cast.to()), slot, from, 0, 0);
        }
    }

    private int take() {
        return free.isEmpty() ? slotCount++ : free.pop();
    }

    private void append(int what, int type, int fn, int slot, List<Integer> from, double p0, double p1) {
        int at = 1 + WORDS * (int) words[0]++;
        long word = what | (long) type << 8 | (long) fn << 16 | (long) slot << 24;
        for (int i = 0; i < from.size(); i++) {
            word |= (long) from.get(i) << (32 + 8 * i);
        }
        words[at] = word;
        words[at + 1] = Double.doubleToRawLongBits(p0);
        words[at + 2] = Double.doubleToRawLongBits(p1);
    }

    /** Whether registers are of 64 bits: some value is neither a float of at most 32 bits nor a boolean. */
    public boolean wide() {
        return wide;
    }

    int sharedBytes() {
        if (slotCount > MAX_SLOTS) {
            throw new IllegalStateException("a region of " + slotCount + " slots");
        }
        return slotCount * SLOT_BYTES;
    }

    MemorySegment struct() {
        return MemorySegment.ofArray(words).asReadOnly();
    }
}
