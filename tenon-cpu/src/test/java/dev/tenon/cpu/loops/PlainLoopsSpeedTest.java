package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.CpuRun;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * The plain loops are within a factor of the vector loops once C2 has compiled both. The bound is far above the usual
 * factor of 1.5 to 3, because machines that run tests are busy, and far below the 18 of loops that stay scalar.
 */
class PlainLoopsSpeedTest {
    private static final double MOST = 9;
    private static final Duration MOST_TIME = Duration.ofSeconds(3);
    /** Compiled and at its speed: no run was shorter for so long. */
    private static final Duration STEADY = Duration.ofSeconds(1);

    private static final int M = 64;
    private static final int N = 512;
    private static final int K = 384;

    private final MemorySegment a = Arena.ofAuto().allocate(4L * M * K, 64);
    private final MemorySegment b = Arena.ofAuto().allocate(Gemm.packedBytes(K, N), 64);
    private final MemorySegment c = Arena.ofAuto().allocate(4L * M * N, 64);
    private final MemorySegment edge = Arena.ofAuto().allocate(Gemm.EDGE_BYTES, 64);

    static boolean hasVectors() {
        return Vectors.available();
    }

    @BeforeAll
    static void useVectors() {
        CpuRun.useVectors();
    }

    @Test
    @EnabledIf("hasVectors")
    void productsKeepUp() {
        Gemm.Size size = new Gemm.Size(M, N, K);
        Matrix left = new Matrix(a, 0, 4L * K);
        Matrix panels = new Matrix(b, 0, 4L * K * Gemm.NR);
        Matrix result = new Matrix(c, 0, 4L * N);
        compare(loops -> loops.product(size, left, panels, result, Start.ZERO, new Place(edge, 0)));
    }

    @Test
    @EnabledIf("hasVectors")
    void activationsKeepUp() {
        compare(loops -> loops.unary(Unary.of(UnaryFn.GELU), b, 0, c, 0, M * N));
    }

    @Test
    @EnabledIf("hasVectors")
    void softmaxKeepsUp() {
        compare(loops -> {
            for (int row = 0; row < M; row++) {
                long at = 4L * row * N;
                float max = loops.max(c, at, N);
                double sum = loops.expSum(c, at, max, c, at, N);
                loops.affine(c, at, c, at, (float) (1 / sum), 0, N);
            }
        });
    }

    private interface Work {
        void run(Loops loops);
    }

    private static void compare(Work work) {
        double vector = nanos(work, Loops.current());
        double plain = nanos(work, new Loops());
        assertThat(plain / vector)
                .as("plain %.0f ns, vectors %.0f ns", plain, vector)
                .isLessThan(MOST);
    }

    /** Of the shortest run, once none has been shorter by a tenth for a while. */
    private static double nanos(Work work, Loops loops) {
        long least = Long.MAX_VALUE;
        long start = System.nanoTime();
        long before = start;
        long improved = start;
        while (before - start < MOST_TIME.toNanos() && before - improved < STEADY.toNanos()) {
            work.run(loops);
            long now = System.nanoTime();
            if (now - before < 0.9 * least) {
                improved = now;
            }
            least = Math.min(least, now - before);
            before = now;
        }
        return least;
    }
}
