package dev.tenon.core.ir;

/** Text form. */
public final class GraphText {
    private GraphText() {}

    public static String print(Graph graph) {
        StringBuilder text = new StringBuilder("graph \"" + graph.name() + "\"\n");
        graph.inputs().forEach(v -> text.append("  input ").append(v).append('\n'));
        graph.parameters().forEach(v -> text.append("  param ").append(v).append('\n'));
        graph.nodes().forEach(n -> text.append("  ").append(n).append('\n'));
        graph.outputs()
                .forEach((k, v) -> text.append("  output ")
                        .append(k)
                        .append(" = ")
                        .append(v)
                        .append('\n'));
        return text.toString();
    }
}
