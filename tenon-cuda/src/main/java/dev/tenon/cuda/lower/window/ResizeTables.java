package dev.tenon.cuda.lower.window;

import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.image.ResizeTaps;
import java.util.ArrayList;
import java.util.List;

/**
 * The resampled axes of a resize, and where in the workspace the table of each lies: the struct ResizeAxes of
 * resize.cuh. Immutable.
 */
final class ResizeTables {
    static final int MOST_AXES = 8;
    /** Weights of all axes together: a gigabyte in f64. */
    private static final long MOST_WEIGHTS = 1 << 27;

    private static final long USUAL_TAPS = 4;
    private static final long BOUNDARY = 256;

    private final Resize op;
    private final long[] input;
    private final List<Integer> axes;
    private final long[] taps;
    private final long[] first;
    private final long[] weights;
    private final long bytes;

    /** @param numberBytes of a weight */
    ResizeTables(Resize op, Shape x, int numberBytes) {
        this.op = op;
        this.input = x.sizes();
        this.axes = resampled(op, x);
        this.taps = axes.stream().mapToLong(axis -> taps(op, axis)).toArray();
        this.first = new long[axes.size()];
        this.weights = new long[axes.size()];
        long at = 0;
        for (int i = 0; i < first.length; i++) {
            long results = op.sizes().get(axes.get(i));
            first[i] = at;
            at = SizeMath.roundUp(
                    "resize", SizeMath.sum("resize", at, SizeMath.product("resize", results, 4)), BOUNDARY);
            weights[i] = at;
            at = SizeMath.roundUp(
                    "resize",
                    SizeMath.sum("resize", at, SizeMath.product("resize", results, taps[i], numberBytes)),
                    BOUNDARY);
        }
        this.bytes = at;
    }

    /** The axes that are not as they were. */
    private static List<Integer> resampled(Resize op, Shape x) {
        List<Integer> axes = new ArrayList<>();
        for (int axis = 0; axis < x.rank(); axis++) {
            if (x.size(axis) != op.sizes().get(axis) || !isIdentity(op.taps(axis, x.size(axis)))) {
                axes.add(axis);
            }
        }
        return axes;
    }

    private static boolean isIdentity(ResizeTaps taps) {
        for (int element = 0; element < taps.size(); element++) {
            int[] indices = taps.indices(element);
            if (indices.length != 1 || indices[0] != element || taps.weights(element)[0] != 1) {
                return false;
            }
        }
        return true;
    }

    private static long taps(Resize op, int axis) {
        int support = switch (op.mode()) {
            case NEAREST -> 0;
            case LINEAR -> 1;
            case CUBIC -> 2;
        };
        double shrink = op.antialias() ? Math.min(op.scales().get(axis), 1) : 1;
        return 2 * (long) Math.min(Math.ceil(support / shrink), MOST_WEIGHTS);
    }

    /** Why there is no kernel, from what is known before the tables; empty where there may be one. */
    static String refusal(Resize op, Shape x) {
        long all = 0;
        for (int axis = 0; axis < x.rank(); axis++) {
            long each = taps(op, axis);
            if (x.size(axis) != op.sizes().get(axis) || each > USUAL_TAPS) {
                all += SizeMath.estimate(each, op.sizes().get(axis));
            }
        }
        return all > MOST_WEIGHTS
                ? "kernels resample with at most " + MOST_WEIGHTS + " weights; this takes " + all
                : "";
    }

    /** Which axes of x. */
    List<Integer> axes() {
        return axes;
    }

    long taps(int index) {
        return taps[index];
    }

    /** Of all tables. */
    long bytes() {
        return bytes;
    }

    /** The largest number of results along an axis. */
    long longest() {
        return axes.stream().mapToLong(axis -> op.sizes().get(axis)).max().orElse(0);
    }

    /** The struct's words. */
    long[] struct() {
        long[] words = new long[6 + 9 * MOST_AXES];
        words[0] = WindowCodes.of(op.mode());
        words[1] = WindowCodes.of(op.coordinates());
        words[2] = WindowCodes.of(op.nearest());
        words[3] = op.excludeOutside() ? 1 : 0;
        words[4] = op.antialias() && op.mode() != ResizeMode.NEAREST ? 1 : 0;
        words[5] = Double.doubleToRawLongBits(op.cubicCoefficient());
        boolean crops = op.coordinates() == CoordinateMode.TF_CROP_AND_RESIZE;
        for (int i = 0; i < first.length; i++) {
            int axis = axes.get(i);
            long output = op.sizes().get(axis);
            double exact = op.scales().get(axis) * input[axis];
            double resized = Math.abs(exact - output) <= 1e-6 * Math.max(1, output) ? output : exact;
            long[] values = {
                input[axis],
                output,
                Double.doubleToRawLongBits(op.scales().get(axis)),
                Double.doubleToRawLongBits(resized),
                Double.doubleToRawLongBits(crops ? op.roi().get(axis) : 0),
                Double.doubleToRawLongBits(
                        crops ? op.roi().get(axis + op.sizes().size()) : 0),
                taps[i],
                first[i],
                weights[i]
            };
            for (int field = 0; field < values.length; field++) {
                words[6 + field * MOST_AXES + i] = values[field];
            }
        }
        return words;
    }
}
