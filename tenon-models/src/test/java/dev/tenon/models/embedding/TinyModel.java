package dev.tenon.models.embedding;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * An embedding model whose token vectors are rows of a table, so that every pooled vector is known, and its tokenizer
 * of the words "a" to "e".
 *
 * <p>The vector of token {@code i} is {@code (i, i·i, 1)}. The ONNX file is protobuf, written field by field.
 */
final class TinyModel {
    static final List<String> WORDS = List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "e", "q");
    private static final int WIDTH = 3;
    private static final int FLOAT = 1;
    private static final int INT64 = 7;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private TinyModel() {}

    /**
     * @param rank 3 for an output of token vectors, {@code last_hidden_state}; 2 for their maxima over the tokens,
     *     {@code sentence_embedding}
     */
    static Path write(Path file, int rank) throws IOException {
        Files.createDirectories(file.getParent());
        return Files.write(
                file,
                new TinyModel()
                        .number(1, 8)
                        .message(7, graph -> {
                            graph.string(2, "tiny").message(5, TinyModel::table);
                            graph.message(11, v -> v.port("input_ids", INT64, "batch", "tokens"));
                            graph.message(11, v -> v.port("attention_mask", INT64, "batch", "tokens"));
                            graph.message(
                                    1,
                                    n -> n.string(1, "table")
                                            .string(1, "input_ids")
                                            .string(2, "hidden")
                                            .string(4, "Gather"));
                            if (rank == 2) {
                                graph.message(
                                        1,
                                        n -> n.string(1, "hidden")
                                                .string(2, "sentence_embedding")
                                                .string(4, "ReduceMax")
                                                .message(
                                                        5,
                                                        a -> a.string(1, "axes")
                                                                .number(8, 1)
                                                                .number(20, 7))
                                                .message(
                                                        5,
                                                        a -> a.string(1, "keepdims")
                                                                .number(3, 0)
                                                                .number(20, 2)));
                                return graph.message(12, v -> v.port("sentence_embedding", FLOAT, "batch", "width"));
                            }
                            graph.message(
                                    1,
                                    n -> n.string(1, "hidden")
                                            .string(2, "last_hidden_state")
                                            .string(4, "Identity"));
                            return graph.message(
                                    12, v -> v.port("last_hidden_state", FLOAT, "batch", "tokens", "width"));
                        })
                        .message(8, o -> o.string(1, "").number(2, 13))
                        .bytes());
    }

    private static TinyModel table(TinyModel tensor) {
        ByteBuffer data =
                ByteBuffer.allocate(WORDS.size() * WIDTH * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < WORDS.size(); i++) {
            data.putFloat(i).putFloat(i * i).putFloat(1);
        }
        return tensor.number(1, WORDS.size())
                .number(1, WIDTH)
                .number(2, FLOAT)
                .string(8, "table")
                .bytes(9, data.array());
    }

    /** @param truncation the file's own, JSON or null */
    static Path tokenizer(Path file, String truncation) throws IOException {
        StringBuilder vocabulary = new StringBuilder();
        for (int i = 0; i < WORDS.size(); i++) {
            vocabulary
                    .append(i == 0 ? "" : ",")
                    .append('"')
                    .append(WORDS.get(i))
                    .append("\":")
                    .append(i);
        }
        return Files.writeString(file, """
                {"version":"1.0","truncation":%s,"padding":null,"added_tokens":[],
                 "normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":false},
                 "pre_tokenizer":{"type":"BertPreTokenizer"},
                 "post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},
                 "decoder":null,
                 "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
                  "vocab":{%s}}}
                """.formatted(truncation, vocabulary));
    }

    private TinyModel port(String name, int type, String... dims) {
        return string(1, name)
                .message(
                        2,
                        t -> t.message(
                                1,
                                x -> x.number(1, type).message(2, shape -> {
                                    for (String dim : dims) {
                                        shape.message(1, d -> d.string(2, dim));
                                    }
                                    return shape;
                                })));
    }

    private TinyModel number(int field, long value) {
        varint((long) field << 3);
        varint(value);
        return this;
    }

    private TinyModel string(int field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    private TinyModel message(int field, UnaryOperator<TinyModel> body) {
        return bytes(field, body.apply(new TinyModel()).bytes());
    }

    private TinyModel bytes(int field, byte[] value) {
        varint((long) field << 3 | 2);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    private byte[] bytes() {
        return out.toByteArray();
    }

    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.write((int) ((rest & 0x7F) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
