package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.CpuRun;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Matrix products at sizes around the edges of tiles, panels and blocks. */
class GemmTest {
    private static final int[] SIZES = {1, 2, 3, 5, 8, 9, 31, 33, 70};

    @Test
    void everyStartAndEdge() {
        CpuRun.useVectors();
        for (Loops loops : AllLoops.list()) {
            for (int m : SIZES) {
                for (int n : SIZES) {
                    for (int k : new int[] {0, 1, 4, 7, 40, 1030}) {
                        for (Start.Kind start : Start.Kind.values()) {
                            multiply(loops, m, n, k, start);
                        }
                    }
                }
            }
        }
    }

    private static void multiply(Loops loops, int m, int n, int k, Start.Kind kind) {
        Arena arena = Arena.ofAuto();
        int lda = k + 3;
        int ldc = n + 5;
        MemorySegment a = arena.allocate(4L * m * lda + 4, 64);
        MemorySegment b = arena.allocate(4L * k * n + 4, 64);
        MemorySegment c = arena.allocate(4L * m * ldc + 4, 64);
        MemorySegment bias = arena.allocate(4L * n, 64);
        MemorySegment packed = arena.allocate(Gemm.packedBytes(k, n), 64);
        MemorySegment edge = arena.allocate(Gemm.EDGE_BYTES, 64);
        edge.fill((byte) -1);
        packed.fill((byte) -1);
        fill(a, 1);
        fill(b, 2);
        fill(c, 3);
        fill(bias, 4);
        float[] before = c.toArray(java.lang.foreign.ValueLayout.JAVA_FLOAT);
        Gemm.pack(b, 4, n, 1, k, n, packed, 0);
        Start start = switch (kind) {
            case ZERO -> Start.ZERO;
            case RESULT -> Start.RESULT;
            case BIAS -> Start.bias(bias, 0);
        };
        Gemm.multiply(
                loops,
                new Gemm.Size(m, n, k),
                new Matrix(a, 4, 4L * lda),
                new Matrix(packed, 0, Gemm.panelBytes(k)),
                new Matrix(c, 4, 4L * ldc),
                start,
                new Place(edge, 0));
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < ldc; j++) {
                int at = 1 + i * ldc + j;
                if (j >= n || at >= before.length) {
                    assertThat(at >= before.length || c.get(Loops.F32, 4L * at) == before[at])
                            .isTrue();
                    continue;
                }
                double sum = switch (kind) {
                    case ZERO -> 0;
                    case RESULT -> before[at];
                    case BIAS -> bias.get(Loops.F32, 4L * j);
                };
                for (int x = 0; x < k; x++) {
                    sum += (double) a.get(Loops.F32, 4L * (1 + i * lda + x)) * b.get(Loops.F32, 4L * (1 + x * n + j));
                }
                assertThat(Math.abs(c.get(Loops.F32, 4L * at) - sum))
                        .as("%dx%dx%d start %s at %d,%d", m, n, k, kind, i, j)
                        .isLessThan(1e-5 * (1 + k / 16.0));
            }
        }
    }

    private static void fill(MemorySegment to, int seed) {
        for (long i = 0; i < to.byteSize() / 4; i++) {
            to.set(Loops.F32, 4 * i, (float) Math.sin(i * 0.7 + seed));
        }
    }

    @Test
    void blocksTransposesAndEpilogues() {
        Seeded seeded = new Seeded(7);
        Epilogue all =
                Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.GELU)).withResidual();
        try (CpuRun run = new CpuRun(3)) {
            for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
                for (int m : dtype == DType.F32 ? new int[] {1, 7, 65, 300} : new int[] {1, 37}) {
                    for (int n : new int[] {1, 33, 100}) {
                        int k = 70;
                        for (int flags = 0; flags < 4; flags++) {
                            boolean ta = (flags & 1) != 0;
                            boolean tb = (flags & 2) != 0;
                            List<NdArray> inputs = new ArrayList<>(List.of(
                                    ta ? seeded.array(dtype, k, m) : seeded.array(dtype, m, k),
                                    tb ? seeded.array(dtype, n, k) : seeded.array(dtype, k, n),
                                    seeded.array(dtype, n),
                                    seeded.array(dtype, m, n)));
                            OpCase opCase = new OpCase(
                                    dtype + " " + m + "x" + n + " " + flags, new MatMul(ta, tb, all), inputs, k);
                            opCase.verify(run.run(opCase.op(), inputs, 4));
                            opCase.verify(run.run(opCase.op(), inputs, 1));
                        }
                    }
                }
            }
        }
    }

    @Test
    void moreBatchesThanAGridHasBlocks() {
        int batches = 65_537;
        NdArray a = NdArray.zeros(DType.F32, batches, 1, 4);
        NdArray b = NdArray.zeros(DType.F32, batches, 4, 1);
        for (int i = 0; i < 4 * batches; i++) {
            a.set(i, (double) (i / 4 % 7) * (i % 4 + 1));
            b.set(i, 1.0);
        }
        try (CpuRun run = new CpuRun(2)) {
            NdArray c = run.run(new MatMul(false, false, Epilogue.NONE), List.of(a, b), 2)
                    .getFirst();
            for (int i = 0; i < batches; i++) {
                assertThat(c.get(i)).isEqualTo(10.0 * (i % 7));
            }
        }
    }

    @Test
    void productsOfBytesAreExact() {
        Seeded seeded = new Seeded(3);
        try (CpuRun run = new CpuRun(2)) {
            for (int k : new int[] {1, 255, 256, 257, 1000}) {
                List<NdArray> inputs = List.of(
                        seeded.integers(DType.U8, 200, 255, 70, k),
                        seeded.integers(DType.I8, -128, -100, k, 40),
                        NdArray.zeros(DType.U8),
                        seeded.integers(DType.I8, -128, 127, 40));
                OpCase opCase = new OpCase("k " + k, new MatMulInteger(true, true), inputs, 0);
                opCase.verify(run.run(opCase.op(), inputs, 4));
                opCase.verify(run.run(opCase.op(), inputs, 1));
            }
        }
    }

    @Test
    void groupsOfAllSizes() {
        Seeded seeded = new Seeded(5);
        try (CpuRun run = new CpuRun(2)) {
            List<NdArray> inputs = List.of(
                    seeded.array(DType.F32, 300, 40),
                    seeded.array(DType.F32, 5, 40, 50),
                    NdArray.ofLongs(0, 1, 270, 0, 29));
            OpCase opCase = new OpCase("groups", new GroupedMatMul(), inputs, 40);
            opCase.verify(run.run(opCase.op(), inputs, 3));
            opCase.verify(run.run(opCase.op(), inputs, 1));
        }
    }
}
