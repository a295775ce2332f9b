package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Expect;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A parsed equation of {@link Einsum}: {@code bij,bjk->bik}, {@code ...i,i}. Index letters are labels; the dims that an
 * ellipsis stands for get labels of their own, the last one the same in every operand, since they broadcast from the
 * back.
 *
 * @param terms one an operand
 * @param result null where the equation leaves it out
 */
record EinsumEquation(
        String text, List<String> terms, @Nullable String result) {
    private static final String ELLIPSIS = "...";
    private static final Pattern TERM = Pattern.compile("[A-Za-z]*(\\.\\.\\.)?[A-Za-z]*");
    /** Past all letters. */
    private static final int ELLIPSIS_LABEL = 0x10000;

    static EinsumEquation parse(String text) {
        String[] sides = text.replace(" ", "").split("->", -1);
        Expect.shape(sides.length <= 2, "einsum", () -> "equation \"" + text + "\" has more than one ->");
        EinsumEquation equation =
                new EinsumEquation(text, List.of(sides[0].split(",", -1)), sides.length == 2 ? sides[1] : null);
        equation.check();
        return equation;
    }

    private void check() {
        List<String> all = new ArrayList<>(terms);
        if (result != null) {
            all.add(result);
            Expect.shape(
                    result.replace(ELLIPSIS, "").chars().distinct().count()
                                    == result.replace(ELLIPSIS, "").length()
                            && result.replace(ELLIPSIS, "")
                                    .chars()
                                    .allMatch(c -> terms.stream().anyMatch(term -> term.indexOf(c) >= 0)),
                    "einsum",
                    () -> "equation \"" + text + "\": the result needs distinct letters that operands have");
        }
        for (String term : all) {
            Expect.shape(
                    TERM.matcher(term).matches(),
                    "einsum",
                    () -> "equation \"" + text + "\": \"" + term + "\" is not letters with at most one ellipsis");
        }
    }

    private static int letters(String term) {
        return term.replace(ELLIPSIS, "").length();
    }

    /** How many dims the longest ellipsis stands for; checks ranks. */
    private int ellipsisRank(List<Shape> shapes) {
        Expect.shape(
                shapes.size() == terms.size(),
                "einsum",
                () -> "equation \"" + text + "\" has " + terms.size() + " operands, given " + shapes.size());
        int longest = 0;
        for (int i = 0; i < terms.size(); i++) {
            String term = terms.get(i);
            Shape shape = shapes.get(i);
            int rest = shape.rank() - letters(term);
            Expect.shape(
                    term.contains(ELLIPSIS) ? rest >= 0 : rest == 0,
                    "einsum",
                    () -> "operand \"" + term + "\" has shape " + shape + "; expected rank " + letters(term)
                            + (term.contains(ELLIPSIS) ? " or more" : ""));
            longest = Math.max(longest, rest);
        }
        return longest;
    }

    /** The labels of each operand's dims. */
    List<List<Integer>> operandLabels(List<Shape> shapes) {
        int longest = ellipsisRank(shapes);
        List<List<Integer>> labels = new ArrayList<>();
        for (int i = 0; i < terms.size(); i++) {
            labels.add(labels(terms.get(i), shapes.get(i).rank() - letters(terms.get(i)), longest));
        }
        return labels;
    }

    /**
     * The labels of the result's dims: by default those of the ellipsis, then the letters that stand only once, sorted.
     */
    List<Integer> resultLabels(List<Shape> shapes) {
        int longest = ellipsisRank(shapes);
        if (result != null) {
            return labels(result, longest, longest);
        }
        Map<Integer, Integer> counts = new TreeMap<>();
        String.join("", terms).replace(".", "").chars().forEach(letter -> counts.merge(letter, 1, Integer::sum));
        StringBuilder once = new StringBuilder(ELLIPSIS);
        counts.forEach((letter, count) -> {
            if (count == 1) {
                once.appendCodePoint(letter);
            }
        });
        return labels(once.toString(), longest, longest);
    }

    private static List<Integer> labels(String term, int ellipsisRank, int longest) {
        List<Integer> labels = new ArrayList<>();
        int ellipsis = term.indexOf(ELLIPSIS);
        String before = ellipsis < 0 ? term : term.substring(0, ellipsis);
        before.chars().forEach(labels::add);
        if (ellipsis >= 0) {
            for (int i = longest - ellipsisRank; i < longest; i++) {
                labels.add(ELLIPSIS_LABEL + i);
            }
            term.substring(ellipsis + ELLIPSIS.length()).chars().forEach(labels::add);
        }
        return List.copyOf(labels);
    }

    /** The dim of each label, broadcast over all operands. */
    Map<Integer, Dim> dims(List<Shape> shapes) {
        Map<Integer, Dim> dims = new LinkedHashMap<>();
        List<List<Integer>> labels = operandLabels(shapes);
        for (int i = 0; i < labels.size(); i++) {
            for (int axis = 0; axis < labels.get(i).size(); axis++) {
                Dim dim = shapes.get(i).dim(axis);
                dims.merge(labels.get(i).get(axis), dim, (a, b) -> broadcast(a, b, shapes));
            }
        }
        return dims;
    }

    private Dim broadcast(Dim a, Dim b, List<Shape> shapes) {
        Expect.shape(
                a.is(1) || b.is(1) || a.mayEqual(b),
                "einsum",
                () -> "equation \"" + text + "\": dims " + a + " and " + b + " of one index differ: " + shapes);
        return Shape.broadcast(Shape.of(a), Shape.of(b)).dim(0);
    }
}
