package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.UnaryAccuracy;
import dev.tenon.core.ir.op.elementwise.UnarySweep;
import dev.tenon.cpu.CpuRun;
import dev.tenon.cpu.loops.AllLoops;
import dev.tenon.cpu.loops.Loops;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every function on every exponent, in plain loops, in vector loops, and as a step of a program. */
class UnaryAccuracyTest {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16);
    private static final CpuRun DEVICE = new CpuRun(2);

    @BeforeAll
    static void useVectors() {
        CpuRun.useVectors();
    }

    @AfterAll
    static void close() {
        DEVICE.close();
    }

    @TestFactory
    Stream<DynamicTest> loopsAreWithinTheBounds() {
        return AllLoops.list().stream()
                .flatMap(loops -> UnarySweep.functions().stream()
                        .map(op -> DynamicTest.dynamicTest(loops.tier() + " " + op, () -> loop(loops, op))));
    }

    @TestFactory
    Stream<DynamicTest> stepsAreWithinTheBounds() {
        return FLOATS.stream()
                .flatMap(dtype -> UnarySweep.functions().stream()
                        .map(op -> DynamicTest.dynamicTest(dtype + " " + op, () -> step(dtype, op))));
    }

    private static void loop(Loops loops, Unary op) {
        for (DType dtype : FLOATS) {
            double[] x = UnarySweep.arguments(dtype);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment memory = arena.allocate(4L * x.length, 64);
                for (int i = 0; i < x.length; i++) {
                    memory.setAtIndex(Loops.F32, i, (float) x[i]);
                }
                loops.unary(op, memory, 0, memory, 0, x.length);
                for (int i = 0; i < x.length; i++) {
                    UnaryAccuracy.check(op, dtype, x[i], Tolerance.rounded(dtype, memory.getAtIndex(Loops.F32, i)));
                }
            }
        }
    }

    private static void step(DType dtype, Unary op) {
        double[] x = UnarySweep.arguments(dtype);
        NdArray given = NdArray.of(TensorType.of(dtype, x.length), x);
        NdArray y = DEVICE.run(op, List.of(given), 1).getFirst();
        for (int i = 0; i < x.length; i++) {
            UnaryAccuracy.check(op, dtype, x[i], y.get(i));
        }
    }
}
