package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.machine.NormKernel;
import dev.tenon.cpu.machine.SoftmaxKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Large constants lie in mapped files: they are read as others are, and a file that shrinks ends no process. */
class MappedMemoryTest {
    private static final int ROWS = 150;
    private static final int N = 700;
    private static final long STRIDE = 4L * N;

    @TempDir
    Path folder;

    /** What a loop makes of rows. */
    @FunctionalInterface
    private interface Reader {
        void read(Loops loops, Matrix x, MemorySegment y);
    }

    private static MemorySegment zeros() {
        return Arena.ofAuto().allocate(ROWS * STRIDE, 64);
    }

    private static void product(Loops loops, Matrix x, MemorySegment y) {
        MemorySegment b = Arena.ofAuto().allocate(Gemm.packedBytes(N, 5), 64);
        MemorySegment weight = Arena.ofAuto().allocate(4L * N * 5, 64);
        for (int i = 0; i < N * 5; i++) {
            weight.setAtIndex(Loops.F32, i, i % 7);
        }
        Gemm.pack(weight, 0, 5, 1, N, 5, b, 0);
        Place edge = new Place(Arena.ofAuto().allocate(Gemm.EDGE_BYTES, 64), 0);
        Gemm.Size size = new Gemm.Size(ROWS, 5, N);
        Gemm.multiply(
                loops, size, x, new Matrix(b, 0, Gemm.panelBytes(size.k())), new Matrix(y, 0, 20), Start.ZERO, edge);
    }

    private static void softmax(Loops loops, Matrix mask, MemorySegment y) {
        Matrix result = new Matrix(y, 0, STRIDE);
        SoftmaxKernel.Form form = new SoftmaxKernel.Form(ROWS, N, 0.5f, false, false);
        loops.softmax(form, new Matrix(zeros(), 0, STRIDE), mask, result, result);
    }

    private static void norm(Loops loops, Matrix x, MemorySegment y) {
        NormKernel.Form form = new NormKernel.Form(ROWS, N, 1e-5f, false, false);
        if (loops.norm(form, x, new Matrix(y, 0, STRIDE), Place.NONE, Place.NONE) == 0) {
            loops.moments(x.memory(), 0, (long) ROWS * N, 0, y, 0);
        }
    }

    private static void gelu(Loops loops, Matrix x, MemorySegment y) {
        loops.unary(Unary.of(UnaryFn.GELU), x.memory(), 0, y, 0, ROWS * N);
    }

    private static void exponentials(Loops loops, Matrix x, MemorySegment y) {
        loops.expSum(x.memory(), 0, 2, y, 0, ROWS * N);
        loops.affine(x.memory(), 0, y, 0, 2, 1, N);
    }

    private static void move(Loops loops, Matrix x, MemorySegment y) {
        assertThat(loops).isNotNull();
        Raw.moveRows(ROWS, STRIDE, x, new Matrix(y, 0, STRIDE));
    }

    private static List<Reader> readers() {
        return List.of(
                MappedMemoryTest::product,
                MappedMemoryTest::softmax,
                MappedMemoryTest::norm,
                MappedMemoryTest::gelu,
                MappedMemoryTest::exponentials,
                MappedMemoryTest::move);
    }

    private Path file() throws IOException {
        Random random = new Random(3);
        byte[] bytes = new byte[Math.toIntExact(ROWS * STRIDE)];
        MemorySegment floats = MemorySegment.ofArray(bytes);
        for (int i = 0; i < ROWS * N; i++) {
            floats.set(Raw.F32, 4L * i, (float) random.nextGaussian());
        }
        return Files.write(folder.resolve("constant"), bytes);
    }

    private static Matrix mapped(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return new Matrix(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto()), 0, STRIDE);
        }
    }

    @Test
    void isReadAsOtherMemory() throws IOException {
        Matrix mapped = mapped(file());
        Matrix copy = new Matrix(zeros().copyFrom(mapped.memory()), 0, STRIDE);
        for (Reader reader : readers().subList(0, 2)) {
            MemorySegment wanted = zeros();
            MemorySegment found = zeros();
            reader.read(Loops.current(), copy, wanted);
            reader.read(Loops.current(), mapped, found);
            for (int i = 0; i < ROWS * N; i++) {
                float want = wanted.getAtIndex(Loops.F32, i);
                assertThat(Math.abs(found.getAtIndex(Loops.F32, i) - want)).isLessThanOrEqualTo(1e-5f * Math.abs(want));
            }
        }
    }

    @Test
    void aFileThatShrinksIsAFaultOfTheCall() throws IOException {
        Path file = file();
        Matrix mapped = mapped(file);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
        for (Reader reader : readers()) {
            assertThatThrownBy(() -> reader.read(Loops.current(), mapped, zeros()))
                    .isInstanceOf(InternalError.class);
        }
    }
}
