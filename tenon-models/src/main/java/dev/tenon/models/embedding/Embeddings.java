package dev.tenon.models.embedding;

import dev.tenon.core.error.Require;
import java.util.List;

/**
 * The vectors of some texts.
 *
 * @param vectors one a text, in the order of the texts
 * @param cut the indices of the texts that were cut at the limit of tokens
 */
public record Embeddings(List<float[]> vectors, List<Integer> cut) {
    public Embeddings {
        vectors = List.copyOf(Require.elements(vectors, "vectors"));
        cut = List.copyOf(Require.elements(cut, "cut"));
    }
}
