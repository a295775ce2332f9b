package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cuda.kernel.file.TypeCodes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A region's steps as macro calls of {@code elementwise_fused.cu}, those that no result needs left out: an integer
 * division among them would report faults.
 */
final class FusedSteps {
    /** No steps: what comes in goes out. */
    static final FusedSteps NONE = new FusedSteps();

    private final List<DType> types;
    private final int inputs;
    private final List<String> calls = new ArrayList<>();

    private FusedSteps() {
        types = List.of();
        inputs = 0;
    }

    /** @param types of the inputs and after them of what each step gives */
    FusedSteps(Region region, List<DType> types, int inputs) {
        this.types = types;
        this.inputs = inputs;
        int[] lastUse = RegionProgram.lastUses(region.steps(), region.results(), inputs);
        for (int i = 0; i < region.steps().size(); i++) {
            if (lastUse[inputs + i] >= 0) {
                Region.Step step = region.steps().get(i);
                calls.add(call(step.op(), inputs + i, step.arguments()));
            }
        }
    }

    private String call(Elementwise op, int value, List<Integer> from) {
        int type = type(from.getLast());
        return switch (op) {
            case Unary unary ->
                text("UNARY", value, type, unary.fn().code(), from.getFirst())
                        .replace(")", ", " + bits(unary.alpha()) + ", " + bits(unary.beta()) + ")");
            case Binary binary -> text("BINARY", value, type, binary.fn().code(), from.get(0), from.get(1));
            case Compare compare -> text("COMPARE", value, type, compare.fn().code(), from.get(0), from.get(1));
            case Where _ -> text("WHERE", value, from.get(0), from.get(1), from.get(2));
            case Cast cast -> text("CAST", value, type, TypeCodes.of(cast.to()), from.getFirst());
        };
    }

    private static String text(String macro, Integer... numbers) {
        return List.of(numbers).stream().map(String::valueOf).collect(Collectors.joining(", ", macro + "(", ")"));
    }

    private static String bits(double value) {
        return "static_cast<i64>(0x" + Long.toHexString(Double.doubleToRawLongBits(value)) + "ull)";
    }

    private int type(int value) {
        return TypeCodes.of(types.get(value));
    }

    int count() {
        return calls.size();
    }

    String text() {
        return String.join(" ", calls);
    }

    /** @param steps those that are results */
    String results(List<Integer> steps) {
        List<String> all = new ArrayList<>();
        for (int step : steps) {
            all.add(text("RESULT", all.size(), type(inputs + step), inputs + step));
        }
        return String.join(" ", all);
    }
}
