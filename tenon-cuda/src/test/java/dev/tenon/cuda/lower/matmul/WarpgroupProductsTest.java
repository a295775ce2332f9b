package dev.tenon.cuda.lower.matmul;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WarpgroupProductsTest {
    private static final DeviceProperties H200 = MatMulChoiceTest.device(9, 0);
    private static final Epilogue GELU = new Epilogue(true, Unary.of(UnaryFn.GELU), false, false);

    private static MatMulShape shape(long m, long n, long k) {
        return MatMulShape.of(Shape.of(m, k), Shape.of(k, n), false, false);
    }

    private static String refusal(MatMulShape shape) {
        return WarpgroupProducts.of(DType.F16, shape, GELU, H200, true, ProductForm.BY_CHOICE)
                .refusal();
    }

    @Test
    void activationsOfHalvesAreConcerned() {
        assertThat(WarpgroupProducts.concerns(DType.F16, false, GELU, true)).isTrue();
        assertThat(WarpgroupProducts.concerns(DType.F32, false, GELU, false)).isFalse();
        assertThat(WarpgroupProducts.concerns(DType.F32, true, GELU, true)).isTrue();
        assertThat(WarpgroupProducts.concerns(DType.F64, false, GELU, false)).isFalse();
        assertThat(WarpgroupProducts.concerns(DType.BF16, false, Epilogue.NONE, true))
                .isFalse();
        assertThat(WarpgroupProducts.concerns(
                        DType.F16, false, new Epilogue(true, Unary.of(UnaryFn.RELU), false, false), false))
                .isFalse();
    }

    @Test
    void plainProductsAreConcernedWhereNoLibraryMakesThem() {
        assertThat(WarpgroupProducts.concerns(DType.F16, false, Epilogue.NONE, false))
                .isTrue();
        Epilogue bias = new Epilogue(true, null, false, false);
        assertThat(WarpgroupProducts.of(DType.F16, shape(32768, 1152, 384), bias, H200, true, ProductForm.BY_CHOICE)
                        .refusal())
                .isEmpty();
        assertThat(WarpgroupProducts.of(DType.F16, shape(2048, 384, 64), bias, H200, true, ProductForm.BY_CHOICE)
                        .refusal())
                .contains("other tiles");
    }

    @Test
    void manyRowsAreTakenByBlocksThatShareNoRows() {
        MatMulShape shape = shape(32768, 1536, 384);
        assertThat(refusal(shape)).isEmpty();
        RowsPlan plan = RowsPlan.of(DType.F16, shape, GELU, H200);
        assertThat(plan.groups()).isEqualTo(1);
        assertThat(plan.blocks()).isEqualTo(256);
        assertThat(plan.steps()).isEqualTo(6);
    }

    @Test
    void fewerRowsAreSharedByBlocks() {
        RowsPlan plan = RowsPlan.of(DType.F16, shape(4096, 1536, 384), GELU, H200);
        assertThat(plan.groups()).isEqualTo(4);
        assertThat(plan.blocks()).isEqualTo(128);
    }

    @Test
    void tierOfWarpgroupsStandsBehindGemvAndSaysWhyItWasPassedOver() {
        MatMulChoice.Offer offer = new MatMulChoice.Offer(() -> "", "", H200, ProductForm.BY_CHOICE);
        MatMulShape shape = shape(32768, 1536, 384);
        MatMulChoice choice = MatMulChoice.of(DType.F16, shape, GELU, offer, Precision.FAST);
        MatMulChoice rows = choice.byWarpgroups("");
        RowsPlan plan = RowsPlan.of(DType.F16, shape, GELU, H200);
        assertThat(rows.text(DType.F16, GELU, plan.text()))
                .isEqualTo("w warpgroups: matmul_rows, sums of 384, f16, bias, gelu");
        assertThat(rows.passedOver()).hasSize(1).allMatch(reason -> reason.startsWith("g gemv: "));
        assertThat(choice.byWarpgroups("ours is faster").passedOver())
                .hasSize(2)
                .contains(choice.tier().word + ": ours is faster");
        assertThat(choice.notByWarpgroups("too few").passedOver()).contains("w warpgroups: too few");
    }

    @Test
    void rivalsOfALibraryAreThoseThatMayBeFaster() {
        Epilogue bias = Epilogue.NONE.withBias();
        assertThat(rival(DType.F16, shape(32768, 3072, 768), bias, ProductForm.BY_CHOICE))
                .isNotNull();
        assertThat(rival(DType.F32, shape(32768, 3072, 768), bias, ProductForm.BY_CHOICE))
                .isNull();
        assertThat(rival(DType.F16, shape(32768, 3072, 768), bias, ProductForm.PLAIN))
                .isNull();
        assertThat(rival(DType.F16, shape(32768, 3072, 768), bias.withResidual(), ProductForm.BY_CHOICE))
                .isNull();
        assertThat(rival(DType.F16, shape(128, 768, 3072), bias, ProductForm.BY_CHOICE))
                .isNotNull();
        assertThat(rival(DType.F16, shape(100, 65536, 256), bias, ProductForm.BY_CHOICE))
                .isNull();
    }

    @Test
    void untimedProductsOfHalvesAreMadeByTheSoonerByTheModel() {
        Epilogue bias = Epilogue.NONE.withBias();
        MatMulShape three = shape(4096, 2304, 768);
        WarpgroupPlan plan = rival(DType.F16, three, bias, ProductForm.BY_CHOICE);
        assertThat(plan).isNotNull();
        assertThat(plan.text()).isEqualTo("matmul_wgmma, tiles of 128x192");
        assertThat(plan.microseconds()).isBetween(23.0, 26.0);
        assertThat(WarpgroupProducts.untimed(plan, DType.F16, three, bias, false))
                .startsWith("nothing was timed");
        assertThat(WarpgroupProducts.untimed(plan, DType.F32, three, bias, false))
                .isEmpty();
        MatMulShape uneven = shape(32768, 1152, 384);
        WarpgroupPlan slower = rival(DType.F16, uneven, bias, ProductForm.BY_CHOICE);
        assertThat(slower).isNotNull();
        assertThat(WarpgroupProducts.untimed(slower, DType.F16, uneven, bias, false))
                .isEmpty();
        assertThat(WarpgroupProducts.library(DType.F16, uneven, false)).isGreaterThan(20);
        assertThat(WarpgroupProducts.untimed(slower, DType.F16, uneven, bias, true))
                .isEmpty();
        MatMulShape small = shape(154, 256, 1024);
        WarpgroupPlan behind = rival(DType.F16, small, bias, ProductForm.BY_CHOICE);
        assertThat(behind).isNotNull();
        assertThat(WarpgroupProducts.untimed(behind, DType.F16, small, bias, false))
                .isEmpty();
        assertThat(WarpgroupProducts.untimed(behind, DType.F16, small, bias, true))
                .contains("would load a kernel");
    }

    private static @Nullable WarpgroupPlan rival(DType dtype, MatMulShape shape, Epilogue epilogue, ProductForm form) {
        return WarpgroupProducts.rival(dtype, false, shape, epilogue, H200, true, form);
    }

    @Test
    void tf32LiesAlongKInTilesWhoseSumsThreadsKeep() {
        MatMulShape along = MatMulShape.of(Shape.of(32768, 768), Shape.of(3072, 768), false, true);
        WarpgroupProducts.Answer answer = WarpgroupProducts.of(DType.F32, along, GELU, H200, true, ProductForm.RING);
        assertThat(answer.refusal()).isEmpty();
        WarpgroupPlan plan = answer.plan();
        assertThat(plan).isNotNull();
        assertThat(plan.text()).isEqualTo("matmul_wgmma, tiles of 128x192");
        assertThat(plan.detail()).isEqualTo(24);
        assertThat(plan.rightRows()).isEqualTo(64);
        assertThat(WarpgroupProducts.of(DType.F32, shape(32768, 3072, 768), GELU, H200, true, ProductForm.RING)
                        .refusal())
                .isEqualTo("TF32 operands lie along k");
    }

    @Test
    void fewTilesAreSharedByBlocks() {
        WarpgroupPlan gelu = WarpgroupProducts.of(
                        DType.F16, shape(128, 3072, 768), GELU, H200, true, ProductForm.BY_CHOICE)
                .plan();
        assertThat(gelu).isNotNull();
        assertThat(gelu.text()).isEqualTo("matmul_parts");
        assertThat(gelu.blocks()).isEqualTo(96);
        PartsPlan deep = PartsPlan.of(DType.F16, shape(128, 768, 3072), H200);
        assertThat(deep.text()).isEqualTo("matmul_parts, 4 parts of k");
        assertThat(deep.blocks()).isEqualTo(96);
        assertThat(deep.cluster()).isEqualTo(4);
        assertThat(deep.leftRows()).isEqualTo(64);
        MatMulShape along = MatMulShape.of(Shape.of(128, 1536), Shape.of(384, 1536), false, true);
        WarpgroupPlan tf32 = WarpgroupProducts.rival(
                DType.F32, true, along, new Epilogue(true, null, true, false), H200, true, ProductForm.BY_CHOICE);
        assertThat(tf32).isNotNull();
        assertThat(tf32.text()).isEqualTo("matmul_parts, 8 parts of k");
        assertThat(tf32.detail()).isEqualTo(48);
    }

    @Test
    void longSumsPassThroughTheRing() {
        WarpgroupPlan plan = WarpgroupProducts.of(
                        DType.F16, shape(32768, 3072, 768), GELU, H200, true, ProductForm.BY_CHOICE)
                .plan();
        assertThat(plan).isNotNull();
        assertThat(plan.text()).isEqualTo("matmul_wgmma, tiles of 128x256");
        assertThat(plan.blocks()).isEqualTo(H200.multiprocessors());
        assertThat(plan.detail()).isEqualTo(12);
    }

    @Test
    void sumsAreNoShorterThanWhatIsStoredBesideThem() {
        WarpgroupPlan plan = WarpgroupProducts.of(DType.BF16, shape(128, 8, 8), GELU, H200, true, ProductForm.RING)
                .plan();
        assertThat(plan).isNotNull();
        assertThat(plan.detail()).isEqualTo(5);
        assertThat(plan.blocks()).isEqualTo(1);
    }

    @Test
    void refusalsNameTheReason() {
        assertThat(WarpgroupProducts.of(DType.F16, shape(100, 3072, 768), GELU, H200, true, ProductForm.ROWS)
                        .refusal())
                .contains("matmul_rows: sums of 768 elements")
                .contains("matmul_wgmma: others are asked for");
        assertThat(refusal(shape(4096, 3072, 769))).contains("it takes multiples of 8");
        assertThat(refusal(shape(17024, 128, 64))).contains("us by the model");
        assertThat(WarpgroupProducts.of(DType.F16, shape(32768, 1536, 384), GELU, H200, false, ProductForm.BY_CHOICE)
                        .refusal())
                .isEqualTo("no compiler for sm_90a");
        assertThat(WarpgroupProducts.of(DType.F16, shape(32768, 1536, 384), GELU, H200, true, ProductForm.PLAIN)
                        .refusal())
                .isEqualTo("other products are asked for");
    }
}
