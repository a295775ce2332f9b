package dev.tenon.bench;

import dev.langchain4j.model.embedding.onnx.allminilml6v2.AllMiniLmL6V2EmbeddingModel;

/**
 * The peer of {@code tenon embed --json}: LangChain4j's in-process all-MiniLM-L6-v2, from JVM start to the vector of
 * one text.
 */
public final class LangChain4jEmbed {
    private LangChain4jEmbed() {}

    public static void main(String[] args) {
        float[] vector =
                new AllMiniLmL6V2EmbeddingModel().embed(args[0]).content().vector();
        System.out.println(vector.length + " " + vector[0] + " " + vector[1]);
        System.exit(0); // its thread pool would keep the process for a second
    }
}
