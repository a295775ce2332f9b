package dev.tenon.core.testkit;

import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Tolerance;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One operation on given inputs. Every backend runs every case and compares with the float64 reference, which is
 * computed once. Thread-safe.
 */
public final class OpCase {
    private final String name;
    private final Op op;
    private final List<NdArray> inputs;
    private final long reductionLength;
    private @Nullable List<NdArray> expected;

    /**
     * Makes a case.
     *
     * @param given rounded to their types
     * @param reductionLength how many rounded terms an element of the result sums up, for the tolerance; 0 where
     *     results are exact, bit for bit
     */
    public OpCase(String name, Op op, List<NdArray> given, long reductionLength) {
        this.name = name;
        this.op = op;
        this.inputs = List.copyOf(given);
        this.reductionLength = reductionLength;
        for (NdArray input : inputs) {
            for (int i = 0; i < input.size() && input.dtype().isFloat(); i++) {
                if (Double.compare(input.get(i), Tolerance.rounded(input.dtype(), input.get(i))) != 0) {
                    throw new IllegalArgumentException(
                            name + ": element " + i + " of " + input + " is not a number of its type");
                }
            }
        }
    }

    /** A case whose results are exact: nothing is computed in floats, or it is with one rounding. */
    public static OpCase exact(String name, Op op, NdArray... inputs) {
        return new OpCase(name, op, List.of(inputs), 0);
    }

    /** A case whose floats may differ by the tolerance of one operation on each element. */
    public static OpCase close(String name, Op op, NdArray... inputs) {
        return new OpCase(name, op, List.of(inputs), 1);
    }

    /** A case whose floats are sums of that many terms. */
    public static OpCase sums(String name, long reductionLength, Op op, NdArray... inputs) {
        return new OpCase(name, op, List.of(inputs), Math.max(1, reductionLength));
    }

    /** Names the case in reports. */
    public String name() {
        return name;
    }

    public Op op() {
        return op;
    }

    public List<NdArray> inputs() {
        return inputs;
    }

    public long reductionLength() {
        return reductionLength;
    }

    /** What the reference gives, floats not rounded to their type; not to be changed. */
    public synchronized List<NdArray> expected() {
        if (expected == null) {
            expected = Interpreter.run(op, inputs);
        }
        return expected;
    }

    /**
     * Compares results with the reference.
     *
     * @throws AssertionError naming the case and the first element that differs
     */
    public void verify(List<NdArray> actual) {
        List<NdArray> wanted = expected();
        if (wanted.size() != actual.size()) {
            throw new AssertionError(name + ": gives " + actual.size() + " results; expected " + wanted.size());
        }
        for (int i = 0; i < wanted.size(); i++) {
            Tolerance tolerance = reductionLength == 0
                    ? Tolerance.EXACT
                    : Tolerance.of(wanted.get(i).dtype(), reductionLength);
            tolerance.check(name + ", result " + i, wanted.get(i), actual.get(i));
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
