package dev.tenon.cuda.lower.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.lower.attention.AttentionProblem.Formula;
import dev.tenon.cuda.lower.attention.AttentionProblem.Mask;
import dev.tenon.cuda.lower.attention.AttentionProblem.MaskStrides;
import dev.tenon.cuda.lower.attention.AttentionProblem.Operands;
import dev.tenon.cuda.lower.attention.AttentionProblem.Strides;
import dev.tenon.cuda.port.FakeGpu;
import dev.tenon.cuda.port.GpuContext;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What attention_short_wgmma takes. */
class ShortAttentionTest {
    private static final MaskStrides OF_KEYS = new MaskStrides(128, 0, 0, 1);
    private static final MaskStrides OF_QUERIES = new MaskStrides(128 * 128, 0, 128, 1);

    @Test
    void wholeHeadsOfUpTo128KeysAreTaken() {
        for (DType dtype : new DType[] {DType.F16, DType.BF16, DType.F32}) {
            assertThat(refusal(dtype, 128, 128, 64, OF_KEYS, false)).isEmpty();
            assertThat(refusal(dtype, 65, 65, 32, OF_KEYS, false)).isEmpty();
            assertThat(refusal(dtype, 300, 100, 40, OF_KEYS, false)).isEmpty();
        }
    }

    @Test
    void othersAreRefusedWithTheReason() {
        assertThat(refusal(DType.F16, 128, 129, 64, OF_KEYS, false)).startsWith("128 queries and 129 keys");
        assertThat(refusal(DType.F16, 128, 64, 64, OF_KEYS, false)).startsWith("128 queries and 64 keys");
        assertThat(refusal(DType.F16, 64, 128, 64, OF_KEYS, false)).startsWith("64 queries and 128 keys");
        assertThat(refusal(DType.F16, 128, 128, 72, OF_KEYS, false)).startsWith("heads of 72 and 72");
        assertThat(refusal(DType.F16, 128, 128, 16, OF_KEYS, false)).startsWith("heads of 16 and 16");
        assertThat(refusal(DType.F16, 128, 128, 64, OF_QUERIES, false)).isEqualTo("each query has its own mask");
        assertThat(refusal(DType.F16, 128, 128, 64, OF_KEYS, true)).contains("causal");
        assertThat(refusal(DType.F16, 128, 128, 44, OF_KEYS, false)).contains("16-byte");
        assertThat(refusal(DType.F64, 128, 128, 64, OF_KEYS, false)).contains("f64");
    }

    @Test
    void manySmallHeadsInTf32AreLeft() {
        assertThat(refusal(DType.F32, 9 * 128 * 132, 128, 32, OF_KEYS, false)).startsWith("many heads of 32 elements");
        assertThat(refusal(DType.F32, 9 * 128 * 132, 128, 40, OF_KEYS, false)).isEmpty();
        assertThat(refusal(DType.F16, 9 * 128 * 132, 128, 32, OF_KEYS, false)).isEmpty();
    }

    private static String refusal(DType dtype, long queries, long keys, int size, MaskStrides mask, boolean causal) {
        long heads = 12;
        Strides q = new Strides(queries * heads * size, heads * size, size);
        Strides k = new Strides(keys * heads * size, heads * size, size);
        AttentionProblem problem = new AttentionProblem(
                dtype,
                2,
                heads,
                1,
                queries,
                keys,
                size,
                size,
                q,
                k,
                k,
                q,
                Mask.ADDED,
                mask,
                causal,
                0,
                0.1,
                0,
                Formula.PLAIN);
        AttentionHeads of = new AttentionHeads(dtype, size, size, Precision.FAST, FakeGpu.DEVICE);
        return new WarpgroupAttention(problem, of, new Operands(0, 1, 2, 0, 0, 3, 4), kernels()).shortRefusal();
    }

    private static Kernels kernels() {
        GpuContext context = FakeGpu.context(new AtomicInteger());
        return (Kernels) Proxy.newProxyInstance(
                ShortAttentionTest.class.getClassLoader(),
                new Class<?>[] {Kernels.class},
                (self, method, given) -> switch (method.getName()) {
                    case "context" -> context;
                    case "compilesSpecific" -> true;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }
}
