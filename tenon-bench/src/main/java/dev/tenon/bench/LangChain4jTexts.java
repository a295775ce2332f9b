package dev.tenon.bench;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.onnx.allminilml6v2.AllMiniLmL6V2EmbeddingModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The peer of {@code tenon bench texts --texts FILE}: LangChain4j's in-process all-MiniLM-L6-v2 over the lines of a
 * file, tokenizing included, without warming up. Prints the seconds of loading and of each pass, as JSON.
 */
public final class LangChain4jTexts {
    private LangChain4jTexts() {}

    public static void main(String[] args) throws IOException {
        List<TextSegment> texts =
                Files.readAllLines(Path.of(args[0])).stream().map(TextSegment::from).toList();
        int passes = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        long start = System.nanoTime();
        AllMiniLmL6V2EmbeddingModel model = new AllMiniLmL6V2EmbeddingModel();
        StringBuilder json = new StringBuilder(String.format(Locale.ROOT, "{\"load_s\":%.3f", seconds(start)));
        json.append(",\"pass_s\":[");
        for (int pass = 0; pass < passes; pass++) {
            start = System.nanoTime();
            int vectors = model.embedAll(texts).content().size();
            json.append(String.format(Locale.ROOT, "%s%.3f", pass == 0 ? "" : ",", seconds(start)));
            if (vectors != texts.size()) {
                throw new IllegalStateException(vectors + " vectors of " + texts.size() + " texts");
            }
        }
        System.out.println(json.append("]}"));
        System.exit(0); // its thread pool would keep the process for a second
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
