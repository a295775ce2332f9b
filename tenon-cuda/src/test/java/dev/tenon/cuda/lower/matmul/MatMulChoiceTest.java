package dev.tenon.cuda.lower.matmul;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.matmul.MatMulChoice.Offer;
import dev.tenon.cuda.lower.matmul.MatMulChoice.Tier;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The ladder of matrix products, decided without a device. */
public class MatMulChoiceTest {
    private static final Offer BOTH = offer("", "", 9, 0);
    private static final Offer NEITHER = offer("cublas: not found", "cublasLt: not found", 9, 0);
    private static final Offer NO_LT = offer("", "cublasLt: hidden", 9, 0);
    private static final Epilogue GELU = Epilogue.NONE.withActivation(Unary.of(UnaryFn.GELU));
    private static final Epilogue GELU_TANH = Epilogue.NONE.withActivation(Unary.of(UnaryFn.GELU_TANH));
    private static final Epilogue RELU = Epilogue.NONE.withActivation(Unary.of(UnaryFn.RELU));
    private static final Epilogue SILU = Epilogue.NONE.withActivation(Unary.silu());

    private static Offer offer(String cublas, String lt, int major, int minor) {
        return new Offer(() -> cublas, lt, device(major, minor), ProductForm.BY_CHOICE);
    }

    private static Offer wanting(ProductForm form, Offer offer) {
        return new Offer(offer.cublas(), offer.lt(), offer.device(), form);
    }

    public static DeviceProperties device(int major, int minor) {
        return new DeviceProperties(
                0,
                "none",
                new Architecture(major, minor),
                132,
                80L << 30,
                48 << 10,
                major >= 9 ? 227 << 10 : major == 8 ? 163 << 10 : 64 << 10,
                major >= 9 ? 228 << 10 : major == 8 ? 164 << 10 : 64 << 10,
                65536,
                2048,
                50 << 20,
                true);
    }

    private static MatMulShape plain(long m, long k, long n) {
        return MatMulShape.of(Shape.of(m, k), Shape.of(k, n), false, false);
    }

    private static MatMulChoice choice(DType dtype, MatMulShape shape, Epilogue epilogue, Offer offer) {
        return MatMulChoice.of(dtype, shape, epilogue, offer, Precision.FAST);
    }

    @Test
    void theWorkedExamplesOfTheLadder() {
        MatMulShape large = plain(1024, 4096, 4096);
        assertThat(choice(DType.F16, large, GELU, BOTH).tier()).isEqualTo(Tier.MIXED);
        assertThat(choice(DType.F16, large, RELU, BOTH).tier()).isEqualTo(Tier.MIXED);
        assertThat(choice(DType.F32, large, RELU, BOTH).tier()).isEqualTo(Tier.FUSED);
        assertThat(choice(DType.F32, large, SILU, BOTH).tier()).isEqualTo(Tier.BLAS);
        assertThat(choice(DType.F32, plain(1, 3, 2), Epilogue.NONE, BOTH).tier())
                .isEqualTo(Tier.BLAS);
        assertThat(choice(DType.F16, plain(1, 4096, 4096), Epilogue.NONE, BOTH).tier())
                .isEqualTo(Tier.GEMV);
    }

    /** The ladder has f32 with gelu(tanh) in tier 1, but the library's function is wrong at -inf. */
    @Test
    void librarysGeluTanhIsRefused() {
        MatMulChoice choice = choice(DType.F32, plain(1024, 4096, 4096), GELU_TANH, BOTH);
        assertThat(choice.tier()).isEqualTo(Tier.BLAS);
        assertThat(choice.passedOver())
                .contains("1 fused: the library's gelu_tanh is NaN at -inf, and elsewhere off by 5e-6");
    }

    @Test
    void withoutLibrariesTheArchitectureDecides() {
        MatMulShape large = plain(1024, 4096, 4096);
        for (DType dtype : new DType[] {DType.F32, DType.F16, DType.BF16}) {
            assertThat(choice(dtype, large, SILU, NEITHER).tier()).isEqualTo(Tier.TENSOR_CORE);
        }
        assertThat(choice(DType.F64, large, SILU, NEITHER).passedOver())
                .contains("3 tensor core: tensor cores take f16, bf16 and TF32, not f64");
        Offer old = offer("cublas: not found", "cublasLt: not found", 7, 5);
        assertThat(choice(DType.F16, large, SILU, old).tier()).isEqualTo(Tier.TENSOR_CORE);
        assertThat(choice(DType.BF16, large, SILU, old).tier()).isEqualTo(Tier.SCALAR);
        assertThat(choice(DType.F32, large, SILU, old).passedOver())
                .contains("3 tensor core: compute capability 7.5 is below 8.0");
        assertThat(choice(DType.F32, large, SILU, offer("no", "no", 7, 0)).tier())
                .isEqualTo(Tier.SCALAR);
        assertThat(MatMulChoice.of(DType.F32, large, SILU, NEITHER, Precision.STRICT)
                        .passedOver())
                .contains("3 tensor core: f32 is asked for, not TF32");
    }

    @Test
    void everyTierIsReachedAsTheLibrariesGo() {
        MatMulShape large = plain(1024, 4096, 4096);
        assertThat(choice(DType.F32, large, RELU, BOTH).tier()).isEqualTo(Tier.FUSED);
        assertThat(choice(DType.F32, large, RELU, NO_LT).tier()).isEqualTo(Tier.BLAS);
        assertThat(choice(DType.F32, large, RELU, NEITHER).tier()).isEqualTo(Tier.TENSOR_CORE);
        Offer without = wanting(ProductForm.NO_TENSOR_CORES, NEITHER);
        assertThat(choice(DType.F32, large, RELU, without).tier()).isEqualTo(Tier.SCALAR);
        assertThat(choice(DType.F32, large, RELU, without).passedOver())
                .contains("3 tensor core: TENON_CUDA_WMMA is 0");
    }

    @Test
    void tensorCoresCanBeForced() {
        Offer forced = wanting(ProductForm.TENSOR_CORES, BOTH);
        MatMulChoice choice = choice(DType.F16, plain(1, 4096, 4096), GELU, forced);
        assertThat(choice.tier()).isEqualTo(Tier.TENSOR_CORE);
        assertThat(choice.passedOver()).contains("0 mixed: TENON_CUDA_WMMA is 1");
        assertThat(choice.text(DType.F16, GELU, "matmul_wmma 16x64"))
                .isEqualTo("3 tensor core: matmul_wmma 16x64, f16, gelu");
        assertThat(MatMulChoice.of(DType.F32, plain(64, 64, 64), GELU, forced, Precision.STRICT)
                        .tier())
                .isEqualTo(Tier.BLAS);
        assertThat(choice(DType.F64, plain(64, 64, 64), GELU, forced).tier()).isEqualTo(Tier.BLAS);
    }

    @Test
    void fewRowsOfALargeWeightNeedOneMatrix() {
        assertThat(choice(DType.F64, plain(1, 512, 512), GELU, NEITHER).tier()).isEqualTo(Tier.GEMV);
        assertThat(choice(DType.F64, plain(16, 512, 512), GELU, NEITHER).tier()).isEqualTo(Tier.GEMV);
        MatMulShape stack = MatMulShape.of(Shape.of(2, 1, 1024), Shape.of(2, 1024, 1024), false, false);
        assertThat(choice(DType.F32, stack, GELU, BOTH).passedOver()).contains("g gemv: there are 2 matrices");
        MatMulShape turned = MatMulShape.of(Shape.of(1024, 2), Shape.of(1024, 1024), true, false);
        assertThat(choice(DType.F32, turned, GELU, BOTH).passedOver()).contains("g gemv: rows of a do not lie along k");
    }

    /** The gates of squeeze-and-excite blocks: a library would take two launches. */
    @Test
    void oneRowOfASmallWeightWithAnActivationIsOneLaunch() {
        assertThat(choice(DType.F16, plain(1, 240, 960), GELU, BOTH).tier()).isEqualTo(Tier.GEMV);
        assertThat(choice(DType.F16, plain(1, 240, 960), RELU, BOTH).passedOver())
                .contains("g gemv: the weight has 460800 bytes, less than 1 MiB");
    }

    @Test
    void fewResultsWithAShortActivationAreOneLaunch() {
        MatMulChoice whole = choice(DType.F16, plain(196, 384, 1536), GELU, BOTH);
        assertThat(whole.tier()).isEqualTo(Tier.TENSOR_CORE);
        assertThat(whole.passedOver())
                .contains("0 mixed: few results, and the library leaves the activation to another pass");
        assertThat(choice(DType.F16, plain(196, 384, 1536), SILU, BOTH).tier()).isEqualTo(Tier.MIXED);
        assertThat(choice(DType.F16, plain(1568, 384, 1536), GELU, BOTH).tier()).isEqualTo(Tier.MIXED);
    }

    @Test
    void severalRowsAreSoonerElsewhereIfThereIsOne() {
        MatMulShape alongK = MatMulShape.of(Shape.of(2, 4096), Shape.of(4096, 4096), false, true);
        assertThat(choice(DType.F16, alongK, GELU, BOTH).tier()).isEqualTo(Tier.GEMV);
        MatMulShape four = plain(4, 4096, 4096);
        assertThat(choice(DType.F16, four, GELU, BOTH).passedOver())
                .contains("g gemv: 4 rows are sooner by the library");
        assertThat(choice(DType.F16, four, GELU, NEITHER).passedOver())
                .contains("g gemv: 4 rows are sooner on tensor cores");
        assertThat(choice(DType.F16, plain(1, 4096, 14336), GELU, BOTH).passedOver())
                .contains("g gemv: one row is sooner by the library");
        Offer without = wanting(ProductForm.NO_TENSOR_CORES, NEITHER);
        assertThat(choice(DType.F16, four, GELU, without).tier()).isEqualTo(Tier.GEMV);
    }

    @Test
    void everyTierPassedOverHasAReason() {
        assertThat(MatMulChoice.of(DType.F32, plain(1024, 64, 64), SILU, NEITHER, Precision.STRICT)
                        .passedOver())
                .containsExactly(
                        "g gemv: 1024 rows are more than 16",
                        "0q quantised: the weight is f32",
                        "0 mixed: operands are f32",
                        "1 fused: silu is not relu",
                        "2 blas: cublas: not found",
                        "3 tensor core: f32 is asked for, not TF32");
        assertThat(choice(DType.F16, plain(1024, 64, 64), SILU, NEITHER).passedOver())
                .contains("0 mixed: cublas: not found", "1 fused: cublas: not found", "2 blas: cublas: not found");
        assertThat(choice(DType.F32, plain(2, 64, 64), RELU, NO_LT).passedOver())
                .contains("g gemv: the weight has 16384 bytes, less than 1 MiB", "1 fused: cublasLt: hidden");
    }

    @Test
    void whoAppliesTheEpilogue() {
        MatMulShape shape = plain(64, 64, 64);
        MatMulChoice halfGelu = choice(DType.BF16, plain(2048, 64, 2048), GELU, BOTH);
        assertThat(halfGelu.lt()).isTrue();
        assertThat(halfGelu.fused()).isFalse();
        assertThat(choice(DType.BF16, shape, RELU, BOTH).fused()).isTrue();
        assertThat(choice(DType.BF16, shape, RELU, NO_LT).fused()).isFalse();
        Epilogue all = RELU.withBias().withResidual();
        assertThat(choice(DType.F32, shape, all, BOTH).tier()).isEqualTo(Tier.BLAS);
        assertThat(choice(DType.F32, shape, Epilogue.NONE.withBias().withResidual(), BOTH)
                        .tier())
                .isEqualTo(Tier.FUSED);
        assertThat(choice(DType.F64, shape, Epilogue.NONE.withBias(), BOTH).tier())
                .isEqualTo(Tier.BLAS);
    }

    @Test
    void strictTakesNoEpilogueThatRoundsTwice() {
        MatMulShape shape = plain(64, 64, 64);
        Epilogue both = Epilogue.NONE.withBias().withResidual();
        for (DType half : new DType[] {DType.F16, DType.BF16}) {
            assertThat(MatMulChoice.of(half, shape, both, BOTH, Precision.STRICT)
                            .fused())
                    .isFalse();
            assertThat(MatMulChoice.of(half, shape, both, BOTH, Precision.FAST).fused())
                    .isTrue();
            assertThat(MatMulChoice.of(half, shape, Epilogue.NONE.withBias(), BOTH, Precision.STRICT)
                            .fused())
                    .isTrue();
        }
        for (Precision precision : Precision.values()) {
            assertThat(MatMulChoice.of(DType.F32, shape, GELU_TANH, BOTH, precision)
                            .passedOver())
                    .contains("1 fused: the library's gelu_tanh is NaN at -inf, and elsewhere off by 5e-6");
        }
        assertThat(MatMulChoice.of(DType.F32, shape, both, BOTH, Precision.STRICT)
                        .tier())
                .isEqualTo(Tier.FUSED);
    }

    @Test
    void tf32OnlyWhereItIsAllowedAndThere() {
        MatMulShape shape = plain(64, 64, 64);
        assertThat(choice(DType.F32, shape, Epilogue.NONE, BOTH).text(DType.F32, Epilogue.NONE, ""))
                .isEqualTo("2 blas: cuBLASLt, TF32");
        MatMulChoice strict = MatMulChoice.of(DType.F32, shape, SILU, BOTH, Precision.STRICT);
        assertThat(strict.text(DType.F32, SILU, "")).isEqualTo("2 blas: cuBLASLt, f32, then matmul_epilogue: silu");
        Offer old = offer("", "", 7, 5);
        assertThat(choice(DType.F32, shape, RELU, old).text(DType.F32, RELU, ""))
                .isEqualTo("1 fused: cuBLASLt, f32, relu");
        assertThat(choice(DType.F16, shape, Epilogue.NONE, BOTH).tf32()).isFalse();
    }

    @Test
    void emptySumsAndEmptyResultsNeverReachALibrary() {
        assertThat(choice(DType.F32, plain(4, 0, 3), Epilogue.NONE.withBias(), BOTH)
                        .tier())
                .isEqualTo(Tier.SCALAR);
        assertThat(choice(DType.F32, plain(0, 5, 3), Epilogue.NONE, BOTH).tier())
                .isEqualTo(Tier.NONE);
        assertThat(choice(DType.F16, plain(4, 5, 0), Epilogue.NONE, BOTH).tier())
                .isEqualTo(Tier.NONE);
    }

    @Test
    void batchesThatShareTheWeightAreOneProduct() {
        MatMulShape folded = MatMulShape.of(Shape.of(8, 128, 64), Shape.of(64, 32), false, true);
        assertThat(folded.m()).isEqualTo(8 * 128);
        assertThat(folded.batch()).isEmpty();
        MatMulShape transposed = MatMulShape.of(Shape.of(8, 64, 128), Shape.of(64, 32), true, false);
        assertThat(transposed.m()).isEqualTo(128);
        assertThat(transposed.batch()).containsExactly(8L);
        assertThat(transposed.stridesB()).containsExactly(0L);
    }

    @Test
    void unevenBatchesAreALoopOfCallsUntilThatIsTooMany() {
        MatMulShape some = MatMulShape.of(Shape.of(2, 1, 3, 4), Shape.of(1, 5, 4, 6), false, false);
        assertThat(choice(DType.F32, some, Epilogue.NONE.withBias(), BOTH).tier())
                .isEqualTo(Tier.BLAS);
        assertThat(choice(DType.F32, some, Epilogue.NONE.withBias(), BOTH).passedOver())
                .contains("1 fused: the batch [2, 5] is broadcast unevenly");
        MatMulShape many = MatMulShape.of(Shape.of(65, 1, 3, 4), Shape.of(1, 5, 4, 6), false, false);
        assertThat(choice(DType.F32, many, Epilogue.NONE, BOTH).passedOver())
                .contains("2 blas: the batch [65, 5] would take 65 calls, more than 64");
    }

    @Test
    void moreMatricesThanAGridHasRoomForAreSeveralCalls() {
        MatMulShape shape = MatMulShape.of(Shape.of(65537, 1, 4), Shape.of(65537, 4, 1), false, false);
        assertThat(GemmCalls.count(shape)).isEqualTo(2);
        assertThat(choice(DType.F16, shape, Epilogue.NONE, BOTH).lt()).isFalse();
    }

    @Test
    void partsOfABatchStartWhereTheirMatricesLie() {
        MatMulShape shape = MatMulShape.of(Shape.of(2, 1, 3, 4), Shape.of(1, 5, 4, 6), false, false);
        assertThat(shape.starts(1))
                .isEqualTo(List.of(new MatMulShape.Start(0, 0, 0), new MatMulShape.Start(12, 0, 5 * 18)));
        assertThat(shape.inner(1).matrices()).isEqualTo(5);
        assertThat(shape.starts(4)).hasSize(1);
    }
}
