package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.lazy.Lazy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Says what the specification asks of the inputs that steer an operator, such as bounds, axes, sizes and scales, and
 * checks it in one place before a mapping sees them.
 *
 * <p>A mapping gets a scalar as a value of rank 0 and a list as one of rank 1, however the exporter wrote it. Where a
 * shape is not known before a run, the reshape that does this fails in the run. Source: the operators' texts in the
 * ONNX specification, and ContribOperators.md for {@code com.microsoft}.
 */
public final class InputRules {
    /** The shapes that an input may have. */
    public enum Kind {
        /** One element, of any rank. */
        SCALAR("one element"),
        /** Rank 1. */
        VECTOR("rank 1"),
        /** Rank 1; a scalar is a list of one. */
        LIST("rank 1 or a scalar"),
        /** One element for the whole tensor or rank 1 for one per slice; with the attribute block_size any rank. */
        SCALE("one element or rank 1");

        private final String expected;

        Kind(String expected) {
            this.expected = expected;
        }

        public boolean accepts(Shape shape) {
            if (!shape.isRanked()) {
                return true;
            }
            boolean single = shape.dims().stream().allMatch(dim -> dim.mayEqual(Dim.of(1)));
            return switch (this) {
                case SCALAR -> single;
                case VECTOR -> shape.rank() == 1;
                case LIST -> shape.rank() <= 1;
                case SCALE -> single || shape.rank() == 1;
            };
        }
    }

    /**
     * The rule for one input.
     *
     * @param name as the specification names the input
     * @param constant whether Tenon needs its value while it imports the model
     */
    public record Rule(int input, String name, Kind kind, boolean constant) {
        private static Rule parse(String text) {
            String[] parts = text.split(":");
            return new Rule(
                    Integer.parseInt(parts[0]),
                    parts[1],
                    Kind.valueOf(parts[2].toUpperCase(java.util.Locale.ROOT)),
                    parts.length > 3);
        }
    }

    /** An operator on each line, then its inputs: index, name, kind, and whether it must be a constant. */
    private static final String TABLE = """
            BatchNormalization 1:scale:vector 2:B:vector 3:input_mean:vector 4:input_var:vector
            BlackmanWindow 0:size:scalar
            Clip 1:min:scalar 2:max:scalar
            Col2Im 1:image_shape:vector 2:block_shape:vector
            Compress 1:condition:vector
            ConstantOfShape 0:input:vector
            Conv 2:B:vector
            ConvInteger 2:x_zero_point:scalar 3:w_zero_point:scale
            ConvTranspose 2:B:vector
            CumProd 1:axis:scalar
            CumSum 1:axis:scalar
            DFT 1:dft_length:scalar 2:axis:scalar
            DeformConv 3:B:vector
            DequantizeLinear 1:x_scale:scale 2:x_zero_point:scale
            Dropout 1:ratio:scalar 2:training_mode:scalar:constant
            Expand 1:shape:vector
            GRU 4:sequence_lens:vector
            GroupNormalization 1:scale:vector 2:bias:vector
            HammingWindow 0:size:scalar
            HannWindow 0:size:scalar
            If 0:cond:scalar
            InstanceNormalization 1:scale:vector 2:B:vector
            LSTM 4:sequence_lens:vector
            Loop 0:M:scalar 1:cond:scalar
            MaxUnpool 2:output_shape:vector:constant
            MelWeightMatrix 0:num_mel_bins:scalar 1:dft_length:scalar 2:sample_rate:scalar \
             3:lower_edge_hertz:scalar 4:upper_edge_hertz:scalar
            NegativeLogLikelihoodLoss 2:weight:vector
            NonMaxSuppression 2:max_output_boxes_per_class:scalar 3:iou_threshold:scalar 4:score_threshold:scalar
            OneHot 1:depth:scalar 2:values:vector
            Pad 1:pads:vector 2:constant_value:scalar 3:axes:list
            QLinearConv 1:x_scale:scalar 2:x_zero_point:scalar 4:w_scale:scale 5:w_zero_point:scale 6:y_scale:scalar \
             7:y_zero_point:scalar 8:B:vector
            QuantizeLinear 1:y_scale:scale 2:y_zero_point:scale
            RNN 4:sequence_lens:vector
            Range 0:start:scalar 1:limit:scalar 2:delta:scalar
            ReduceL1 1:axes:list
            ReduceL2 1:axes:list
            ReduceLogSum 1:axes:list
            ReduceLogSumExp 1:axes:list
            ReduceMax 1:axes:list
            ReduceMean 1:axes:list
            ReduceMin 1:axes:list
            ReduceProd 1:axes:list
            ReduceSum 1:axes:list
            ReduceSumSquare 1:axes:list
            Reshape 1:shape:vector
            Resize 1:roi/scales:vector 2:scales:vector 3:sizes:vector
            RoiAlign 2:batch_indices:vector
            STFT 1:frame_step:scalar 2:window:vector 3:frame_length:scalar
            Slice 1:starts:list 2:ends:list 3:axes:list 4:steps:list
            SoftmaxCrossEntropyLoss 2:weights:vector
            Split 1:split:vector
            Squeeze 1:axes:list
            Tile 1:repeats:vector
            TopK 1:K:scalar
            Trilu 1:k:scalar
            Unsqueeze 1:axes:list
            Upsample 1:scales:vector
            Attention 6:nonpad_kv_seqlen:vector
            com.microsoft.EmbedLayerNormalization 5:gamma:vector 6:beta:vector
            com.microsoft.MatMulNBits 5:bias:vector
            com.microsoft.SkipLayerNormalization 2:gamma:vector 3:beta:vector 4:bias:vector
            com.microsoft.SkipSimplifiedLayerNormalization 2:gamma:vector 3:bias:vector
            """;

    private static final Lazy<Map<String, List<Rule>>> RULES = new Lazy<>() {
        @Override
        protected Map<String, List<Rule>> make() {
            return parse();
        }
    };

    private InputRules() {}

    private static Map<String, List<Rule>> parse() {
        Map<String, List<Rule>> rules = new HashMap<>();
        for (String line : TABLE.replace("\\\n", "").split("\n")) {
            String[] words = line.trim().split(" +");
            List<Rule> own = new ArrayList<>();
            for (int i = 1; i < words.length; i++) {
                own.add(Rule.parse(words[i]));
            }
            rules.put(words[0], List.copyOf(own));
        }
        return rules;
    }

    /** The rules for an operator; none where the specification asks nothing of single inputs. */
    public static List<Rule> of(OnnxOps.Name operator) {
        return RULES.get().getOrDefault(operator.toString(), List.of());
    }

    /** The operators in the table, for a test that it names none that is not there. */
    static Set<String> operators() {
        return RULES.get().keySet();
    }

    /**
     * Checks a node's inputs and hands scalars and lists to its mapping in one form.
     *
     * @throws dev.tenon.core.error.ImportException naming the input and its shape
     */
    static void apply(OnnxOps.Name operator, NodeContext n) {
        for (Rule rule : of(operator)) {
            if (n.has(rule.input())) {
                n.replace(rule.input(), applied(n, rule, n.in(rule.input())));
            }
        }
    }

    private static Value applied(NodeContext n, Rule rule, Value value) {
        Shape shape = value.shape();
        boolean blocks = rule.kind() == Kind.SCALE && n.attrInt("block_size", 0) != 0;
        if (blocks) {
            return value;
        }
        if (!rule.kind().accepts(shape)) {
            throw n.error("input " + rule.input() + " (" + rule.name() + ") is " + value + "; expected "
                    + rule.kind().expected);
        }
        if (rule.constant() && value.constant() == null) {
            throw n.error("input " + rule.input() + " (" + rule.name() + ") is " + value
                    + ", computed or given in a run; expected a constant");
        }
        boolean ranked = shape.isRanked();
        return switch (rule.kind()) {
            case SCALAR -> ranked && shape.rank() == 0 ? value : n.reshape(value);
            case LIST -> ranked && shape.rank() == 0 ? n.reshape(value, 1) : value;
            case SCALE ->
                ranked && shape.rank() > 0 && shape.isConcrete() && shape.elements() == 1 ? n.reshape(value) : value;
            case VECTOR -> value;
        };
    }
}
