package dev.tenon.models.embedding;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.models.tokenizer.Encoding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tensors that BERT-like models take: ids, mask, token types. */
final class EncoderInputs {
    private static final String IDS = "input_ids";
    private static final String MASK = "attention_mask";

    private EncoderInputs() {}

    /** Fails when the model takes anything else. */
    static void check(List<Value> inputs) {
        inputs.forEach(input -> values(input.name(), List.of()));
    }

    /** Whether padding changes nothing: without a mask, a model takes it for text. */
    static boolean masked(List<Value> inputs) {
        return inputs.stream().anyMatch(input -> input.name().equals(MASK));
    }

    /** One tensor for each of the model's inputs, texts padded to {@code length}: ids with {@code padId}, the others with zeros. */
    static Map<String, Tensor> of(List<Value> inputs, List<Encoding> texts, int length, int padId) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Value input : inputs) {
            Tensor tensor = Tensor.zeros(TensorType.of(input.dtype(), texts.size(), length));
            List<int[]> rows = values(input.name(), texts);
            int pad = input.name().equals(IDS) ? padId : 0;
            for (int text = 0; text < rows.size(); text++) {
                fill(tensor, input.dtype(), (long) text * length, rows.get(text), length, pad);
            }
            tensors.put(input.name(), tensor);
        }
        return tensors;
    }

    private static List<int[]> values(String input, List<Encoding> texts) {
        return switch (input) {
            case IDS -> texts.stream().map(Encoding::ids).toList();
            case MASK -> texts.stream().map(Encoding::attentionMask).toList();
            case "token_type_ids" -> texts.stream().map(Encoding::typeIds).toList();
            default ->
                throw new UnsupportedException(
                        "an encoder takes input_ids, attention_mask and token_type_ids; this model wants \"" + input
                                + "\"");
        };
    }

    private static void fill(Tensor tensor, DType dtype, long at, int[] row, int length, int pad) {
        for (int i = 0; i < length; i++) {
            Elements.setLong(dtype, tensor.segment(), at + i, i < row.length ? row[i] : pad);
        }
    }
}
