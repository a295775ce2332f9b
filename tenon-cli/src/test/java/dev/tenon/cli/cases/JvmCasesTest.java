package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.i64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JvmCasesTest {
    /** How many children exit while they run; the table asks for 50. */
    private static final int EXITS = Integer.getInteger("tenon.cases.exits", 8);

    private static final String LARGE = "600 M elements";

    @TempDir
    private Path folder;

    /** The child of {@link #largeTensor}. */
    static final class LargeTensor {
        public static void main(String[] args) {
            long n = 600_000_000;
            Tensor x = Tensor.zeros(DType.F32, n);
            System.out.println("bytes " + x.byteSize());
            float[] thousand = new float[1000];
            for (int i = 0; i < 1000; i++) {
                thousand[i] = i;
            }
            for (long i = 0; i < n; i += 1000) {
                java.lang.foreign.MemorySegment.copy(thousand, 0, x.segment(), ValueLayout.JAVA_FLOAT, 4 * i, 1000);
            }
            System.out.println("elements " + x.getDouble(0) + " " + x.getDouble(536870912) + " " + x.getDouble(n - 1));
            long count = 0;
            for (long i = 0; i < n; i++) {
                count += x.segment().get(ValueLayout.JAVA_FLOAT, 4 * i) == 999 ? 1 : 0;
            }
            System.out.println("count " + count);
            List<Tensor> y = Cpu.run(
                    (g, in) -> {
                        var rows = g.reshape(in.get(0), 600_000, 1000);
                        return List.of(
                                g.gather(in.get(0), in.get(1), 0),
                                g.reduce(ReduceFn.MAX, rows, false, 0),
                                g.reduce(ReduceFn.MIN, rows, false, 0),
                                g.reduce(ReduceFn.MAX, rows, false, 0, 1));
                    },
                    x,
                    i64(0, 536870912, -1));
            System.out.println("gathered " + java.util.Arrays.toString(y.get(0).toFloats()));
            boolean same = true;
            for (int i = 0; i < 1000; i++) {
                same &= y.get(1).getDouble(i) == i && y.get(2).getDouble(i) == i;
            }
            System.out.println("columns " + same + " " + y.get(3).getDouble(0));
        }
    }

    private static long availableBytes() throws IOException {
        Path info = Path.of("/proc/meminfo");
        if (!Files.isReadable(info)) {
            return 0;
        }
        return Files.readAllLines(info).stream()
                .filter(line -> line.startsWith("MemAvailable:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                .findFirst()
                .orElse(0);
    }

    @Test
    @DisplayName("JV-02 a tensor of 600 M elements")
    void largeTensor() throws Exception {
        if (availableBytes() < 6L << 30) {
            System.out.println("cases: 1 skipped (" + LARGE + "): less than 6 GiB of memory are free");
        }
        Assumptions.assumeTrue(availableBytes() >= 6L << 30, LARGE);
        Jvm.Result result = Jvm.run(LargeTensor.class, "-Xmx256m", "-XX:MaxDirectMemorySize=3g");
        assertThat(result.err()).isEmpty();
        assertThat(result.out().lines())
                .containsExactly(
                        "bytes 2400000000",
                        "elements 0.0 912.0 999.0",
                        "count 600000",
                        "gathered [0.0, 912.0, 999.0]",
                        "columns true 999.0");
        assertThat(result.code()).isZero();
    }

    @Test
    @DisplayName("JV-02 sizes past an int: counted, not put into arrays, refused where there is no memory")
    void largeSizes() throws IOException {
        assertThat(Shape.of(65536, 65536, 1).elements()).isEqualTo(4294967296L);
        assertThat(TensorType.of(DType.F32, 600_000_000).bytes()).isEqualTo(2_400_000_000L);
        assertThatThrownBy(() -> Tensor.zeros(DType.F64, 1L << 20, 1L << 20, 1L << 10))
                .isInstanceOf(OutOfMemoryException.class)
                .hasMessageContaining("f64[1048576,1048576,1024]");
        assertThatThrownBy(() -> Tensor.zeros(DType.F64, 1L << 40, 1L << 40)).isInstanceOf(TenonException.class);
        // a sparse file, so that the tensor takes no memory
        Path file = folder.resolve("large");
        try (FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            long bytes = 1L << 32;
            Tensor tensor = Tensor.wrap(
                    TensorType.of(DType.U8, 65536, 65536),
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena));
            assertThat(tensor.elements()).isEqualTo(bytes);
            assertThat(tensor.getLong(bytes - 1)).isZero();
            assertThatThrownBy(tensor::toDoubles)
                    .isInstanceOf(ShapeException.class)
                    .hasMessageContaining("too large");
        }
    }

    private static final Graph LAYERS = GraphBuilder.build("layers", g -> {
        var h = g.input("x", DType.F32, Dim.of(64), Dim.of(64));
        for (int i = 0; i < 8; i++) {
            h = g.softmax(g.matmul(h, h), 1);
        }
        g.output("y", h);
    });

    /**
     * The child of {@link #exits} and {@link #terminated}: four threads run without end; exits with 7 after so many
     * milliseconds, if given.
     */
    static final class Runs {
        public static void main(String[] args) throws InterruptedException {
            Engine runtime = Engine.open(Target.cpu());
            CompiledModel model = runtime.compile(LAYERS);
            CountDownLatch started = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                Thread.ofPlatform().start(() -> {
                    Session session = model.newSession();
                    Tensor x = Tensor.zeros(DType.F32, 64, 64);
                    while (true) {
                        session.run(Map.of("x", x));
                        started.countDown();
                    }
                });
            }
            started.await();
            System.out.println("running");
            if (args.length > 0) {
                Thread.sleep(Integer.parseInt(args[0]));
                System.exit(7);
            }
        }
    }

    /** As {@link Runs}, exiting after a random while. */
    static final class Exits {
        public static void main(String[] args) throws InterruptedException {
            Runs.main(new String[] {Integer.toString(ThreadLocalRandom.current().nextInt(200))});
        }
    }

    private static void ended(Jvm jvm, int code) throws Exception {
        Jvm.Result result = jvm.await(5);
        assertThat(result.err().replaceAll(".*\\RINFO: the CPU backend runs scalar loops.*\\R", ""))
                .isEmpty();
        assertThat(result.crashed()).as("error file").isFalse();
        assertThat(result.code()).isEqualTo(code);
    }

    @Test
    @DisplayName("JV-03 System.exit while four threads run")
    void exits() throws Exception {
        for (int started = 0; started < EXITS; started += 2) {
            // one in two without the vector module, whose notice is right
            try (Jvm vectors = Jvm.start(Exits.class, Map.of(), true);
                    Jvm plain = Jvm.start(Exits.class, Map.of(), false)) {
                for (Jvm jvm : List.of(vectors, plain)) {
                    jvm.awaitWord("running");
                    ended(jvm, 7);
                }
            }
        }
    }

    @Test
    @DisplayName("JV-03 SIGTERM while four threads run")
    void terminated() throws Exception {
        try (Jvm jvm = Jvm.start(Runs.class, Map.of(), true)) {
            jvm.awaitWord("running");
            jvm.process().destroy();
            ended(jvm, 143);
        }
    }

    @Test
    @DisplayName("JV-03 outputs outlive session, model and runtime; closing twice is nothing")
    void closing() {
        Engine runtime = Engine.open(Target.cpu());
        CompiledModel model = runtime.compile(GraphBuilder.build("plus", g -> {
            var x = g.input("x", DType.F32, Dim.named("n"));
            g.output("y", g.add(x, x));
        }));
        Session session = model.newSession();
        Tensor y = session.run(Map.of("x", f32(1, 2))).get("y");
        session.close();
        session.close();
        assertThat(y.toDoubles()).containsExactly(2, 4);
        assertThatThrownBy(() -> session.run(Map.of("x", f32(1)))).isInstanceOf(ClosedException.class);
        Session open = model.newSession();
        runtime.close();
        runtime.close();
        model.close();
        open.close();
        assertThat(y.toDoubles()).containsExactly(2, 4);
        assertThatThrownBy(() -> open.run(Map.of("x", f32(1)))).isInstanceOf(ClosedException.class);
        assertThatThrownBy(model::newSession).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> runtime.compile(LAYERS)).isInstanceOf(ClosedException.class);
    }

    @Test
    @DisplayName("JV-03 closing during runs waits for them")
    void closingDuringRuns() throws InterruptedException {
        for (int round = 0; round < 10; round++) {
            Engine runtime = Engine.open(Target.cpu());
            CompiledModel model = runtime.compile(LAYERS);
            Session shared = model.newSession();
            AtomicReference<Throwable> wrong = new AtomicReference<>();
            AtomicInteger closed = new AtomicInteger();
            CountDownLatch started = new CountDownLatch(4);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Session session = i == 0 ? shared : model.newSession();
                threads.add(Thread.ofPlatform().start(() -> {
                    Tensor x = Tensor.zeros(DType.F32, 64, 64);
                    try {
                        while (true) {
                            assertThat(session.run(Map.of("x", x)).get("y").getDouble(4095))
                                    .isEqualTo(1 / 64.0);
                            started.countDown();
                        }
                    } catch (ClosedException e) {
                        closed.incrementAndGet();
                    } catch (Throwable e) {
                        wrong.set(e);
                        started.countDown();
                    }
                }));
            }
            started.await();
            switch (round % 3) {
                case 0 -> shared.close();
                case 1 -> model.close();
                default -> {}
            }
            runtime.close();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(wrong.get()).isNull();
            assertThat(closed.get()).isEqualTo(4);
            assertThat(runtime.memory().total()).isZero();
        }
    }
}
