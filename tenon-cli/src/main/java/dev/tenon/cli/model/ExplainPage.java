package dev.tenon.cli.model;

import dev.tenon.cli.console.Units;
import dev.tenon.core.report.ModelReport;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.report.ValueReport;
import java.util.List;
import java.util.Locale;

/**
 * A compiled model as one self-contained page: the steps with arcs from each value's producer to its readers, the
 * ladder of each step, and the arena over time.
 */
final class ExplainPage {
    private static final int ROW = 22;
    private static final int ARCS = 180;
    private static final int CHART_WIDTH = 1000;
    private static final int CHART_HEIGHT = 320;

    private static final String STYLE = """
            :root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #3367d6; }
            body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem; max-width: 1200px; }
            h1 { font-size: 1.3rem; margin: 0 0 .3rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; }
            .facts { color: GrayText; }
            .steps { display: flex; } .steps svg { flex: none; } .steps table { border-collapse: collapse; flex: 1; min-width: 0; }
            .steps td { height: 22px; padding: 0 .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; font-size: 12px; line-height: 21px; }
            .steps td.types, .steps td.node { max-width: 26rem; overflow: hidden; text-overflow: ellipsis; } .steps td.node { color: GrayText; }
            .op { font-weight: 600; } .tier { color: var(--accent); }
            path { fill: none; stroke: var(--accent); stroke-opacity: .35; } path.hot { stroke-opacity: 1; stroke-width: 2; }
            rect.value { fill: var(--accent); fill-opacity: .45; stroke: var(--accent); } rect.value:hover { fill-opacity: .9; }
            text { fill: currentColor; font-size: 11px; }
            """;

    /** Marks the arcs of the step under the pointer. */
    private static final String SCRIPT = """
            for (const row of document.querySelectorAll('tr[data-step]')) {
              const mark = on => row.closest('.steps').querySelectorAll(`path.s${row.dataset.step}`).forEach(p => p.classList.toggle('hot', on));
              row.addEventListener('mouseenter', () => mark(true)); row.addEventListener('mouseleave', () => mark(false));
            }
            """;

    private final StringBuilder html = new StringBuilder();

    private ExplainPage() {}

    static String of(ModelReport report) {
        ExplainPage page = new ExplainPage();
        page.html
                .append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>")
                .append(escaped(report.graph()))
                .append("</title><style>")
                .append(STYLE)
                .append("</style></head><body>\n");
        page.html
                .append("<h1>")
                .append(escaped(report.graph()))
                .append(" on ")
                .append(escaped(report.target()))
                .append("</h1>\n");
        page.fact(report.device().name() + ", " + report.device().detail() + "; weights: "
                + Units.bytes(report.weightBytes()) + " prepared");
        for (PlanReport plan : report.plans()) {
            page.plan(plan);
        }
        page.html.append("<script>").append(SCRIPT).append("</script></body></html>\n");
        return page.html.toString();
    }

    private void fact(String text) {
        html.append("<p class=\"facts\">").append(escaped(text)).append("</p>\n");
    }

    private void plan(PlanReport plan) {
        html.append("<h2>").append(escaped(String.join(", ", plan.inputs()))).append("</h2>\n");
        fact(plan.steps().size() + " steps; arena " + Units.bytes(plan.arenaBytes()) + " ("
                + Units.bytes(plan.unplannedBytes()) + " if nothing shared memory); workspace "
                + Units.bytes(plan.workspaceBytes()));
        if (plan.continues()) {
            fact("The graph goes on after this plan: a shape or branch depends on values that it brings forth.");
        }
        html.append("<div class=\"steps\">\n");
        arcs(plan);
        html.append("<table>\n");
        for (int i = 0; i < plan.steps().size(); i++) {
            row(i, plan.steps().get(i));
        }
        html.append("</table></div>\n<h2>The arena over time</h2>\n");
        arena(plan);
    }

    private void row(int index, StepReport step) {
        String ladder = step.passedOver().isEmpty() ? "" : "passed over: " + String.join("; ", step.passedOver());
        html.append(String.format(
                Locale.ROOT,
                "<tr data-step=\"%d\"><td>%d</td><td class=\"op\">%s</td><td class=\"tier\" title=\"%s\">%s%s</td><td class=\"types\" title=\"%s\">%s</td><td class=\"node\" title=\"%s\">%s</td></tr>%n",
                index,
                index + 1,
                escaped(step.op()),
                escaped(ladder),
                escaped(step.tier()),
                ladder.isEmpty() ? "" : " *",
                escaped(step.types()),
                escaped(step.types()),
                escaped(step.node()),
                escaped(step.node())));
    }

    private void arcs(PlanReport plan) {
        html.append(String.format(
                Locale.ROOT,
                "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"which step reads what\">%n",
                ARCS,
                plan.steps().size() * ROW));
        for (ValueReport value : plan.values()) {
            for (int consumer : value.producer() < 0 ? List.<Integer>of() : value.consumers()) {
                double from = (value.producer() + 0.5) * ROW;
                double to = (consumer + 0.5) * ROW;
                double reach = Math.max(4, ARCS - 12 - 14 * Math.sqrt(consumer - value.producer()));
                html.append(String.format(
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
                        escaped(value.name()),
                        escaped(value.type())));
            }
        }
        html.append("</svg>\n");
    }

    private void arena(PlanReport plan) {
        if (plan.arenaBytes() == 0) {
            fact("This plan needs no arena.");
            return;
        }
        double perStep = (double) CHART_WIDTH / plan.steps().size();
        double perByte = (double) CHART_HEIGHT / plan.arenaBytes();
        html.append(String.format(
                Locale.ROOT,
                "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"memory by step\">%n",
                CHART_WIDTH + 90,
                CHART_HEIGHT + 30));
        for (ValueReport value : plan.values()) {
            if (value.place().equals("arena")) {
                html.append(String.format(
                        Locale.ROOT,
                        "<rect class=\"value\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.2f\"><title>%s: %s, %s at %d, steps %d to %d</title></rect>%n",
                        value.producer() * perStep,
                        value.offset() * perByte,
                        (value.last() - value.producer() + 1) * perStep,
                        Math.max(0.5, value.bytes() * perByte),
                        escaped(value.name()),
                        escaped(value.type()),
                        Units.bytes(value.bytes()),
                        value.offset(),
                        value.producer() + 1,
                        value.last() + 1));
            }
        }
        html.append(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"11\">0</text><text x=\"%d\" y=\"%d\">%s</text><text x=\"0\" y=\"%d\">step 1</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">step %d</text>%n</svg>%n",
                CHART_WIDTH + 6,
                CHART_WIDTH + 6,
                CHART_HEIGHT,
                Units.bytes(plan.arenaBytes()),
                CHART_HEIGHT + 18,
                CHART_WIDTH,
                CHART_HEIGHT + 18,
                plan.steps().size()));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
