package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.lower.resident.ResidentPhase.Kind;
import dev.tenon.cuda.lower.resident.ResidentPhase.Operands;
import dev.tenon.cuda.lower.resident.ResidentPhase.Rows;
import dev.tenon.cuda.lower.resident.ResidentPhase.Sizes;
import dev.tenon.cuda.lower.resident.ResidentPlan.Spread;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.port.KernelArguments;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The struct Phases of resident.cuh: words that are known, and places of addresses that a frame knows. */
final class ResidentWords {
    private static final int WORDS = 16;
    private static final int PARAMETER_WORD = 7;

    /** Flags of resident.cuh. */
    static final int MADE_X = 1;

    static final int MADE_RESIDUAL = 2;
    static final int SEEN_Y = 4;
    static final int SEEN_NORMED = 8;

    /** Where an address comes from. */
    sealed interface Place {
        /** A value of the frame. */
        record Slot(int slot) implements Place {}

        /** Bytes from the start of the workspace. */
        record Workspace(long offset) implements Place {}
    }

    /** Knows where values lie. */
    interface Places {
        Place of(Value value);

        /** Of a weight as [n,k]. */
        Place of(ResidentPhase.Weight weight);
    }

    private record Address(int word, Place place) {}

    private final List<Long> words = new ArrayList<>();
    private final List<Address> addresses = new ArrayList<>();

    /**
     * Adds a phase.
     *
     * @param flags those of resident.cuh
     * @param next the number of the next phase of the launch that is no attention; -1 for none
     */
    void add(ResidentPhase phase, Spread spread, int flags, int next, Places places) {
        int base = words.size();
        Operands at = phase.at();
        Sizes sizes = phase.sizes();
        Rows source = phase.kind() == Kind.NORM ? Rows.NORM : phase.source();
        words.add(pair(phase.kind().code | source.code << Short.SIZE, flags));
        List<@Nullable Value> values = new ArrayList<>();
        values.add(at.x());
        values.add(null);
        values.add(at.bias());
        values.add(at.residual());
        values.add(at.y());
        values.add(at.scale());
        values.add(at.shift());
        values.add(at.normed());
        for (Value value : values) {
            words.add(0L);
            if (value != null) {
                addresses.add(new Address(words.size() - 1, places.of(value)));
            }
        }
        if (at.weight() != null) {
            addresses.add(new Address(base + 2, places.of(at.weight())));
        }
        if (sizes.head() > 0) {
            words.set(base + PARAMETER_WORD, (long) phase.maskDims());
        }
        Unary activation = phase.activation();
        words.add(pair(sizes.rows(), sizes.n()));
        words.add(pair(sizes.k(), next));
        words.add(pair(spread.least(), spread.more()));
        words.add(pair(spread.ways(), spread.round()));
        words.add(pair(activation == null ? 0 : activation.fn().code(), 0));
        words.add(pair(
                bits(activation == null ? 0 : activation.alpha()), bits(activation == null ? 0 : activation.beta())));
        words.add(pair(bits(phase.factor()), phase.kind() == Kind.NORM ? (sizes.wide() ? 1 : 0) : sizes.keys()));
    }

    /** Adds the struct to a slab; phases that are not there are zeros. */
    KernelArguments fill(KernelArguments slab, GpuFrame frame) {
        int all = ResidentPlan.MOST_PHASES * WORDS;
        slab.addWords(all);
        for (int i = 0; i < all; i++) {
            slab.word(i, i < words.size() ? words.get(i) : 0L);
        }
        for (Address address : addresses) {
            slab.word(
                    address.word,
                    switch (address.place) {
                        case Place.Slot(int slot) -> frame.at(slot);
                        case Place.Workspace(long offset) -> frame.workspace() + offset;
                    });
        }
        return slab;
    }

    private static long bits(double value) {
        return Float.floatToRawIntBits((float) value);
    }

    private static long pair(long low, long high) {
        return (low & 0xffffffffL) | high << Integer.SIZE;
    }
}
