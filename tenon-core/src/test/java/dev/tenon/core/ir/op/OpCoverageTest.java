package dev.tenon.core.ir.op;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import dev.tenon.core.testkit.OperationClasses;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** That every operation has cases, and that its rules agree with its reference on each. */
class OpCoverageTest {
    static Stream<Class<?>> operations() {
        return OperationClasses.all();
    }

    private static final List<OpCase> ALL = OpCases.all();

    static List<OpCase> cases() {
        return ALL;
    }

    @ParameterizedTest
    @MethodSource("operations")
    void everyOperationHasACase(Class<?> operation) {
        assertThat(ALL).anyMatch(opCase -> operation.isInstance(opCase.op()));
    }

    @Test
    void caseNamesAreUnique() {
        assertThat(ALL.stream().collect(Collectors.groupingBy(OpCase::name, Collectors.counting())))
                .allSatisfy((name, count) -> assertThat(count).as(name).isEqualTo(1));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void referenceGivesTheTypesOfTheRules(OpCase opCase) {
        List<TensorType> types = types(opCase);
        List<NdArray> results = opCase.expected();
        opCase.verify(results);
        assertThat(results).hasSameSizeAs(types);
        for (int i = 0; i < types.size(); i++) {
            TensorType has = results.get(i).type();
            assertThat(has.dtype()).isEqualTo(types.get(i).dtype());
            assertThat(has.shape().mayEqual(types.get(i).shape()))
                    .as(has + " against " + types.get(i))
                    .isTrue();
            if (!(opCase.op() instanceof Deferred || opCase.op() instanceof Control)) {
                assertThat(has).isEqualTo(types.get(i));
            }
        }
    }

    /** Less known shapes must not make a rule fail, nor say what does not hold. */
    @ParameterizedTest
    @MethodSource("cases")
    void rulesAnswerWhatTheyCanTell(OpCase opCase) {
        List<TensorType> results = opCase.expected().stream().map(NdArray::type).toList();
        for (int input = 0; input < opCase.inputs().size(); input++) {
            Shape shape = opCase.inputs().get(input).shape();
            for (int axis = 0; axis < shape.rank(); axis++) {
                agrees(opCase, input, shape.with(axis, Dim.named("n")), results);
                agrees(opCase, input, shape.with(axis, Dim.unknown()), results);
            }
            agrees(opCase, input, Shape.unknown(shape.rank()), results);
            agrees(opCase, input, Shape.unranked(), results);
        }
    }

    private static void agrees(OpCase opCase, int input, Shape shape, List<TensorType> results) {
        List<TensorType> known =
                new ArrayList<>(opCase.inputs().stream().map(NdArray::type).toList());
        known.set(input, new TensorType(known.get(input).dtype(), shape));
        List<TensorType> told = opCase.op().infer(known);
        assertThat(told).hasSameSizeAs(results);
        for (int i = 0; i < told.size(); i++) {
            assertThat(told.get(i).dtype()).isEqualTo(results.get(i).dtype());
            assertThat(told.get(i).shape().mayEqual(results.get(i).shape()))
                    .as(told.get(i) + " against " + results.get(i) + " for " + known)
                    .isTrue();
        }
    }

    private static List<TensorType> types(OpCase opCase) {
        return opCase.op().infer(opCase.inputs().stream().map(NdArray::type).toList());
    }
}
