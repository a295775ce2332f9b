package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.cuda.kernel.file.TypeCodes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The forms in which a compiled region reads its operands, by {@code fused_operands.cuh}, and their sizes. */
public final class FusedOperands {
    private static final int MOST_WORDS = 480; // of the launch's 4096 bytes of parameters

    private final Shape shape;
    private final List<long[]> rows = new ArrayList<>();
    private final List<Shape> walked = new ArrayList<>();

    /** @param shape that operands are broadcast to */
    FusedOperands(Shape shape) {
        this.shape = shape;
    }

    /** Why that many operands and results do not go into a launch; empty where they do. */
    public static String misfit(int operands, int results, int rank) {
        int words = operands * (2 + rank) + results + rank;
        return words > MOST_WORDS ? words + " words of operands and strides; a launch takes " + MOST_WORDS : "";
    }

    /** The form of one more operand. */
    String form(DType dtype, Shape operand) {
        Broadcast alone = Broadcast.of(shape, List.of(operand));
        int type = TypeCodes.of(dtype);
        if (alone.isWhole(0)) {
            return "Whole<" + type + ">";
        } else if (alone.isScalar(0)) {
            return "Single<" + type + ">";
        } else if (alone.sizes().length == 2 && alone.innerStride(0) == 1 && alone.strides(0)[0] == 0) {
            rows.add(new long[] {alone.inner()});
            return "Row<" + type + ", " + (rows.size() - 1) + ">";
        }
        walked.add(operand);
        return "Walked<" + type + ", " + (walked.size() - 1) + ">";
    }

    /** The definitions of what the header counts, all forms having been asked for. */
    List<String> counts(int operands, int results) {
        return List.of(
                "#define TENON_INPUT_COUNT " + operands,
                "#define TENON_RESULT_COUNT " + results,
                "#define TENON_ROWS " + Math.max(1, rows.size()),
                "#define TENON_WALKED " + Math.max(1, walked.size()),
                "#define TENON_DIMS " + Math.max(1, walk().sizes().length));
    }

    private Broadcast walk() {
        return Broadcast.of(shape, walked);
    }

    /** The struct {@code Layout}. */
    MemorySegment layout() {
        List<long[]> parts = new ArrayList<>(rows.isEmpty() ? List.of(new long[] {1}) : rows);
        Broadcast walk = walk();
        if (walk.sizes().length == 0) {
            parts.add(new long[] {1, 0});
        } else {
            parts.add(walk.sizes());
            IntStream.range(0, walked.size()).forEach(i -> parts.add(walk.strides(i)));
            if (walked.isEmpty()) { // as in the header, one at least
                parts.add(new long[walk.sizes().length]);
            }
        }
        long[] words = parts.stream().flatMapToLong(Arrays::stream).toArray();
        return MemorySegment.ofArray(words).asReadOnly();
    }
}
