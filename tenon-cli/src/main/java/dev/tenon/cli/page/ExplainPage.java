package dev.tenon.cli.page;

import dev.tenon.cli.console.Units;
import dev.tenon.core.report.ModelReport;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.report.ValueReport;
import java.util.List;
import java.util.Locale;

/**
 * A compiled model as a page: the steps with arcs from each value's producer to its readers, the ladder of each step,
 * and the arena over time.
 */
public final class ExplainPage {
    private static final int ROW = 22;
    private static final int ARCS = 180;
    private static final int CHART_WIDTH = 1000;
    private static final int CHART_HEIGHT = 320;

    private final Html html;
    private int plan;

    private ExplainPage(Html html) {
        this.html = html;
    }

    public static String of(ModelReport report) {
        Html html = new Html(report.graph() + " on " + report.target());
        ExplainPage page = new ExplainPage(html);
        html.fact(report.device().name() + ", " + report.device().detail() + "; weights: "
                + Units.bytes(report.weightBytes()) + " prepared");
        html.search("search steps: operation, tier, node, type, reason");
        for (PlanReport plan : report.plans()) {
            page.plan(plan);
        }
        return html.end();
    }

    private void plan(PlanReport report) {
        html.heading(String.join(", ", report.inputs()));
        html.fact(report.steps().size() + " steps; arena " + Units.bytes(report.arenaBytes()) + " ("
                + Units.bytes(report.unplannedBytes()) + " if nothing shared memory); workspace "
                + Units.bytes(report.workspaceBytes()));
        if (report.continues()) {
            html.fact("The graph goes on after this plan: a shape or branch depends on values that it brings forth.");
        }
        html.add("<div class=\"steps\">\n");
        arcs(report);
        html.add("<table class=\"rows\">\n");
        for (int i = 0; i < report.steps().size(); i++) {
            row(i, report.steps().get(i));
        }
        html.add("</table></div>\n").heading("The arena over time");
        arena(report);
        plan++;
    }

    private void row(int index, StepReport step) {
        String ladder = step.passedOver().isEmpty() ? "" : " *";
        html.add("<tr data-plan=\"" + plan + "\" data-step=\"" + index + "\" data-detail=\""
                        + Html.escaped(detail(index, step)) + "\">")
                .cell("number", String.valueOf(index + 1))
                .cell("op", step.op())
                .cell("tier", step.tier() + ladder)
                .cell("long", step.types())
                .cell("long quiet", step.node())
                .add("</tr>\n");
    }

    private static String detail(int index, StepReport step) {
        String ladder =
                step.passedOver().isEmpty() ? "" : "\npassed over:\n    " + String.join("\n    ", step.passedOver());
        return (index + 1) + "  " + step.op() + "  " + step.tier() + "\n" + step.types() + "\n" + step.node() + ladder;
    }

    private void arcs(PlanReport report) {
        html.add(String.format(
                Locale.ROOT,
                "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"which step reads what\">%n",
                ARCS,
                report.steps().size() * ROW));
        for (ValueReport value : report.values()) {
            for (int consumer : value.producer() < 0 ? List.<Integer>of() : value.consumers()) {
                double from = (value.producer() + 0.5) * ROW;
                double to = (consumer + 0.5) * ROW;
                double reach = Math.max(4, ARCS - 12 - 14 * Math.sqrt(consumer - value.producer()));
                html.add(String.format(
                        Locale.ROOT,
                        "<path class=\"s%d s%d\" d=\"M%d %.0f C%.0f %.0f %.0f %.0f %d %.0f\"><title>%s: %s</title></path>%n",
                        value.producer(),
                        consumer,
                        ARCS,
                        from,
                        reach,
                        from,
                        reach,
                        to,
                        ARCS,
                        to,
                        Html.escaped(value.name()),
                        Html.escaped(value.type())));
            }
        }
        html.add("</svg>\n");
    }

    private void arena(PlanReport report) {
        if (report.arenaBytes() == 0) {
            html.fact("This plan needs no arena.");
            return;
        }
        double perStep = (double) CHART_WIDTH / report.steps().size();
        double perByte = (double) CHART_HEIGHT / report.arenaBytes();
        html.add(String.format(
                Locale.ROOT,
                "<div class=\"scroll\"><svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"memory by step\">%n",
                CHART_WIDTH + 90,
                CHART_HEIGHT + 30));
        for (ValueReport value : report.values()) {
            if (value.place().equals("arena")) {
                html.add(String.format(
                        Locale.ROOT,
                        "<rect class=\"value\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.2f\"><title>%s: %s, %s at %d, steps %d to %d</title></rect>%n",
                        value.producer() * perStep,
                        value.offset() * perByte,
                        (value.last() - value.producer() + 1) * perStep,
                        Math.max(0.5, value.bytes() * perByte),
                        Html.escaped(value.name()),
                        Html.escaped(value.type()),
                        Units.bytes(value.bytes()),
                        value.offset(),
                        value.producer() + 1,
                        value.last() + 1));
            }
        }
        html.add(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"11\">0</text><text x=\"%d\" y=\"%d\">%s</text><text x=\"0\" y=\"%d\">step 1</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">step %d</text>%n</svg></div>%n",
                CHART_WIDTH + 6,
                CHART_WIDTH + 6,
                CHART_HEIGHT,
                Units.bytes(report.arenaBytes()),
                CHART_HEIGHT + 18,
                CHART_WIDTH,
                CHART_HEIGHT + 18,
                report.steps().size()));
    }
}
