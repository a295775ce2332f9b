package dev.tenon.core.ir.op.image;

import dev.tenon.core.ir.SizeMath;
import java.util.ArrayList;
import java.util.List;

/**
 * Which elements of one axis make each element of its resampling, and with what weights: a table that does all of a
 * {@link Resize}'s coordinate arithmetic, so that a backend needs none.
 *
 * <p>Resampling is separable: axes are taken one after the other. A nearest neighbour is one tap of weight 1. No taps
 * at all mean the extrapolation value.
 */
public final class ResizeTaps {
    /**
     * Half a step of f64 arithmetic on coordinates is far below this, and half a step of what a f32 scale can mean far
     * above.
     */
    private static final double SNAP = 1e-9;

    private final List<int[]> indices = new ArrayList<>();
    private final List<double[]> weights = new ArrayList<>();

    private final Resize op;
    private final int axis;
    private final long input;
    private final long output;
    private final double scale;
    private final double resized;

    ResizeTaps(Resize op, int axis, long input) {
        this.op = op;
        this.axis = axis;
        this.input = input;
        this.output = op.sizes().get(axis);
        this.scale = op.scales().get(axis);
        double exact = scale * input;
        // a scale that was a quotient of sizes, or came as f32, misses the size by its rounding error
        this.resized = Math.abs(exact - output) <= 1e-6 * Math.max(1, output) ? output : exact;
        for (long at = 0; at < output; at++) {
            addTaps(at);
        }
    }

    /** How many elements the result has along the axis. */
    public int size() {
        return indices.size();
    }

    /** The taps of one element of the result, ascending; within the axis, one possibly more than once. */
    public int[] indices(int element) {
        return indices.get(element).clone();
    }

    /** The weights of the taps. They sum to 1. */
    public double[] weights(int element) {
        return weights.get(element).clone();
    }

    private void addTaps(long at) {
        double x = snapped(coordinate(at));
        if (op.coordinates() == CoordinateMode.TF_CROP_AND_RESIZE && (x < 0 || x > input - 1)) {
            add(List.of(), new double[0]);
        } else if (op.mode() == ResizeMode.NEAREST) {
            add(List.of(nearest(x)), new double[] {1});
        } else {
            addKernel(x);
        }
    }

    private void add(List<Long> at, double[] weight) {
        indices.add(at.stream()
                .mapToInt(index -> SizeMath.toInt("resize", Math.clamp(index, 0, input - 1)))
                .toArray());
        weights.add(weight);
    }

    /**
     * Rounding errors must not decide between neighbours: what is nearly an integer, or half of one, is meant to be it.
     */
    private static double snapped(double x) {
        double half = Math.rint(x * 2) / 2;
        return Math.abs(x - half) <= SNAP * Math.max(1, Math.abs(x)) ? half : x;
    }

    /** Where an element of the result lies along the input: the formulas of ONNX Resize-19. */
    private double coordinate(long at) {
        return switch (op.coordinates()) {
            case HALF_PIXEL -> (at + 0.5) / scale - 0.5;
            case HALF_PIXEL_SYMMETRIC ->
                // the middle of the result, which its rounded down size moved, stays the middle of the input
                input / 2.0 * (1 - output / resized) + (at + 0.5) / scale - 0.5;
            case PYTORCH_HALF_PIXEL -> resized > 1 ? (at + 0.5) / scale - 0.5 : 0;
            case ALIGN_CORNERS -> resized == 1 ? 0 : at * (input - 1) / (resized - 1);
            case ASYMMETRIC -> at / scale;
            case TF_HALF_PIXEL_FOR_NN -> (at + 0.5) / scale;
            case TF_CROP_AND_RESIZE -> {
                double start = op.roi().get(axis);
                double end = op.roi().get(axis + op.sizes().size());
                yield resized == 1
                        ? (start + end) / 2 * (input - 1)
                        : start * (input - 1) + at * (end - start) * (input - 1) / (resized - 1);
            }
        };
    }

    private long nearest(double x) {
        return (long)
                switch (op.nearest()) {
                    case ROUND_PREFER_FLOOR -> Math.ceil(x - 0.5);
                    case ROUND_PREFER_CEIL -> Math.floor(x + 0.5);
                    case FLOOR -> Math.floor(x);
                    case CEIL -> Math.ceil(x);
                };
    }

    private void addKernel(double x) {
        int support = op.mode() == ResizeMode.LINEAR ? 1 : 2;
        // antialiasing widens the kernel by the factor that the axis shrinks by
        double shrink = op.antialias() ? Math.min(scale, 1) : 1;
        long reach = (long) Math.ceil(support / shrink);
        long first = (long) Math.ceil(x) - reach;
        List<Long> at = new ArrayList<>();
        List<Double> weight = new ArrayList<>();
        double sum = 0;
        for (long index = first; index < first + 2 * reach; index++) {
            double value = kernel(Math.abs(index - x) * shrink);
            boolean counts = !op.excludeOutside() || (index >= 0 && index < input);
            // taps of weight 0 are dropped: they would turn an infinity beside an element into NaN
            if (value != 0 && counts) {
                at.add(index);
                weight.add(value);
                sum += value;
            }
        }
        double total = sum;
        add(at, weight.stream().mapToDouble(value -> value / total).toArray());
    }

    /** The weight of an element at a distance: a tent, or Keys' cubic convolution. */
    private double kernel(double distance) {
        if (op.mode() == ResizeMode.LINEAR) {
            return Math.max(0, 1 - distance);
        }
        double a = op.cubicCoefficient();
        if (distance <= 1) {
            return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
        }
        return distance < 2 ? ((distance - 5) * distance + 8) * distance * a - 4 * a : 0;
    }
}
