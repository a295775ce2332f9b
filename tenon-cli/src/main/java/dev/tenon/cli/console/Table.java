package dev.tenon.cli.console;

import dev.tenon.core.error.Text;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Columns as wide as their widest cell; numbers to the right. Cells are shown as {@link Text#name} shows names. */
public final class Table {
    private final List<List<String>> rows = new ArrayList<>();

    public Table(String... header) {
        rows.add(List.of(header));
    }

    public Table row(Object... cells) {
        List<String> row = new ArrayList<>();
        for (Object cell : cells) {
            row.add(Text.name(String.valueOf(cell)));
        }
        rows.add(row);
        return this;
    }

    public void print(PrintWriter out) {
        int[] widths = new int[rows.getFirst().size()];
        boolean[] numbers = new boolean[widths.length];
        for (int column = 0; column < widths.length; column++) {
            int at = column;
            widths[column] =
                    rows.stream().mapToInt(row -> width(row.get(at))).max().orElse(0);
            numbers[column] = rows.size() > 1
                    && rows.stream().skip(1).allMatch(row -> row.get(at).matches("[-+]?[0-9][0-9.,]*[a-zA-Z%×]*|"));
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < widths.length; column++) {
                String padding = " ".repeat(widths[column] - width(row.get(column)));
                line.append(column == 0 ? "" : "  ")
                        .append(numbers[column] ? padding + row.get(column) : row.get(column) + padding);
            }
            out.println(line.toString().stripTrailing());
        }
    }

    private static int width(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
