package dev.tenon.core.ir;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The text form of graphs: one line a node, and the same graph again when it is read.
 *
 * <pre>{@code
 * graph "head" {
 *   input %x: f32[batch,384]
 *   param %w: f32[384,2]
 *   const %half: f32[] = splat 0.5
 *   const %shift: f32[2] = [1.0, -1.5]
 *   const %table: f32[30522,384] = data("0")
 *   %y: f32[batch,2] = mat_mul(epilogue=(activation=(fn=relu))) %x, %w @"/layer.0/dense"
 *   %v: f32[batch,1], %i: i64[batch,1] = top_k(k=1, axis=1, largest=true) %y
 *   output "values" = %v
 * }
 * }</pre>
 *
 * <p>Attributes are the record's components; one that is false, 0, an empty list, null, or its class's NONE is left
 * out. A name that is not plain is quoted: {@code %"a b"}; a dim without a name or number is {@code ?}, a shape without
 * a rank {@code [...]}. Elements are decimal, or hexadecimal bits where a decimal would not give the same ones (a NaN
 * with a payload). Dense constants of more than 16 elements stay outside of the text, under a key. {@code #} starts a
 * comment.
 */
public final class GraphText {
    /** Dense constants of more elements are not spelled out. */
    static final int INLINE_ELEMENTS = 16;

    private GraphText() {}

    public static String print(Graph graph) {
        return new GraphPrinter().print(graph);
    }

    /** The constants that {@link #print} leaves outside of the text, by their keys. */
    public static SequencedMap<String, ConstantData> data(Graph graph) {
        GraphPrinter printer = new GraphPrinter();
        printer.print(graph);
        SequencedMap<String, ConstantData> byKey = new LinkedHashMap<>();
        List<ConstantData> outside = printer.outside();
        for (int i = 0; i < outside.size(); i++) {
            byKey.put(Integer.toString(i), outside.get(i));
        }
        return byKey;
    }

    /** A verified graph from a text that has all its constants. See {@link #parse(String, Function)}. */
    public static Graph parse(String text) {
        return parse(text, key -> null);
    }

    /**
     * The verified graph that the text means.
     *
     * @param data the constants that are not in the text, by their keys; null for a key that is not known
     * @throws dev.tenon.core.error.ImportException naming the line, when the text does not have the form
     * @throws dev.tenon.core.error.VerificationException when it does, but the graph is not sound
     */
    public static Graph parse(String text, Function<String, @Nullable ConstantData> data) {
        TextCursor cursor = new TextCursor(text);
        Graph graph = new GraphParser(cursor, data).graph();
        cursor.end();
        return graph;
    }
}
