package dev.tenon.core.ir.op.state;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * What recurrent layers have in common: shapes, layouts, and the walk over directions, batch and time.
 *
 * <p>A direction walks its sequences forwards or backwards, each over its own length; what is past a length is 0 in the
 * result and leaves the state as it is, so a sequence of length 0 ends in its initial state. Of two directions, the
 * first is forward.
 *
 * @param gates how many gates there are: rows of the weights come in that many blocks of {@code hidden}
 * @param states how many vectors the state has: the hidden one, then what else the layer carries on
 * @param inputs names of all inputs, in order; those of the state start with {@code initial}
 */
record Recurrence(
        String op,
        RnnDirection direction,
        long hidden,
        int gates,
        int states,
        double clip,
        boolean batchFirst,
        List<String> inputs) {
    static final String BIAS = "bias";
    static final String LENGTHS = "lengths";
    static final String PEEPHOLES = "peepholes";

    /** One step of one sequence in one direction: replaces the state's vectors by the next ones. */
    interface Cell {
        void step(double[] x, double[][] state);
    }

    /** Makes the cell of one direction. */
    interface Cells {
        Cell of(int direction);
    }

    /** The names of a layer's inputs. */
    static List<String> names(boolean bias, boolean lengths, boolean hidden, boolean cell, boolean peepholes) {
        List<String> names = new ArrayList<>(List.of("x", "w", "r"));
        addIf(bias, BIAS, names);
        addIf(lengths, LENGTHS, names);
        addIf(hidden, "initial h", names);
        addIf(cell, "initial c", names);
        addIf(peepholes, PEEPHOLES, names);
        return List.copyOf(names);
    }

    private static void addIf(boolean there, String name, List<String> names) {
        if (there) {
            names.add(name);
        }
    }

    int directions() {
        return direction == RnnDirection.BIDIRECTIONAL ? 2 : 1;
    }

    /** Checks attributes; {@code activations} is how many a direction has. */
    void check(List<RnnActivation> given, int activations) {
        Expect.shape(hidden >= 1, op, () -> "hidden needs to be 1 or more: " + hidden);
        Expect.shape(clip >= 0, op, () -> "clip needs to be 0 (none) or more: " + clip);
        Expect.shape(
                given.size() == activations * directions(),
                op,
                () -> given.size() + " activations; expected " + activations * directions());
    }

    List<DType> dtypes(List<DType> dtypes) {
        DType dtype = Expect.floating(op, "x", dtypes.getFirst());
        for (int i = 1; i < dtypes.size(); i++) {
            Expect.same(op, inputs.get(i), dtypes.get(i), inputs.get(i).equals(LENGTHS) ? DType.I32 : dtype);
        }
        List<DType> results = new ArrayList<>();
        for (int i = 0; i <= states; i++) {
            results.add(dtype);
        }
        return results;
    }

    /** The shapes of y and of each final state. */
    List<Shape> shapes(List<Shape> shapes) {
        Shape x = shapes.getFirst();
        Rules.rank(op, "x", x, 3);
        Dim batch = x.dim(batchFirst ? 0 : 1);
        Dim time = x.dim(batchFirst ? 1 : 0);
        Dim d = Dim.of(directions());
        Dim h = Dim.of(hidden);
        Shape state = batchFirst ? Shape.of(batch, d, h) : Shape.of(d, batch, h);
        for (int i = 1; i < shapes.size(); i++) {
            String name = inputs.get(i);
            Shape wanted = switch (name) {
                case "w" -> Shape.of(d, Dim.of(gates * hidden), x.dim(2));
                case "r" -> Shape.of(d, Dim.of(gates * hidden), h);
                case BIAS -> Shape.of(d, Dim.of(2L * gates * hidden));
                case LENGTHS -> Shape.of(batch);
                case PEEPHOLES -> Shape.of(d, Dim.of(3 * hidden));
                default -> state;
            };
            Expect.same(op, name, shapes.get(i), wanted);
        }
        List<Shape> results = new ArrayList<>();
        results.add(batchFirst ? Shape.of(batch, time, d, h) : Shape.of(time, d, batch, h));
        for (int i = 0; i < states; i++) {
            results.add(state);
        }
        return results;
    }

    /** The elements of one direction's part of an input; zeros where the layer does not have it. */
    double[] part(List<NdArray> values, String name, int direction, int size) {
        double[] part = new double[size];
        int input = inputs.indexOf(name);
        for (int i = 0; input >= 0 && i < size; i++) {
            part[i] = values.get(input).get(direction * size + i);
        }
        return part;
    }

    double clipped(double x) {
        return clip > 0 ? Math.clamp(x, -clip, clip) : x;
    }

    /** An activation of an argument that is clipped first. */
    double activate(RnnActivation activation, double x) {
        return new Unary(activation.fn(), activation.alpha(), activation.beta()).apply(clipped(x));
    }

    /** Runs all sequences; the arrays are zeros and are filled: y, then the final states. */
    void run(List<NdArray> values, List<NdArray> results, Cells cells) {
        Shape x = values.getFirst().shape();
        int batch = SizeMath.toInt("recurrence", x.size(batchFirst ? 0 : 1));
        for (int d = 0; d < directions(); d++) {
            Cell cell = cells.of(d);
            for (int b = 0; b < batch; b++) {
                runSequence(values, results, cell, d, b);
            }
        }
    }

    private void runSequence(List<NdArray> values, List<NdArray> results, Cell cell, int d, int b) {
        NdArray x = values.getFirst();
        int batch = SizeMath.toInt("recurrence", x.shape().size(batchFirst ? 0 : 1));
        int time = SizeMath.toInt("recurrence", x.shape().size(batchFirst ? 1 : 0));
        int features = SizeMath.toInt("recurrence", x.shape().size(2));
        int size = (int) hidden;
        int atState = (batchFirst ? b * directions() + d : d * batch + b) * size;
        double[][] state = new double[states][size];
        for (int s = 0; s < states; s++) {
            int input = inputs.indexOf(s == 0 ? "initial h" : "initial c");
            for (int i = 0; input >= 0 && i < size; i++) {
                state[s][i] = values.get(input).get(atState + i);
            }
        }
        int given = inputs.indexOf(LENGTHS);
        int length = given < 0 ? time : Math.clamp(values.get(given).getLong(b), 0, time);
        boolean backwards = direction == RnnDirection.REVERSE || d == 1;
        for (int step = 0; step < length; step++) {
            int t = backwards ? length - 1 - step : step;
            double[] element = new double[features];
            for (int i = 0; i < features; i++) {
                element[i] = x.get((batchFirst ? b * time + t : t * batch + b) * features + i);
            }
            cell.step(element, state);
            int atY = (batchFirst ? (b * time + t) * directions() + d : (t * directions() + d) * batch + b) * size;
            for (int i = 0; i < size; i++) {
                results.getFirst().set(atY + i, state[0][i]);
            }
        }
        for (int s = 0; s < states; s++) {
            for (int i = 0; i < size; i++) {
                results.get(s + 1).set(atState + i, state[s][i]);
            }
        }
    }

    /** {@code sum over i of weights[row][i] x[i]}, the rows being as long as x. */
    static double dot(double[] weights, int row, double[] x) {
        double sum = 0;
        for (int i = 0; i < x.length; i++) {
            sum += weights[row * x.length + i] * x[i];
        }
        return sum;
    }

    /** One direction's weights. */
    static final class Weights {
        private final double[] w;
        private final double[] r;
        private final double[] bias;
        private final int rows;

        private Weights(Recurrence owner, List<NdArray> values, int direction) {
            rows = (int) (owner.gates * owner.hidden);
            int features =
                    SizeMath.toInt("recurrence", values.getFirst().shape().size(2));
            w = owner.part(values, "w", direction, rows * features);
            r = owner.part(values, "r", direction, rows * (int) owner.hidden);
            bias = owner.part(values, BIAS, direction, 2 * rows);
        }

        /** What the input adds to a row's sum, with its bias. */
        double input(int row, double[] x) {
            return dot(w, row, x) + bias[row];
        }

        /** What the last hidden state adds to a row's sum, with its bias. */
        double recurrent(int row, double[] h) {
            return dot(r, row, h) + bias[rows + row];
        }

        double both(int row, double[] x, double[] h) {
            return input(row, x) + recurrent(row, h);
        }
    }

    Weights weights(List<NdArray> values, int direction) {
        return new Weights(this, values, direction);
    }
}
