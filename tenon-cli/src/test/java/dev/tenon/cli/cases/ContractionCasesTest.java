package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ContractionCasesTest {
    private static final Cpu.Body MATMUL = (g, x) -> List.of(g.matmul(x.get(0), x.get(1)));

    @Test
    @DisplayName("MM-01 nothing to sum gives 0, then the epilogue")
    void emptySums() {
        Cpu.check(
                MATMUL,
                List.of(Tensor.zeros(DType.F32, 3, 2, 0), Tensor.zeros(DType.F32, 3, 0, 3)),
                y -> Cpu.exactly(y.getFirst(), sizes(3, 2, 3), new double[18]));
        Cpu.check(
                (g, x) -> List.of(g.relu(g.add(g.matmul(x.get(0), x.get(1)), x.get(2)))),
                List.of(Tensor.zeros(DType.F32, 4, 0), Tensor.zeros(DType.F32, 0, 3), f32(-1, 2, 3)),
                y -> Cpu.exactly(y.getFirst(), sizes(4, 3), 0, 2, 3, 0, 2, 3, 0, 2, 3, 0, 2, 3));
        Cpu.check(
                MATMUL,
                List.of(Tensor.zeros(DType.F32, 0, 5), Tensor.zeros(DType.F32, 5, 3)),
                y -> Cpu.exactly(y.getFirst(), sizes(0, 3)));
    }

    @Test
    @DisplayName("MM-01 nothing added to a residual leaves it")
    void emptyResidual() {
        List<Tensor> inputs = List.of(
                Tensor.zeros(DType.F32, 2, 0),
                Tensor.zeros(DType.F32, 0, 2),
                Cpu.filled(TensorType.of(DType.F32, 2, 2), 7));
        Cpu.check(
                new MatMul(false, false, Epilogue.NONE.withResidual()),
                inputs,
                y -> Cpu.exactly(y, sizes(2, 2), 7, 7, 7, 7));
        Cpu.check(
                (g, x) -> List.of(g.add(g.matmul(x.get(0), x.get(1)), x.get(2))),
                inputs,
                y -> Cpu.exactly(y.getFirst(), sizes(2, 2), 7, 7, 7, 7));
    }

    @Test
    @DisplayName("MM-02 f32 products keep all 24 bits")
    void exactProducts() {
        Cpu.check(
                MATMUL,
                List.of(f32(sizes(1, 1), 1024.5), f32(sizes(1, 1), 1)),
                y -> Cpu.exactly(y.getFirst(), sizes(1, 1), 1024.5));
        double[] diagonal = new double[64 * 64];
        double[] identity = new double[64 * 64];
        for (int i = 0; i < 64; i++) {
            diagonal[65 * i] = 1024.5;
            identity[65 * i] = 1;
        }
        Cpu.check(
                MATMUL,
                List.of(f32(sizes(64, 64), diagonal), f32(sizes(64, 64), identity)),
                y -> Cpu.exactly(y.getFirst(), sizes(64, 64), diagonal));
    }

    @Test
    @DisplayName("MM-02 a 512 x 512 product is within 1e-6 of f64")
    void accurateProducts() {
        int n = 512;
        SplittableRandom random = new SplittableRandom(2);
        double[] a = random.doubles((long) n * n, -1, 1).map(x -> (float) x).toArray();
        double[] b = random.doubles((long) n * n, -1, 1).map(x -> (float) x).toArray();
        Tensor y = Cpu.run(MATMUL, f32(sizes(n, n), a), f32(sizes(n, n), b)).getFirst();
        double error = 0;
        double norm = 0;
        for (int i = 0; i < n; i++) {
            double[] row = new double[n];
            for (int k = 0; k < n; k++) {
                for (int j = 0; j < n; j++) {
                    row[j] += a[i * n + k] * b[k * n + j];
                }
            }
            for (int j = 0; j < n; j++) {
                double difference = y.getDouble((long) i * n + j) - row[j];
                error += difference * difference;
                norm += row[j] * row[j];
            }
        }
        assertThat(Math.sqrt(error / norm)).isLessThan(1e-6);
    }

    @ParameterizedTest
    @ValueSource(ints = {65535, 65536, 65537})
    @DisplayName("MM-03 more batches than a grid dimension has, rows one and eight")
    void manyBatches(int batches) {
        for (int rows : new int[] {1, 8}) {
            Tensor a = Tensor.zeros(DType.F32, batches, rows, 4);
            for (int i = 0; i < batches * rows * 4; i++) {
                a.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, (1 + i % 4) * (i / (4 * rows) % 7));
            }
            Tensor b = Cpu.filled(TensorType.of(DType.F32, batches, 4, 1), 1);
            Tensor y = Cpu.run(MATMUL, a, b).getFirst();
            assertThat(y.shape().sizes()).containsExactly(batches, rows, 1);
            float[] found = y.toFloats();
            for (int i = 0; i < found.length; i++) {
                if (found[i] != 10 * (i / rows % 7)) {
                    assertThat(found[i]).as("batch %d", i / rows).isEqualTo(10 * (i / rows % 7));
                }
            }
        }
    }

    @Test
    @DisplayName("MM-04 operands that are slices, expansions, broadcasts")
    void views() {
        double[] w = new double[18];
        java.util.Arrays.setAll(w, i -> 100 * (i / 6) + 10 * (i / 2 % 3) + i % 2);
        Cpu.check(
                (g, x) -> List.of(g.matmul(g.reshape(g.slice(x.get(0), 2, 1, 2), 3, 3), x.get(1))),
                List.of(f32(sizes(3, 3, 2), w), f32(sizes(3, 2), 1, 0, 0, 1, 1, 1)),
                y -> Cpu.exactly(y.getFirst(), sizes(3, 2), 22, 32, 222, 232, 422, 432));
        Cpu.check(
                (g, x) -> List.of(g.matmul(x.get(0), g.expand(x.get(1), 2, 2))),
                List.of(f32(sizes(1, 2), 5, 6), f32(sizes(2, 1), 3, 4)),
                y -> Cpu.exactly(y.getFirst(), sizes(1, 2), 39, 39));
        double[] b = new double[24];
        java.util.Arrays.setAll(b, i -> i);
        Cpu.check(MATMUL, List.of(f32(sizes(1, 2, 3), 1, 2, 3, 4, 5, 6), f32(sizes(4, 3, 2), b)), y -> {
            double[] expected = new double[16];
            for (int i = 0; i < 16; i++) {
                int at = i / 4 * 6 + i % 2;
                int row = i / 2 % 2 * 3;
                expected[i] = (row + 1) * b[at] + (row + 2) * b[at + 2] + (row + 3) * b[at + 4];
            }
            Cpu.exactly(y.getFirst(), sizes(4, 2, 2), expected);
        });
    }

    @Test
    @DisplayName("MO-01 experts without tokens")
    void experts() {
        double[] tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
        experts(tokens, new double[] {1, 2, 3, 4, 15, 18, 21, 24, 27, 30}, 2, 0, 3, 0);
        experts(tokens, java.util.Arrays.stream(tokens).map(x -> 4 * x).toArray(), 0, 0, 0, 5);
        experts(tokens, tokens, 5, 0, 0, 0);
        experts(new double[] {3, 4}, new double[] {9, 12}, 0, 0, 1, 0);
        experts(new double[0], new double[0], 0, 0, 0, 0);
    }

    private static void experts(double[] tokens, double[] expected, long... counts) {
        double[] weights = new double[16];
        for (int e = 0; e < 4; e++) {
            weights[4 * e] = e + 1;
            weights[4 * e + 3] = e + 1;
        }
        long rows = tokens.length / 2;
        for (Tensor count : List.of(
                Tensor.of(counts, 4),
                Tensor.of(java.util.Arrays.stream(counts).mapToInt(c -> (int) c).toArray(), 4))) {
            Cpu.check(
                    new GroupedMatMul(),
                    List.of(f32(sizes(rows, 2), tokens), f32(sizes(4, 2, 2), weights), count),
                    y -> Cpu.exactly(y, sizes(rows, 2), expected));
        }
    }
}
