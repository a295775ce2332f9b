package dev.tenon.models.embedding;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.runtime.Tensor;
import dev.tenon.models.tokenizer.Encoding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tensors that BERT-like models take: ids, mask, token types. */
final class EncoderInputs {
    private EncoderInputs() {}

    /** Fails when the model takes anything else. */
    static void check(List<Value> inputs) {
        inputs.forEach(input -> values(input.name(), List.of()));
    }

    /** One tensor for each of the model's inputs, texts padded with zeros to {@code length}. */
    static Map<String, Tensor> of(List<Value> inputs, List<Encoding> texts, int length) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Value input : inputs) {
            Tensor tensor = Tensor.zeros(TensorType.of(input.dtype(), texts.size(), length));
            List<int[]> rows = values(input.name(), texts);
            for (int text = 0; text < rows.size(); text++) {
                fill(tensor, input.dtype(), (long) text * length, rows.get(text));
            }
            tensors.put(input.name(), tensor);
        }
        return tensors;
    }

    private static List<int[]> values(String input, List<Encoding> texts) {
        return switch (input) {
            case "input_ids" -> texts.stream().map(Encoding::ids).toList();
            case "attention_mask" -> texts.stream().map(Encoding::attentionMask).toList();
            case "token_type_ids" -> texts.stream().map(Encoding::typeIds).toList();
            default ->
                throw new UnsupportedException(
                        "an encoder takes input_ids, attention_mask and token_type_ids; this model wants \"" + input
                                + "\"");
        };
    }

    private static void fill(Tensor tensor, DType dtype, long at, int[] row) {
        for (int i = 0; i < row.length; i++) {
            Elements.setLong(dtype, tensor.segment(), at + i, row[i]);
        }
    }
}
