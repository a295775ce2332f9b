package dev.tenon.cuda.lower.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.attention.AttentionProblem.Formula;
import dev.tenon.cuda.lower.attention.AttentionProblem.Mask;
import dev.tenon.cuda.lower.attention.AttentionProblem.MaskStrides;
import dev.tenon.cuda.lower.attention.AttentionProblem.Operands;
import dev.tenon.cuda.lower.attention.AttentionProblem.Strides;
import dev.tenon.cuda.port.FakeGpu;
import dev.tenon.cuda.port.GpuContext;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What attention_wgmma takes before cuDNN, and in how many blocks. */
class WarpgroupAttentionTest {
    @Test
    void comesBeforeCudnnWhereCausal() {
        assertThat(tiles(32, 1024, 128, true).isFasterThanLibrary()).isTrue();
        assertThat(tiles(32, 1024, 128, false).isFasterThanLibrary()).isFalse();
        assertThat(tiles(32, 1024, 64, true).isFasterThanLibrary()).isFalse();
        assertThat(tiles(32, 511, 128, true).isFasterThanLibrary()).isFalse();
    }

    @Test
    void comesAfterCudnnWhereItDoesNotTakeTheProblem() {
        WarpgroupAttention uncompiled = attention(problem(32, 1024, 128, true), false);
        assertThat(uncompiled.refusal()).isEqualTo("no compiler for sm_90a");
        assertThat(uncompiled.isFasterThanLibrary()).isFalse();
    }

    @Test
    void causalTilesComeInPairsWhereTheyAreMoreThanMultiprocessors() {
        assertThat(tiles(32, 512, 128, true).blocks()).isEqualTo(128);
        assertThat(tiles(32, 512, 128, false).blocks()).isEqualTo(128);
        assertThat(tiles(32, 640, 128, true).blocks()).isEqualTo(32 * 3);
        assertThat(tiles(32, 640, 128, false).blocks()).isEqualTo(FakeGpu.DEVICE.multiprocessors());
        assertThat(tiles(32, 4096, 128, true).blocks()).isEqualTo(FakeGpu.DEVICE.multiprocessors());
    }

    private static WarpgroupAttention tiles(long heads, long tokens, int size, boolean causal) {
        return attention(problem(heads, tokens, size, causal), true);
    }

    private static WarpgroupAttention attention(AttentionProblem problem, boolean compilesSpecific) {
        AttentionHeads heads =
                new AttentionHeads(problem.dtype(), problem.size(), problem.sizeV(), Precision.FAST, FakeGpu.DEVICE);
        KernelModules modules = new KernelModules(FakeGpu.context(new AtomicInteger()), FakeGpu.compiler(_ -> {}));
        return new WarpgroupAttention(
                problem, heads, new Operands(0, 1, 2, 0, 0, -1, 3), new NoSpecific(modules, compilesSpecific));
    }

    /** Kernels of which some may not be compiled for one capability alone. */
    private record NoSpecific(Kernels all, boolean compilesSpecific) implements Kernels {
        @Override
        public GpuContext context() {
            return all.context();
        }

        @Override
        public Kernel kernel(KernelFile file, String entry, KernelVariant variant, int sharedBytes) {
            return all.kernel(file, entry, variant, sharedBytes);
        }
    }

    private static AttentionProblem problem(long heads, long tokens, int size, boolean causal) {
        Strides strides = new Strides(heads * tokens * size, size, tokens * size);
        return new AttentionProblem(
                DType.BF16,
                1,
                heads,
                1,
                tokens,
                tokens,
                size,
                size,
                strides,
                strides,
                strides,
                strides,
                Mask.NONE,
                MaskStrides.of(null),
                causal,
                0,
                0.1,
                0,
                Formula.SEEN_ALONE);
    }
}
