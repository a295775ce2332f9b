package dev.tenon.cli.ranks;

import dev.tenon.collective.Chunks;
import java.util.Arrays;
import java.util.Locale;

/**
 * Draws a ring all-reduce: one row per rank, one column per step, one colour per chunk, one arrow per message. One SVG
 * file that needs nothing else.
 */
final class RingDrawing {
    private static final int MARGIN = 20;
    private static final int LABEL = 60;
    private static final int TOP = 70;
    private static final int BOX = 26;
    private static final int ROW = 64;
    private static final int GAP = 70;
    private static final double CHARACTER = 7.4;

    private final RingTrace trace;
    private final Chunks chunks;
    private final int box;
    private final int panel;
    private final StringBuilder svg = new StringBuilder();

    private RingDrawing(RingTrace trace) {
        this.trace = trace;
        chunks = trace.chunks();
        int longest = 1;
        for (int column = 0; column <= trace.steps().size(); column++) {
            for (float[] vector : vectors(column)) {
                for (int chunk = 0; chunk < chunks.world(); chunk++) {
                    longest = Math.max(longest, text(vector, chunk).length());
                }
            }
        }
        box = (int) (longest * CHARACTER) + 12;
        panel = box * chunks.world();
    }

    static String of(RingTrace trace) {
        return new RingDrawing(trace).draw();
    }

    private String draw() {
        int columns = trace.steps().size() + 1;
        int width = 2 * MARGIN + LABEL + columns * panel + (columns - 1) * GAP;
        int height = TOP + chunks.world() * ROW + MARGIN;
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12\">",
                width, height, width, height);
        add("<title>Ring all-reduce, %d ranks, %d elements</title>", chunks.world(), chunks.length());
        add("<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>");
        add(
                "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#444\"/></marker></defs>");
        for (int rank = 0; rank < chunks.world(); rank++) {
            add("<text x=\"%d\" y=\"%d\" fill=\"#222\">rank %d</text>", MARGIN, y(rank) + BOX / 2 + 4, rank);
        }
        for (int column = 1; column < columns; column++) {
            for (RingTrace.Transfer transfer : trace.steps().get(column - 1).transfers()) {
                arrow(column, transfer);
            }
        }
        // over the arrows, so that numbers stay readable
        for (int column = 0; column < columns; column++) {
            column(column);
        }
        return svg.append("</svg>\n").toString();
    }

    private void column(int column) {
        String phase = column == 0 ? "start" : trace.steps().get(column - 1).phase();
        String step = column == 0 ? "" : "step " + trace.steps().get(column - 1).number();
        int middle = x(column) + panel / 2;
        add(
                "<text x=\"%d\" y=\"24\" text-anchor=\"middle\" fill=\"#222\" font-weight=\"bold\">%s</text>",
                middle, phase);
        add("<text x=\"%d\" y=\"42\" text-anchor=\"middle\" fill=\"#555\">%s</text>", middle, step);
        float[][] vectors = vectors(column);
        for (int rank = 0; rank < chunks.world(); rank++) {
            for (int chunk = 0; chunk < chunks.world(); chunk++) {
                boolean done = Arrays.equals(
                        RingTrace.values(vectors[rank], chunks, chunk),
                        RingTrace.values(trace.result(), chunks, chunk));
                int left = x(column) + chunk * box;
                add(
                        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"hsl(%d 70%% %d%%)\" stroke=\"#555\" stroke-width=\"%s\"/>",
                        left, y(rank), box, BOX, 360 * chunk / chunks.world(), done ? 72 : 92, done ? "2" : "0.7");
                add(
                        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#111\">%s</text>",
                        left + box / 2, y(rank) + BOX / 2 + 4, text(vectors[rank], chunk));
            }
        }
    }

    /** From the chunk where it lay to the chunk that it was folded into, or copied over. */
    private void arrow(int column, RingTrace.Transfer transfer) {
        int fromX = x(column - 1) + transfer.chunk() * box + box / 2;
        int toX = x(column) + transfer.chunk() * box + box / 2;
        boolean down = transfer.to() > transfer.from();
        int fromY = y(transfer.from()) + (down ? BOX : 0);
        int toY = y(transfer.to()) + (down ? 0 : BOX);
        add(
                "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"hsl(%d 60%% 35%%)\" stroke-width=\"1.3\"%s marker-end=\"url(#a)\"/>",
                fromX,
                fromY,
                toX,
                toY,
                360 * transfer.chunk() / chunks.world(),
                down ? "" : " stroke-dasharray=\"5 3\"");
    }

    private float[][] vectors(int column) {
        return column == 0 ? trace.start() : trace.steps().get(column - 1).after();
    }

    private String text(float[] vector, int chunk) {
        String list = AllReduceCommand.text(RingTrace.values(vector, chunks, chunk));
        return list.substring(1, list.length() - 1);
    }

    private int x(int column) {
        return MARGIN + LABEL + column * (panel + GAP);
    }

    private static int y(int rank) {
        return TOP + rank * ROW;
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation is in a library that the command does not need
    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
