package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R10;
import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.RBX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.RegionKernel.Element;
import dev.tenon.cpu.machine.RegionKernel.Form;
import dev.tenon.cpu.machine.RegionKernel.Step;
import dev.tenon.cpu.machine.RegionKernel.Word;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The code. Vectors: 0 to 7 and 11 are what functions work with; the others hold values, those of scalars over the
 * whole call.
 */
final class RegionCode extends ExponentialCode {
    // byte offsets of further arguments, behind RowCode's
    static final int ROWS = SUMS;
    /** From row to row: of y, then of the operands. */
    static final int STEPS = ROWS + 8;

    static final int SCALAR_AT = STEPS + 8 * (1 + RegionKernel.MOST_ROWS);
    static final int[] PLACES = {X, SCALE, BIAS};

    private static final int[] POINTERS = {RSI, RCX, R8};
    private static final int[] FEW_VALUES = {8, 9, 10};
    private static final int[] MANY_VALUES = {8, 9, 10, 28, 29, 30, 31, 25, 24, 23, 22, 21, 20};
    /** Of those, the first that constants of functions leave. */
    private static final int BESIDE_GELU = 9;

    private static final int BESIDE_EXPONENTIALS = 10;
    private static final int BESIDE_BOTH = 3;

    private final Form form;
    private final boolean past;
    private static final int SCRATCH = SCALAR_AT + 4 * RegionKernel.MOST_SCALARS;

    private final RowWalk walk = new RowWalk(code, vectors);
    private final ShortWalk shorts = new ShortWalk(code, vectors, SCRATCH);
    private final int[] homes;
    private final int[] lastUse;
    private final List<Integer> free = new ArrayList<>();

    RegionCode(int lanes, Form form, boolean past) {
        super(lanes, past, false);
        this.form = form;
        this.past = past;
        int values = form.rows() + form.scalars() + form.steps().size();
        homes = new int[values];
        lastUse = new int[values];
        Arrays.fill(lastUse, -1);
        for (int i = 0; i < form.steps().size(); i++) {
            lastUse[form.steps().get(i).a()] = i;
            lastUse[form.steps().get(i).b()] = i;
        }
        boolean wide = vectors.wide() != null;
        int[] pool = wide ? MANY_VALUES : FEW_VALUES;
        int beside = hasGelu() && hasWide() ? BESIDE_BOTH : hasGelu() ? BESIDE_GELU : BESIDE_EXPONENTIALS;
        int most = wide && (hasGelu() || hasWide()) ? beside : pool.length;
        for (int i = 0; i < most; i++) {
            free.add(pool[i]);
        }
    }

    private boolean hasGelu() {
        return form.steps().stream().anyMatch(step -> step.word() == Word.GELU);
    }

    private boolean hasWide() {
        return form.steps().stream().anyMatch(step -> step.word().isWide());
    }

    @Override
    void begin() {
        if (hasGelu()) {
            keepGelu();
        }
        if (hasWide()) {
            keepExponential();
        }
        for (int i = 0; i < form.scalars(); i++) {
            vectors.broadcast(homes[form.rows() + i], argument(SCALAR_AT + 4 * i));
        }
    }

    /** Null where there are too few registers. */
    byte @Nullable [] region() {
        boolean has = vectors.wide() != null || !hasWide();
        if (!has || form.rows() > RegionKernel.MOST_ROWS || form.scalars() > RegionKernel.MOST_SCALARS || !place()) {
            return null;
        }
        Label row = new Label();
        code.entry();
        if (form.hasShorts()) {
            code.push(RBX);
        }
        for (int i = 0; i < form.rows(); i++) {
            code.add(POINTERS[i], argument(PLACES[i]));
        }
        code.add(RDX, argument(Y));
        begin();
        code.place(row);
        walk.over(this::vector);
        for (int i = 0; i < form.rows(); i++) {
            code.add(POINTERS[i], argument(STEPS + 8 * (1 + i)));
        }
        code.add(RDX, argument(STEPS));
        code.load(R10, argument(ROWS));
        code.subtractConstant(R10, 1);
        code.store(argument(ROWS), R10);
        code.jump(Assembler.NOT_EQUAL, row);
        if (past) {
            code.storeFence();
        }
        if (form.hasShorts()) {
            code.pop(RBX);
        }
        code.zeroUpper();
        code.ret();
        return code.bytes();
    }

    /** Gives every value a register; false if there are too few. */
    private boolean place() {
        int last = form.steps().size() - 1;
        for (int i = 0; i < form.rows() + form.scalars(); i++) {
            if (free.isEmpty()) {
                return false;
            }
            homes[i] = free.removeFirst();
        }
        for (int i = 0; i <= last; i++) {
            Step step = form.steps().get(i);
            release(step.a(), i);
            if (step.b() != step.a()) {
                release(step.b(), i);
            }
            if (free.isEmpty()) {
                return false;
            }
            homes[form.rows() + form.scalars() + i] = free.removeFirst();
        }
        return true;
    }

    private void release(int value, int step) {
        boolean scalar = value >= form.rows() && value < form.rows() + form.scalars();
        if (!scalar && lastUse[value] == step) {
            free.add(homes[value]);
        }
    }

    @Override
    void vector(boolean narrow) {
        if (form.hasShorts()) {
            shorts.begin();
        }
        for (int i = 0; i < form.rows(); i++) {
            Element element = form.operands().get(i);
            if (element == Element.F32) {
                walk.load(homes[i], POINTERS[i], narrow);
            } else {
                shorts.load(element, homes[i], POINTERS[i], narrow);
            }
        }
        int to = 0;
        for (int i = 0; i < form.steps().size(); i++) {
            to = homes[form.rows() + form.scalars() + i];
            run(form.steps().get(i), to);
        }
        if (form.result() != Element.F32) {
            shorts.store(form.result(), RDX, to, narrow, past);
        } else if (past && !narrow) {
            vectors.storeStream(RowWalk.at(RDX), to);
        } else {
            walk.store(RDX, to, narrow);
        }
    }

    /** Reads all operands before it writes the result, whose register may be one of theirs. */
    private void run(Step step, int to) {
        int a = homes[step.a()];
        int b = homes[step.b()];
        switch (step.word()) {
            case ADD -> operate(Arithmetic.ADD, to, a, b);
            case SUBTRACT -> operate(Arithmetic.SUBTRACT, to, a, b);
            case MULTIPLY -> operate(Arithmetic.MULTIPLY, to, a, b);
            case DIVIDE -> operate(Arithmetic.DIVIDE, to, a, b);
            case NEGATE -> {
                vectors.constant(1, -0f);
                operate(Arithmetic.XOR, to, a, 1);
            }
            case MAGNITUDE -> {
                vectors.constant(1, Float.intBitsToFloat(Integer.MAX_VALUE));
                operate(Arithmetic.AND, to, a, 1);
            }
            case ROOT -> vectors.squareRoot(to, a);
            case RECIPROCAL -> {
                vectors.constant(1, 1);
                operate(Arithmetic.DIVIDE, to, 1, a);
            }
            case NOT_NEGATIVE -> notNegative(to, a);
            case LEAK -> {
                vectors.constant(1, step.p());
                operate(Arithmetic.MULTIPLY, 1, 1, a);
                operate(Arithmetic.MAXIMUM, to, 1, a); // the second where it is NaN, or both are zero
            }
            case BOUND -> {
                atLeast(1, a, step.p());
                if (step.p() == 0) {
                    vectors.zero(2);
                    operate(Arithmetic.ADD, 1, 1, 2);
                }
                atMost(to, 1, step.q());
            }
            case AFFINE -> {
                vectors.constant(1, step.p());
                vectors.constant(2, step.q());
                vectors.multiplyThenAdd(1, a, 2);
                vectors.move(to, 1);
            }
            case COPY -> vectors.move(to, a);
            case ROUND_HALF -> shorts.round(Element.F16, to, a);
            case ROUND_BFLOAT -> shorts.round(Element.BF16, to, a);
            case GELU -> {
                vectors.move(0, a);
                gelu();
                vectors.move(to, 0);
            }
            case EXPONENTIAL, SIGMOID, GATE, TANGENT ->
                wide(step.word(), to, a, Objects.requireNonNull(vectors.wide()));
        }
    }

    private void wide(Word word, int to, int a, VectorAssembler wide) {
        switch (word) {
            case EXPONENTIAL -> {
                atLeast(1, a, -110);
                atMost(1, 1, 89);
                wideSplit(wide);
                wide.scale512(to, 3, 5);
            }
            case TANGENT -> tangent(to, a, wide);
            default -> gate(word == Word.GATE, to, a, wide);
        }
    }

    /**
     * With e = e^-|a|: 1 or a, or where a is below zero e or a e, over 1 + e. a e is scaled last, for e may be
     * subnormal.
     */
    private void gate(boolean times, int to, int a, VectorAssembler wide) {
        vectors.constant(2, Float.intBitsToFloat(Integer.MAX_VALUE));
        operate(Arithmetic.AND, 1, a, 2);
        vectors.constant(2, -0f);
        operate(Arithmetic.XOR, 1, 1, 2);
        atLeast(1, 1, -110);
        wideSplit(wide);
        wide.scale512(6, 3, 5);
        operate(Arithmetic.ADD, 7, 6, 1f);
        if (times) {
            atLeast(2, a, -110);
            operate(Arithmetic.MULTIPLY, 3, 3, 2);
            wide.scale512(6, 3, 5);
            vectors.move(2, a);
        } else {
            set(2, 1);
        }
        vectors.zero(0);
        wide.notLess512(3, a, 0);
        wide.merge512(6, 3, 2);
        operate(Arithmetic.DIVIDE, to, 6, 7);
    }

    /** With m = e^-2|a| - 1: -m / (2 + m), and a's sign. */
    private void tangent(int to, int a, VectorAssembler wide) {
        vectors.constant(2, Float.intBitsToFloat(Integer.MAX_VALUE));
        operate(Arithmetic.AND, 6, a, 2);
        operate(Arithmetic.XOR, 7, a, 6);
        vectors.constant(2, -2);
        operate(Arithmetic.MULTIPLY, 1, 6, 2);
        atLeast(1, 1, -110);
        wideReduce(wide);
        horner(3, 1, 1);
        operate(Arithmetic.MULTIPLY, 3, 3, 1);
        set(2, 1);
        wide.scale512(4, 2, 5);
        operate(Arithmetic.SUBTRACT, 2, 4, 1f);
        vectors.multiplyThenAdd(3, 4, 2);
        operate(Arithmetic.ADD, 4, 3, 2f);
        operate(Arithmetic.DIVIDE, 3, 3, 4);
        vectors.constant(2, Float.intBitsToFloat(Integer.MAX_VALUE));
        operate(Arithmetic.AND, 3, 3, 2);
        operate(Arithmetic.XOR, to, 3, 7);
    }

    private void notNegative(int to, int a) {
        vectors.zero(1);
        operate(Arithmetic.MAXIMUM, 2, 1, a); // a where it is NaN or -0
        operate(Arithmetic.ADD, to, 2, 1);
    }
}
