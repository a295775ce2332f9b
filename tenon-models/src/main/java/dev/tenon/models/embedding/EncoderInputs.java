package dev.tenon.models.embedding;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.models.tokenizer.Encoding;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tensors that BERT-like models take: ids, mask, token types, and the weights of pooling. */
final class EncoderInputs {
    private static final String IDS = "input_ids";
    private static final String MASK = "attention_mask";
    private static final String TYPES = "token_type_ids";

    private EncoderInputs() {}

    /** Fails when the model takes anything else. */
    static void check(List<Value> inputs) {
        for (Value input : inputs) {
            if (!List.of(IDS, MASK, TYPES).contains(input.name())) {
                throw new UnsupportedException(
                        "an encoder takes input_ids, attention_mask and token_type_ids; this model wants \""
                                + input.name() + "\"");
            }
        }
    }

    /** Whether padding changes nothing: without a mask, a model takes it for text. */
    static boolean masked(List<Value> inputs) {
        return inputs.stream().anyMatch(input -> input.name().equals(MASK));
    }

    /**
     * One tensor for each of the model's inputs, texts padded: ids with {@code padId}, the others with zeros.
     *
     * @param poolings whose weights the model takes as {@link EncoderGraph#WEIGHTS}
     */
    static Map<String, Tensor> of(List<Value> inputs, TextBatch batch, int padId, List<Pooling> poolings) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Value input : inputs) {
            Tensor tensor = Tensor.zeros(TensorType.of(input.dtype(), batch.rows(), batch.length()));
            if (input.name().startsWith(EncoderGraph.WEIGHTS)) {
                int pooling = Integer.parseInt(input.name().substring(EncoderGraph.WEIGHTS.length()));
                weigh(tensor, batch, poolings.get(pooling));
            } else {
                fill(tensor, input, batch, input.name().equals(IDS) ? padId : 0);
            }
            tensors.put(input.name(), tensor);
        }
        return tensors;
    }

    private static void weigh(Tensor tensor, TextBatch batch, Pooling pooling) {
        float[] row = new float[batch.length()];
        for (int text = 0; text < batch.parts().size(); text++) {
            TextPart part = batch.parts().get(text);
            pooling.weigh(row, Math.min(part.from(), part.size() - 1), part.size());
            MemorySegment.copy(
                    row, 0, tensor.segment(), ValueLayout.JAVA_FLOAT, (long) text * row.length * 4, row.length);
        }
        repeatFirst(tensor, batch);
    }

    private static void fill(Tensor tensor, Value input, TextBatch batch, int pad) {
        int length = batch.length();
        long[] row = new long[length];
        for (int text = 0; text < batch.parts().size(); text++) {
            int[] values = values(input.name(), batch.parts().get(text).tokens());
            for (int i = 0; i < length; i++) {
                row[i] = i < values.length ? values[i] : pad;
            }
            long at = (long) text * length;
            if (input.dtype() == DType.I64) {
                MemorySegment.copy(row, 0, tensor.segment(), ValueLayout.JAVA_LONG, at * 8, length);
            } else {
                for (int i = 0; i < length; i++) {
                    Elements.setLong(input.dtype(), tensor.segment(), at + i, row[i]);
                }
            }
        }
        repeatFirst(tensor, batch);
    }

    private static void repeatFirst(Tensor tensor, TextBatch batch) {
        long row = tensor.byteSize() / batch.rows();
        for (int text = batch.parts().size(); text < batch.rows(); text++) {
            MemorySegment.copy(tensor.segment(), 0, tensor.segment(), text * row, row);
        }
    }

    private static int[] values(String input, Encoding text) {
        return switch (input) {
            case IDS -> text.ids();
            case MASK -> text.attentionMask();
            case TYPES -> text.typeIds();
            default -> throw new IllegalStateException(input);
        };
    }
}
