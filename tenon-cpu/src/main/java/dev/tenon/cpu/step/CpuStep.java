package dev.tenon.cpu.step;

import java.util.List;

/**
 * One compiled node: reads and writes the places of a {@link CpuFrame}. Immutable, shared by all sessions of a model;
 * whatever a run needs to write beside its outputs is the frame's workspace.
 */
public interface CpuStep {
    void run(CpuFrame frame);

    /** Which implementation this is, for reports. */
    String tier();

    /** The implementations passed over, each with its reason. */
    default List<String> passedOver() {
        return List.of();
    }

    /** Bytes of workspace that each worker needs, see {@link CpuFrame#workspace}. */
    default long workspaceBytes() {
        return 0;
    }
}
