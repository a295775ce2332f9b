package dev.tenon.cpu.step;

import java.util.List;

/** One compiled node: reads and writes the places of a {@link Frame}. Immutable, shared by all sessions of a model; whatever a run needs to write beside its outputs is the frame's scratch. */
public interface Step {
    void run(Frame frame);

    /** Which implementation this is, for reports. */
    String tier();

    /** The implementations passed over, each with its reason. */
    default List<String> passedOver() {
        return List.of();
    }

    /** Bytes of scratch that each worker needs, see {@link Frame#scratch}. */
    default long scratchBytes() {
        return 0;
    }
}
