package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Value;
import dev.tenon.core.lazy.Lazy;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The operators that Tenon imports, of the ONNX domain and of ONNX Runtime's, by family. Each family is one class whose
 * {@code map} has a row an operator; a row says by {@code since(13)} and the like what an operator set changed.
 *
 * <p>Names and families are plain text and rows are switch cases, not registered functions: creating some two hundred
 * lambdas at start-up costs more than importing a model.
 */
public final class OnnxOps {
    private enum Family {
        ELEMENTWISE("Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor IsNaN Log Mish Neg Not"
                + " Reciprocal Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh"
                + " Celu Elu HardSigmoid HardSwish LeakyRelu Selu Shrink Swish ThresholdedRelu Gelu IsInf Clip"
                + " Add Sub Mul Div And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift Mod Pow PRelu"
                + " Equal Greater GreaterOrEqual Less LessOrEqual Max Min Sum Mean Where Cast CastLike BitCast"),
        REDUCTION("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp"
                + " ReduceSumSquare ArgMax ArgMin CumSum CumProd TopK"),
        MOVEMENT("Reshape Transpose Concat Squeeze Unsqueeze Flatten Expand Tile Shape Size Identity DepthToSpace"
                + " SpaceToDepth Trilu OneHot Range"),
        INDEX("Gather GatherElements GatherND Scatter ScatterElements ScatterND Slice Split Pad"),
        CONSTANT("Constant ConstantOfShape EyeLike HannWindow HammingWindow BlackmanWindow"),
        CONTRACTION("MatMul Gemm Einsum"),
        CONVOLUTION(
                "Conv ConvInteger ConvTranspose MaxPool AveragePool LpPool GlobalAveragePool GlobalMaxPool GlobalLpPool"),
        RESIZE("Resize Upsample"),
        NORMALISATION("Softmax LogSoftmax Hardmax BatchNormalization InstanceNormalization GroupNormalization"
                + " LayerNormalization RMSNormalization LpNormalization LRN MeanVarianceNormalization Dropout"),
        QUANTISATION("QuantizeLinear DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearMatMul QLinearConv"),
        RECURRENT("LSTM GRU RNN"),
        ATTENTION("Attention RotaryEmbedding LinearAttention"),
        LOSS("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"),
        IMAGE("GridSample RoiAlign MaxRoiPool MaxUnpool DeformConv Col2Im"),
        SEARCH("NonZero Unique Compress NonMaxSuppression"),
        SIGNAL("DFT STFT MelWeightMatrix"),
        RANDOM("RandomUniform RandomNormal RandomUniformLike RandomNormalLike Bernoulli Multinomial"),
        CONTROL("If Loop Scan"),
        MICROSOFT(
                "com.microsoft",
                "SkipLayerNormalization SkipSimplifiedLayerNormalization EmbedLayerNormalization"
                        + " Gelu BiasGelu FastGelu QuickGelu MatMulNBits");

        private final String domain;
        private final String names;

        Family(String names) {
            this("", names);
        }

        Family(String domain, String names) {
            this.domain = domain;
            this.names = names;
        }

        List<Name> names() {
            return Stream.of(names.split(" "))
                    .map(name -> new Name(domain, name))
                    .toList();
        }
    }

    /**
     * What an operator is known by.
     *
     * @param domain empty for ONNX's own
     */
    public record Name(String domain, String op) {
        @Override
        public String toString() {
            return domain.isEmpty() ? op : domain + "." + op;
        }
    }

    private static final Lazy<Map<Name, Family>> FAMILIES = new Lazy<>() {
        @Override
        protected Map<Name, Family> make() {
            return families();
        }
    };

    private OnnxOps() {}

    private static Map<Name, Family> families() {
        Map<Name, Family> families = new HashMap<>();
        for (Family family : Family.values()) {
            family.names().forEach(name -> families.put(name, family));
        }
        return families;
    }

    /** Every operator there is, in the order of the families. */
    public static List<Name> names() {
        return Stream.of(Family.values())
                .flatMap(family -> family.names().stream())
                .toList();
    }

    public static boolean supports(Name name) {
        return FAMILIES.get().containsKey(name);
    }

    /** Adds what the node means; its results in order, as many as there are, maybe fewer than it names. */
    public static List<Value> map(Name name, NodeContext n) {
        Family family = FAMILIES.get().get(name);
        if (family == null) {
            throw n.error("is not supported");
        }
        InputRules.apply(name, n);
        return switch (family) {
            case ELEMENTWISE -> ElementwiseMapping.map(n);
            case REDUCTION -> ReductionMapping.map(n);
            case MOVEMENT -> MovementMapping.map(n);
            case INDEX -> IndexMapping.map(n);
            case CONSTANT -> ConstantMapping.map(n);
            case CONTRACTION -> ContractionMapping.map(n);
            case CONVOLUTION -> ConvolutionMapping.map(n);
            case RESIZE -> ResizeMapping.map(n);
            case NORMALISATION -> NormalisationMapping.map(n);
            case QUANTISATION -> QuantisationMapping.map(n);
            case RECURRENT -> RecurrentMapping.map(n);
            case ATTENTION -> AttentionMapping.map(n);
            case LOSS -> LossMapping.map(n);
            case IMAGE -> ImageMapping.map(n);
            case SEARCH -> SearchMapping.map(n);
            case SIGNAL -> SignalMapping.map(n);
            case RANDOM -> RandomMapping.map(n);
            case CONTROL -> ControlMapping.map(n);
            case MICROSOFT -> MicrosoftMapping.map(n);
        };
    }

    /**
     * What to do about an operator that is not there, as the end of a message: the name of its domain that is most like
     * it, if it looks like a slip, or the domain that has an operator of that name. Other domains' operators are no
     * help: they mean something else.
     */
    public static String advice(Name wanted) {
        List<String> domains = FAMILIES.get().keySet().stream()
                .filter(name -> name.op().equals(wanted.op()))
                .map(name -> name.domain().isEmpty() ? "the ONNX domain" : "the domain " + name.domain())
                .toList();
        if (!domains.isEmpty()) {
            return "; " + String.join(" and ", domains) + " has an operator of that name, so check the node's domain";
        }
        int slip = Math.max(1, wanted.op().length() / 4);
        return FAMILIES.get().keySet().stream()
                .filter(name -> name.domain().equals(wanted.domain()))
                .map(Name::op)
                .filter(op -> distance(op, wanted.op()) <= slip)
                .min(Comparator.<String>comparingInt(op -> distance(op, wanted.op()))
                        .thenComparing(Comparator.naturalOrder()))
                .map(op -> "; did you mean " + new Name(wanted.domain(), op) + "?")
                .orElse(
                        "; expected an operator of the ONNX domain or of com.microsoft that Tenon imports, or a function "
                                + "that the model defines");
    }

    /** A row is missing for a listed name: a fault of ours, not of the model. */
    static AssertionError unlisted(NodeContext n) {
        return new AssertionError(n.op() + " is listed in OnnxOps but has no row in its family");
    }

    /** Levenshtein's, of names without regard to case. */
    private static int distance(String a, String b) {
        // a hostile name may be megabytes long; no operator's is
        if (b.length() > 64) {
            return b.length();
        }
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                boolean same = Character.toLowerCase(a.charAt(i - 1)) == Character.toLowerCase(b.charAt(j - 1));
                int next = Math.min(Math.min(row[j], row[j - 1]) + 1, diagonal + (same ? 0 : 1));
                diagonal = row[j];
                row[j] = next;
            }
        }
        return row[b.length()];
    }
}
