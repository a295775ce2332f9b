package dev.tenon.models.embedding;

/** What happens to a text of more tokens than the model takes. */
public enum LongTexts {
    /** The text is cut at the limit, and counted in {@link Embeddings#cut()}. */
    CUT,
    /**
     * The text is embedded in parts that end between words, and the parts' pooled vectors are averaged with their
     * numbers of tokens as weights, as LangChain4j's in-process models do.
     */
    SPLIT
}
