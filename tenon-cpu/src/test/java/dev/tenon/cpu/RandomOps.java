package dev.tenon.cpu;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.testkit.Seeded;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** What tests on random attributes share. */
public final class RandomOps {
    private RandomOps() {}

    /**
     * Runs an operation with one thread, with several, and with constant operands; compares each with the reference.
     */
    public static void check(Primitive op, long reductionLength, List<NdArray> inputs) {
        List<NdArray> expected = op.evaluate(inputs);
        compare("one thread, " + op, expected, OneNode.of(op, inputs).run(), reductionLength);
        compare("threads, " + op, expected, OneNode.of(op, inputs).threads(3).run(), reductionLength);
        compare("constants, " + op, expected, OneNode.of(op, inputs).constants().run(), reductionLength);
    }

    private static void compare(String what, List<NdArray> expected, List<NdArray> actual, long reductionLength) {
        for (int i = 0; i < expected.size(); i++) {
            DType dtype = expected.get(i).dtype();
            Tolerance tolerance = reductionLength == 0 ? Tolerance.EXACT : Tolerance.of(dtype, reductionLength);
            tolerance.check(what + ", result " + i, expected.get(i), actual.get(i));
        }
    }

    @SafeVarargs
    public static <T> T any(Seeded random, T... choices) {
        return choices[(int) random.nextLong(0, choices.length - 1)];
    }

    /** {@code count} numbers of a range, both ends included. */
    public static List<Long> numbers(Seeded random, int count, long from, long to) {
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(random.nextLong(from, to));
        }
        return numbers;
    }

    public static long[] join(long first, long second, List<Long> rest) {
        return LongStream.concat(LongStream.of(first, second), rest.stream().mapToLong(Long::longValue))
                .toArray();
    }
}
