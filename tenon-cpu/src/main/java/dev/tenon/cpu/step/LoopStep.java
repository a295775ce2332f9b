package dev.tenon.cpu.step;

/** A step that is one loop over independent units. */
public abstract class LoopStep implements CpuStep, RangeTask {
    /** Simple operations that are worth handing to another thread: some ten microseconds of them. */
    private static final long PIECE = 16_384;

    private final String tier;
    private final long units;
    private final long grain;

    /**
     * A loop of {@code units} iterations.
     *
     * @param unitCost simple operations (an element read and written, a multiply and add) in one of them
     */
    public LoopStep(String tier, long units, long unitCost) {
        this.tier = tier;
        this.units = units;
        this.grain = grain(unitCost);
    }

    /** Iterations of that cost that make a piece worth a thread. */
    public static long grain(long unitCost) {
        return Math.max(1, PIECE / Math.max(1, unitCost));
    }

    @Override
    public void run(CpuFrame frame) {
        if (units == 0) {
            return;
        }
        if (isSerial()) {
            run(frame, 0, units, 0);
        } else {
            frame.parallel(this, units, Math.max(grain, leastUnits()));
        }
    }

    /** The fewest units that make a piece, whatever they cost. */
    protected long leastUnits() {
        return 1;
    }

    /** Whether the units may not run side by side: those of packed types share bytes. */
    public boolean isSerial() {
        return false;
    }

    final long units() {
        return units;
    }

    @Override
    public final String tier() {
        return tier;
    }
}
