package dev.tenon.core.ir.op.elementwise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.movement.BitCast;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the elementwise operations refuse, and in which words. */
class ElementwiseRulesTest {
    private static final TensorType F32 = TensorType.of(DType.F32, 2, 3);

    @Test
    void shapesThatDoNotBroadcast() {
        assertThatThrownBy(() -> new Binary(BinaryFn.ADD).infer(List.of(F32, TensorType.of(DType.F32, 4, 3))))
                .isInstanceOf(ShapeException.class)
                .hasMessage("add: shapes do not broadcast: [[2,3], [4,3]]; expected equal dims, or 1, from the back");
    }

    @Test
    void typesThatDiffer() {
        assertThatThrownBy(() -> new Binary(BinaryFn.MUL).infer(List.of(F32, TensorType.of(DType.F16, 2, 3))))
                .isInstanceOf(DTypeException.class)
                .hasMessage("mul: inputs differ in type: [f32, f16]; expected input 1 to be f32, as input 0");
        assertThatThrownBy(() -> new Binary(BinaryFn.AND).infer(List.of(F32, F32)))
                .isInstanceOf(DTypeException.class)
                .hasMessage("and: inputs of type f32; expected bool");
        assertThatThrownBy(() -> Unary.of(UnaryFn.EXP).infer(List.of(TensorType.of(DType.I32))))
                .isInstanceOf(DTypeException.class)
                .hasMessage("exp: input of type i32; expected a float type");
        assertThatThrownBy(() -> new BitCast(DType.I32).infer(List.of(TensorType.of(DType.F16))))
                .isInstanceOf(DTypeException.class);
    }

    @Test
    void parametersWhereThereAreNone() {
        assertThatThrownBy(() -> new Unary(UnaryFn.EXP, 1, 0)).isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> Unary.of(UnaryFn.SILU))
                .isInstanceOf(ShapeException.class)
                .hasMessage("silu: alpha is 0; expected another number, 1 for the usual form");
    }

    @Test
    void namedDimsBroadcast() {
        Shape named = Shape.of(Dim.named("batch"), Dim.of(1));
        Shape sum = new Binary(BinaryFn.ADD).shapes(List.of(named, Shape.of(3))).getFirst();
        assertThat(sum).isEqualTo(Shape.of(Dim.named("batch"), Dim.of(3)));
    }

    @Test
    void regionReadsInputsAndEarlierSteps() {
        Region.Step relu = new Region.Step(Unary.of(UnaryFn.RELU), List.of(1));
        assertThatThrownBy(() -> new Region(List.of(relu), List.of(1))).isInstanceOf(ShapeException.class);
        assertThatThrownBy(() -> new Region(List.of(relu), List.of(0)).infer(List.of(F32)))
                .isInstanceOf(ShapeException.class)
                .hasMessage("region: step 0 reads argument 1; expected 0 to 0");
    }

    @Test
    void regionEqualsItsSteps() {
        Seeded random = new Seeded(3);
        NdArray x = random.array(DType.F32, 3, 5);
        NdArray bias = random.array(DType.F32, 5);
        Region region = new Region(
                List.of(
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1)),
                        new Region.Step(Unary.of(UnaryFn.TANH), List.of(2))),
                List.of(1));
        NdArray sum = new Binary(BinaryFn.ADD).evaluate(List.of(x, bias)).getFirst();
        NdArray wanted = Unary.of(UnaryFn.TANH).evaluate(List.of(sum)).getFirst();
        assertThat(region.evaluate(List.of(x, bias)).getFirst().toDoubles()).containsExactly(wanted.toDoubles());
    }
}
