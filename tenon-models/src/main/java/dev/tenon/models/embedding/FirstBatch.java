package dev.tenon.models.embedding;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileMode;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.ShapeProfile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The first texts of an encoder, where they are known before it is loaded: their sizes are planned ahead of time. */
final class FirstBatch {
    /** More texts make several batches, whose plans are made while the first one runs. */
    private static final int MOST_TEXTS = 32;

    private FirstBatch() {}

    /**
     * Returns options that plan the first batch of those texts ahead of time; the same options where its size is not
     * known before a run, and for no texts or many.
     *
     * @param inputs of the model
     */
    static CompileOptions planned(
            CompileOptions options, List<String> first, TextEncoder encoder, BatchRule rule, List<Value> inputs) {
        if (first.isEmpty() || first.size() > MOST_TEXTS) {
            return options;
        }
        List<TextPart> parts = new ArrayList<>();
        for (int i = 0; i < first.size(); i++) {
            encoder.encode(i, i, first.get(i), parts);
        }
        Map<String, Long> sizes = sizes(inputs, rule.batches(parts).getFirst());
        if (sizes == null) {
            return options;
        }
        ShapeProfile profile = options.mode() == CompileMode.AOT ? options.profile() : ShapeProfile.none();
        return options.withAheadOfTime(profile.withSizes(sizes));
    }

    /**
     * Returns the sizes of the named dims with which a batch runs; null where they do not bind every input.
     *
     * @param inputs of the model, [texts, tokens] each
     */
    static @Nullable Map<String, Long> sizes(List<Value> inputs, TextBatch batch) {
        Map<String, Long> sizes = new HashMap<>();
        for (Value input : inputs) {
            Shape shape = input.shape();
            if (!shape.isRanked() || shape.rank() != 2) {
                return null;
            }
            for (int axis = 0; axis < 2; axis++) {
                long size = axis == 0 ? batch.rows() : batch.length();
                Long bound = switch (shape.dim(axis)) {
                    case Dim.Named(String name) -> sizes.merge(name, size, (before, _) -> before);
                    case Dim.Fixed(long fixed) -> fixed;
                    default -> null;
                };
                if (bound == null || bound != size) {
                    return null;
                }
            }
        }
        return sizes;
    }
}
