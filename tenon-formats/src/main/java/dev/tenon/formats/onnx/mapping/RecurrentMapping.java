package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

/** LSTM, GRU and RNN layers. */
final class RecurrentMapping {
    private RecurrentMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "LSTM" -> lstm(n);
            case "GRU" -> gru(n);
            case "RNN" -> rnn(n);
            default -> throw OnnxOps.unlisted(n);
        };
    }

    private static List<Value> lstm(NodeContext n) {
        Lstm op = new Lstm(
                direction(n),
                hidden(n),
                activations(n, List.of("Sigmoid", "Tanh", "Tanh")),
                n.attrFloat("clip", 0),
                n.attrFlag("input_forget", false),
                n.attrFlag("layout", false),
                n.has(3),
                n.has(4),
                n.has(5),
                n.has(6),
                n.has(7));
        return n.addAll(op, operands(n, 8));
    }

    private static List<Value> gru(NodeContext n) {
        Gru op = new Gru(
                direction(n),
                hidden(n),
                activations(n, List.of("Sigmoid", "Tanh")),
                n.attrFloat("clip", 0),
                n.attrFlag("linear_before_reset", false),
                n.attrFlag("layout", false),
                n.has(3),
                n.has(4),
                n.has(5));
        return n.addAll(op, operands(n, 6));
    }

    private static List<Value> rnn(NodeContext n) {
        Rnn op = new Rnn(
                direction(n),
                hidden(n),
                activations(n, List.of("Tanh")),
                n.attrFloat("clip", 0),
                n.attrFlag("layout", false),
                n.has(3),
                n.has(4),
                n.has(5));
        return n.addAll(op, operands(n, 6));
    }

    /** The inputs that are there, in order. */
    private static List<Value> operands(NodeContext n, int most) {
        List<Value> operands = new ArrayList<>(List.of(n.in(0), n.in(1), n.in(2)));
        for (int i = 3; i < most; i++) {
            if (n.has(i)) {
                operands.add(n.in(i));
            }
        }
        return operands;
    }

    private static RnnDirection direction(NodeContext n) {
        return switch (n.attrString("direction", "forward")) {
            case "forward" -> RnnDirection.FORWARD;
            case "reverse" -> RnnDirection.REVERSE;
            case "bidirectional" -> RnnDirection.BIDIRECTIONAL;
            default -> throw n.error("the direction \"" + n.attrString("direction", "") + "\" is not known");
        };
    }

    private static long hidden(NodeContext n) {
        if (n.hasAttr("hidden_size")) {
            return n.attrInt("hidden_size");
        }
        Dim size = n.in(2).shape().isRanked() && n.in(2).shape().rank() == 3
                ? n.in(2).shape().dim(2)
                : Dim.unknown();
        if (!size.isFixed()) {
            throw n.error("the attribute \"hidden_size\" is missing");
        }
        return size.size();
    }

    /**
     * A function for each gate and direction; those with parameters take the next of the two lists, or their defaults.
     */
    private static List<RnnActivation> activations(NodeContext n, List<String> defaults) {
        List<String> names = new ArrayList<>(n.attrStrings("activations"));
        if (names.isEmpty()) {
            names.addAll(defaults);
            if (direction(n) == RnnDirection.BIDIRECTIONAL) {
                names.addAll(defaults);
            }
        }
        Iterator<Float> alphas = n.attrFloats("activation_alpha").iterator();
        Iterator<Float> betas = n.attrFloats("activation_beta").iterator();
        List<RnnActivation> activations = new ArrayList<>();
        for (String name : names) {
            activations.add(
                    switch (name.toLowerCase(Locale.ROOT)) {
                        case "relu" -> new RnnActivation(UnaryFn.RELU, 0, 0);
                        case "tanh" -> RnnActivation.TANH;
                        case "sigmoid" -> RnnActivation.SIGMOID;
                        case "softsign" -> new RnnActivation(UnaryFn.SOFTSIGN, 0, 0);
                        case "softplus" -> new RnnActivation(UnaryFn.SOFTPLUS, 0, 0);
                        case "leakyrelu" -> new RnnActivation(UnaryFn.LEAKY_RELU, next(alphas, 0.01f), 0);
                        case "thresholdedrelu" -> new RnnActivation(UnaryFn.THRESHOLDED_RELU, next(alphas, 1), 0);
                        case "elu" -> new RnnActivation(UnaryFn.ELU, next(alphas, 1), 0);
                        case "affine" -> new RnnActivation(UnaryFn.AFFINE, next(alphas, 1), next(betas, 0));
                        case "scaledtanh" -> new RnnActivation(UnaryFn.SCALED_TANH, next(alphas, 1), next(betas, 1));
                        case "hardsigmoid" ->
                            new RnnActivation(UnaryFn.HARD_SIGMOID, next(alphas, 0.2f), next(betas, 0.5f));
                        default -> throw n.error("the activation \"" + name + "\" is not known");
                    });
        }
        return activations;
    }

    private static double next(Iterator<Float> values, float absent) {
        return values.hasNext() ? values.next() : absent;
    }
}
