package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

class FusedRegionTest {
    @Test
    void aKernelServesEverySize() {
        FusedRegion small = fused(scaled(2), DType.F32, Shape.of(3, 5), Shape.of(5));
        FusedRegion large = fused(scaled(2), DType.F32, Shape.of(4096, 3, 768), Shape.of(768));
        assertThat(large.variant()).isEqualTo(small.variant());
        assertThat(large.layout().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(768);
        assertThat(small.layout().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
        assertThat(large.shape().gridX()).isEqualTo(4096 * 3 * 768 / (4 * 256));
        assertThat(small.shape().gridX()).isOne();
    }

    @Test
    void constantsTypesAndFormsOfInputsMakeOthers() {
        KernelVariant one =
                fused(scaled(2), DType.F32, Shape.of(3, 5), Shape.of(5)).variant();
        assertThat(List.of(
                        fused(scaled(3), DType.F32, Shape.of(3, 5), Shape.of(5)).variant(),
                        fused(scaled(2), DType.F16, Shape.of(3, 5), Shape.of(5)).variant(),
                        fused(scaled(2), DType.F32, Shape.of(3, 5), Shape.of(3, 1))
                                .variant(),
                        fused(scaled(2), DType.F32, Shape.of(3, 5), Shape.of(1)).variant(),
                        fused(scaled(2), DType.F32, Shape.of(3, 5), Shape.of(3, 5))
                                .variant()))
                .doesNotContain(one)
                .doesNotHaveDuplicates();
    }

    @Test
    void whatNoResultNeedsIsLeftOut() {
        Region region = new Region(
                List.of(
                        new Region.Step(new Binary(BinaryFn.DIV), List.of(0, 1)),
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1))),
                List.of(1));
        FusedRegion fused = fused(region, DType.I32, Shape.of(9), Shape.of(9));
        assertThat(fused.tier()).isEqualTo("elementwise_fused of 1 step, 4 elements an access");
        assertThat(fused.variant().headers().get("fused_program.cuh"))
                .contains("#define TENON_STEPS BINARY(3, 5, 1, 0, 1)\n");
    }

    @Test
    void typesWithoutAKernelAreNamed() {
        List<DType> types = List.of(DType.F8E4M3, DType.F8E4M3);
        assertThat(FusedRegion.misfit(scaled(2), Shape.of(3), types)).isEqualTo("elements of " + DType.F8E4M3);
        assertThat(FusedRegion.misfit(scaled(2), Shape.of(3), List.of(DType.F32, DType.F32)))
                .isEmpty();
    }

    private static FusedRegion fused(Region region, DType type, Shape shape, Shape second) {
        return new FusedRegion(region, shape, List.of(type, type), List.of(shape, second));
    }

    /** factor · (a + b). */
    private static Region scaled(double factor) {
        return new Region(
                List.of(
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1)),
                        new Region.Step(new Unary(UnaryFn.AFFINE, factor, 0), List.of(2))),
                List.of(1));
    }
}
