package dev.tenon.cpu;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.movement.BitCast;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every case of the test kit, with all inputs given by the run and with all but the first constant, on one thread and
 * on three.
 */
class OpCasesTest {
    private static final CpuRun ONE = new CpuRun(1);
    private static final CpuRun THREE = new CpuRun(3);

    @AfterAll
    static void close() {
        ONE.close();
        THREE.close();
    }

    @TestFactory
    Stream<DynamicTest> agreesWithTheReference() {
        return OpCases.all().stream()
                .filter(OpCasesTest::hasStep)
                .map(opCase -> DynamicTest.dynamicTest(opCase.name(), () -> check(opCase)));
    }

    static boolean hasStep(OpCase opCase) {
        boolean attends = opCase.op() instanceof PlainAttention
                && opCase.inputs().getFirst().dtype() == DType.F32;
        boolean shows = opCase.op() instanceof Reshape || opCase.op() instanceof BitCast;
        return attends || (opCase.op() instanceof Primitive && !shows);
    }

    static void check(OpCase opCase) {
        opCase.verify(ONE.run(opCase.op(), opCase.inputs(), opCase.inputs().size()));
        opCase.verify(THREE.run(opCase.op(), opCase.inputs(), opCase.inputs().size()));
        opCase.verify(THREE.run(opCase.op(), opCase.inputs(), 1));
    }
}
