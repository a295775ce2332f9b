package dev.tenon.cli.page;

import dev.tenon.cli.console.Units;
import dev.tenon.core.report.RunProfile;
import dev.tenon.core.report.RunProfile.Span;
import dev.tenon.core.report.StepReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A profile as a page: the kinds of steps by time, a run's time line by track, and its steps one by one. */
public final class ProfilePage {
    private static final int TRACK = 26;
    private static final int BAR = 20;
    private static final int NAMES = 74;

    /** The time line's units from left to right; the page stretches them. */
    private static final int UNITS = 10_000;

    /**
     * A row of the table of kinds.
     *
     * @param step one of them
     * @param count how many a run has
     * @param micros what they take together
     * @param share of all steps, 0 to 1
     * @param rates what they reach, in words
     */
    public record Kind(StepReport step, int count, double micros, double share, String rates) {}

    private final Html html;
    private final RunProfile run;

    private ProfilePage(Html html, RunProfile run) {
        this.html = html;
        this.run = run;
    }

    /**
     * The page.
     *
     * @param title which model ran where
     * @param facts lines below the title
     * @param kinds the slowest first
     * @param run the one that is drawn
     */
    public static String of(String title, List<String> facts, List<Kind> kinds, RunProfile run) {
        Html html = new Html(title);
        facts.forEach(html::fact);
        html.search("search steps: operation, tier, node, type");
        ProfilePage page = new ProfilePage(html, run);
        page.kinds(kinds);
        page.timeline();
        page.steps();
        return html.end();
    }

    private void kinds(List<Kind> kinds) {
        html.heading("Kinds of steps, the slowest first")
                .add(
                        "<table class=\"rows\"><thead><tr><th></th><th class=\"number\">share</th><th class=\"number\">time</th>")
                .add(
                        "<th class=\"number\">steps</th><th>op</th><th>reaches</th><th>tier</th><th>types</th></tr></thead>\n");
        double most = kinds.stream().mapToDouble(Kind::share).max().orElse(1);
        for (Kind kind : kinds) {
            String share = String.format(Locale.ROOT, "%.1f%%", 100 * kind.share());
            html.add("<tr data-detail=\""
                            + Html.escaped(kind.step().op() + "  " + kind.step().tier() + "\n"
                                    + Units.counted(kind.count(), "step") + ", " + Units.duration(kind.micros()) + ", "
                                    + share + (kind.rates().isEmpty() ? "" : "; " + kind.rates()) + "\n"
                                    + kind.step().types())
                            + "\">")
                    .add(String.format(
                            Locale.ROOT,
                            "<td><span class=\"bar\" style=\"width:%.1frem\"></span></td>",
                            most == 0 ? 0 : 5 * kind.share() / most))
                    .cell("number", share)
                    .cell("number", Units.duration(kind.micros()))
                    .cell("number", "×" + kind.count())
                    .cell("op", kind.step().op())
                    .cell("", kind.rates())
                    .cell("tier", kind.step().tier())
                    .cell("long", kind.step().types())
                    .add("</tr>\n");
        }
        html.add("</table>\n");
    }

    private void timeline() {
        Map<String, List<String>> tracks = new LinkedHashMap<>();
        for (int i = 0; i < run.steps().size(); i++) {
            RunProfile.Step step = run.steps().get(i);
            tracks.computeIfAbsent(step.span().track(), _ -> new ArrayList<>())
                    .add(slice(step.span(), " data-step=\"" + i + "\"", detail(i, step)));
        }
        for (Span span : run.spans()) {
            String name = span.name().isEmpty() ? span.track() : span.track() + ": " + span.name();
            tracks.computeIfAbsent(span.track(), _ -> new ArrayList<>()).add(slice(span, "", name + "\n" + time(span)));
        }
        html.heading("One run, " + Units.duration(run.micros()) + " from left to right")
                .add("<p><button data-zoom=\"out\" aria-label=\"show more\">−</button> ")
                .add("<button data-zoom=\"in\" aria-label=\"show less, larger\">+</button></p>\n")
                .add(String.format(
                        Locale.ROOT,
                        "<div class=\"timeline track\"><svg width=\"%d\" height=\"%d\" aria-hidden=\"true\">",
                        NAMES,
                        tracks.size() * TRACK));
        int row = 0;
        for (String name : tracks.keySet()) {
            html.add("<text y=\"" + (row++ * TRACK + 15) + "\">")
                    .add(Html.escaped(name))
                    .add("</text>");
        }
        html.add(String.format(
                Locale.ROOT,
                "</svg><div class=\"scroll\" style=\"flex:1\"><svg style=\"width:100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"time line\">%n",
                tracks.size() * TRACK,
                UNITS,
                tracks.size() * TRACK));
        row = 0;
        for (List<String> slices : tracks.values()) {
            html.add("<g transform=\"translate(0 " + row++ * TRACK + ")\">\n");
            slices.forEach(html::add);
            html.add("</g>\n");
        }
        html.add("</svg></div></div>\n");
    }

    private String slice(Span span, String attributes, String detail) {
        double scale = run.micros() == 0 ? 0 : UNITS / run.micros();
        return String.format(
                Locale.ROOT,
                "<rect class=\"slice\" x=\"%.2f\" width=\"%.2f\" height=\"%d\"%s data-detail=\"%s\"></rect>%n",
                Math.max(0, span.start() * scale),
                Math.max(1, span.micros() * scale),
                BAR,
                attributes,
                Html.escaped(detail));
    }

    private void steps() {
        html.heading("Its steps")
                .add(
                        "<table class=\"rows\"><thead><tr><th class=\"number\">#</th><th class=\"number\">from</th><th class=\"number\">time</th>")
                .add("<th>op</th><th>tier</th><th>types</th><th>node</th></tr></thead>\n");
        for (int i = 0; i < run.steps().size(); i++) {
            RunProfile.Step step = run.steps().get(i);
            html.add("<tr data-step=\"" + i + "\" data-detail=\"" + Html.escaped(detail(i, step)) + "\">")
                    .cell("number", String.valueOf(i + 1))
                    .cell("number", Units.duration(step.span().start()))
                    .cell("number", Units.duration(step.span().micros()))
                    .cell("op", step.report().op())
                    .cell("tier", step.report().tier())
                    .cell("long", step.report().types())
                    .cell("long quiet", step.report().node())
                    .add("</tr>\n");
        }
        html.add("</table>\n");
    }

    private static String detail(int index, RunProfile.Step step) {
        StepReport report = step.report();
        return (index + 1) + "  " + report.op() + "  " + report.tier() + "\n" + time(step.span()) + "; moves "
                + Units.bytes(report.cost().bytes()) + "\n" + report.types() + "\n" + report.node();
    }

    private static String time(Span span) {
        return Units.duration(span.micros()) + " from " + Units.duration(span.start());
    }
}
