package dev.tenon.models.embedding;

import dev.tenon.core.ir.Value;
import dev.tenon.core.options.ShapePolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Which texts go together, and what they are padded to. Few sizes are used, since each takes a plan; texts of like
 * length go together, since padding costs as text does.
 *
 * @param mostTexts of a batch
 * @param mostTokens of a batch, padding included; a single text may have more
 * @param enoughTokens with that many tokens a batch ends before a text that would be padded by a third and more: then
 *     padding costs more than another run
 * @param lengths how lengths are rounded up
 * @param mostLength the model's limit of tokens
 * @param padded whether padding changes nothing; where it does, only texts of one length go together
 * @param fewCounts whether the number of texts is rounded as well, by repeating one
 */
record BatchRule(
        int mostTexts,
        long mostTokens,
        long enoughTokens,
        ShapePolicy lengths,
        int mostLength,
        boolean padded,
        boolean fewCounts) {
    private static final int COUNTS = 8;
    /** Of a batch on a CPU: rows enough for products to run at full speed on all cores. */
    private static final int ENOUGH_TOKENS = 256;

    /**
     * What suits a model on a device, as far as the options do not say.
     *
     * @param inputs of the model
     */
    static BatchRule of(EncoderSetup setup, EncoderOptions options, List<Value> inputs, boolean cpu) {
        int most = options.batch() != null ? options.batch() : cpu ? 32 : 1024;
        ShapePolicy lengths = options.lengths();
        if (lengths == null) {
            lengths = cpu ? ShapePolicy.exact() : ShapePolicy.buckets();
        }
        return new BatchRule(
                setup.alone() ? 1 : most,
                options.batch() != null ? Long.MAX_VALUE : cpu ? 1 << 12 : 1 << 15,
                options.batch() == null && cpu ? ENOUGH_TOKENS : Long.MAX_VALUE,
                lengths,
                setup.maxTokens(),
                !setup.alone() && EncoderInputs.masked(inputs),
                !cpu);
    }

    /** Batches of all parts, the longest texts first: so a session's memory grows once. */
    List<TextBatch> batches(List<TextPart> parts) {
        List<TextPart> sorted = new ArrayList<>(parts);
        sorted.sort(Comparator.comparingInt(TextPart::size).reversed());
        List<TextBatch> batches = new ArrayList<>();
        for (int from = 0; from < sorted.size(); ) {
            TextBatch batch = batch(sorted.subList(from, sorted.size()));
            batches.add(batch);
            from += batch.parts().size();
        }
        return batches;
    }

    /** The first batch of texts that are sorted by length, the longest first. */
    private TextBatch batch(List<TextPart> sorted) {
        int longest = sorted.getFirst().size();
        int length = padded ? Math.toIntExact(lengths.round(longest, mostLength)) : longest;
        int most = Math.toIntExact(Math.clamp(mostTokens / length, 1, mostTexts));
        if (fewCounts && most > COUNTS) {
            most -= most % COUNTS;
        }
        int count = Math.min(most, sorted.size());
        while (!padded && sorted.get(count - 1).size() != longest) {
            count--;
        }
        for (int i = Math.toIntExact(Math.clamp(Math.ceilDiv(enoughTokens, length), 1, count)); i < count; i++) {
            if (4L * sorted.get(i).size() < 3L * length) {
                count = i;
            }
        }
        return new TextBatch(sorted.subList(0, count), padded && fewCounts ? rounded(count, most) : count, length);
    }

    /** The next power of two, or the most. */
    private static int rounded(int count, int most) {
        int power = Integer.highestOneBit(count);
        return Math.min(most, power == count ? count : 2 * power);
    }
}
