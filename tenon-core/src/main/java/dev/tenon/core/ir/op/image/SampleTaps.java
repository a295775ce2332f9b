package dev.tenon.core.ir.op.image;

/** Which elements of one axis a sample at a real position depends on, and with which weights. Immutable. */
public final class SampleTaps {
    /** An element outside the axis, which counts as 0. */
    public static final long OUTSIDE = -1;

    /** The parameter of the cubic kernel (Keys 1981). */
    private static final double CUBIC = -0.75;

    private final long[] indices;
    private final double[] weights;

    private SampleTaps(long[] indices, double[] weights) {
        this.indices = indices;
        this.weights = weights;
    }

    /** Returns how many elements there are. */
    public int count() {
        return indices.length;
    }

    /** Returns an element, {@link #OUTSIDE} for one that counts as 0. */
    public long index(int tap) {
        return indices[tap];
    }

    /** Returns an element's weight. */
    public double weight(int tap) {
        return weights[tap];
    }

    /**
     * The taps of a position.
     *
     * @param position in elements, 0 the middle of the first
     * @param size of the axis, 1 or more
     * @param low where the axis begins, for what reflects there: 0 or -0.5
     */
    static SampleTaps of(double position, long size, double low, ResizeMode mode, SamplePadding padding) {
        double high = size - 1 - low;
        double at = mode == ResizeMode.NEAREST ? Math.rint(position) : position;
        if (at < low || at > high) {
            at = switch (padding) {
                case ZEROS -> at;
                case BORDER -> Math.clamp(at, 0.0, size - 1.0);
                case REFLECTION -> reflect(at, low, high);
            };
        }
        double floor = Math.floor(at);
        double t = at - floor;
        return switch (mode) {
            case NEAREST -> taps(at, new double[] {Double.isNaN(at) ? at : 1}, size, low, padding);
            case LINEAR -> taps(floor, new double[] {1 - t, t}, size, low, padding);
            case CUBIC ->
                taps(floor - 1, new double[] {far(t + 1), near(t), near(1 - t), far(2 - t)}, size, low, padding);
        };
    }

    private static SampleTaps taps(double first, double[] weights, long size, double low, SamplePadding padding) {
        long[] indices = new long[weights.length];
        for (int i = 0; i < indices.length; i++) {
            double index = first + i;
            boolean inside = index >= 0 && index <= size - 1;
            // a position that is no number has no weights that are, whatever it points at
            indices[i] = inside
                    ? (long) index
                    : Double.isNaN(index)
                            ? 0
                            : switch (padding) {
                                case ZEROS -> OUTSIDE;
                                case BORDER -> index < 0 ? 0 : size - 1;
                                case REFLECTION -> Math.clamp((long) reflect(index, low, size - 1 - low), 0, size - 1);
                            };
        }
        return new SampleTaps(indices, weights);
    }

    /** The position mirrored at both ends until it is between them. */
    private static double reflect(double at, double low, double high) {
        double range = high - low;
        if (range <= 0) {
            return low;
        }
        double past = at < low ? low - at : at - high;
        double turns = Math.floor(past / range);
        double rest = past - turns * range;
        boolean even = turns % 2 == 0;
        return at < low == even ? low + rest : high - rest;
    }

    private static double near(double x) {
        return ((CUBIC + 2) * x - (CUBIC + 3)) * x * x + 1;
    }

    private static double far(double x) {
        return ((CUBIC * x - 5 * CUBIC) * x + 8 * CUBIC) * x - 4 * CUBIC;
    }
}
