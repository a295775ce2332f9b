package dev.tenon.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.EngineListener;
import dev.tenon.core.report.MemoryReport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlanningPracticeTest {
    private static final Graph PICTURES = GraphBuilder.build("pictures", g -> {
        Value x = g.input("x", DType.F32, Dim.named("batch"), Dim.of(3), Dim.named("height"));
        g.output("y", g.relu(x));
    });
    private static final Graph FIXED = GraphBuilder.build("fixed", g -> {
        Value x = g.input("x", DType.F32, Dim.of(3));
        g.output("y", g.relu(x));
    });
    private static final List<TensorType> TYPES = List.of(new TensorType(DType.F32, Shape.of(5, 3, 128)));

    /** Takes note of what is practised. */
    private static final class Noting implements Device {
        final List<Shape> practised = new CopyOnWriteArrayList<>();
        final CountDownLatch sizes = new CountDownLatch(6);
        boolean leaves = true;

        @Nullable
        Throwable failure;

        @Override
        public boolean leavesProcessors() {
            return leaves;
        }

        @Override
        public void practise(Plan plan, Constants weights, CompileOptions options) {
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            practised.add(plan.graph().inputs().getFirst().shape());
            sizes.countDown();
        }

        @Override
        public DeviceInfo info() {
            return new DeviceInfo("noting", 0, "noting", "", 0);
        }

        @Override
        public Constants newConstants() {
            return new Constants() {
                @Override
                public long bytes() {
                    return 0;
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public Program compile(Plan plan, Constants weights, CompileOptions options) {
            throw new AssertionError("practice compiled a program");
        }

        @Override
        public State newState() {
            throw new AssertionError("practice wanted a session");
        }

        @Override
        public MemoryReport memory() {
            return new MemoryReport(0, 0, 0, 0, Long.MAX_VALUE);
        }

        @Override
        public void close() {}
    }

    private final Noting device = new Noting();

    private @Nullable PlanningPractice practice(Graph graph, CompileOptions options, int processors) {
        Preparation preparation =
                new Preparation(new ReferenceBackend("reference-practice"), graph, Weights.none(), options);
        Planning planning = new Planning(
                preparation.compiler(),
                device,
                device.newConstants(),
                options,
                new ModelEvents(graph.name(), EngineListener.NONE));
        return PlanningPractice.of(planning, preparation.prepared(), processors);
    }

    private PlanningPractice ofPictures() {
        PlanningPractice practice = practice(PICTURES, CompileOptions.defaults(), 4);
        assertThat(practice).isNotNull();
        return practice;
    }

    private static Thread practising() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("tenon-practice"))
                .findFirst()
                .orElse(Thread.currentThread());
    }

    @Test
    void sidesOfPicturesGrowInTurnsAndBatchesStay() throws InterruptedException {
        ofPictures().begin(TYPES, Runnable::run);
        assertThat(device.sizes.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(List.copyOf(device.practised).subList(0, 6)) // the practice goes on
                .containsExactly(
                        Shape.of(5, 3, 128),
                        Shape.of(5, 3, 160),
                        Shape.of(5, 3, 192),
                        Shape.of(5, 3, 224),
                        Shape.of(5, 3, 128),
                        Shape.of(5, 3, 160));
    }

    @Test
    void itEndsWhenTheModelIsClosedAndBeginsOnce() throws InterruptedException {
        PlanningPractice practice = ofPictures();
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch ended = new CountDownLatch(1);
        practice.begin(TYPES, round -> {
            if (asked.incrementAndGet() == 3) {
                ended.countDown();
                throw new ClosedException("model \"pictures\" is closed");
            }
            round.run();
        });
        assertThat(ended.await(60, TimeUnit.SECONDS)).isTrue();
        Thread thread = practising();
        if (thread != Thread.currentThread()) {
            assertThat(thread.join(Duration.ofSeconds(60))).isTrue();
        }
        practice.begin(TYPES, round -> asked.incrementAndGet());
        assertThat(asked).hasValue(3);
        assertThat(device.practised).hasSize(2);
    }

    static Stream<Throwable> failures() {
        return Stream.of(
                new OutOfMemoryException("no room"),
                new IllegalStateException("a rule of the JDK was broken"),
                new StackOverflowError("a graph is deep"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void failureEndsItUnseenAndIsLeftToTheNextPlan(Throwable failure) throws InterruptedException {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        Thread.setDefaultUncaughtExceptionHandler((_, thrown) -> uncaught.add(thrown));
        try {
            device.failure = failure;
            AtomicInteger asked = new AtomicInteger();
            CountDownLatch tried = new CountDownLatch(1);
            ofPictures().begin(TYPES, round -> {
                asked.incrementAndGet();
                tried.countDown();
                round.run();
            });
            assertThat(tried.await(60, TimeUnit.SECONDS)).isTrue();
            Thread thread = practising();
            if (thread != Thread.currentThread()) {
                assertThat(thread.join(Duration.ofSeconds(60))).isTrue();
            }
            assertThat(asked).hasValue(1);
            assertThat(device.practised).isEmpty();
            assertThat(uncaught).doesNotContain(failure);
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    @Test
    void nothingIsPractisedWhereThereWillBeNoSecondPlanOrNoProcessor() {
        CompileOptions usual = CompileOptions.defaults();
        assertThat(practice(FIXED, usual, 16)).isNull();
        assertThat(practice(PICTURES, usual, 3)).isNull();
        assertThat(practice(
                        PICTURES,
                        usual.withCompiler(CompilerOptions.defaults().withDump(Set.of("prepare"), (a, b) -> {})),
                        16))
                .isNull();
        ShapeProfile ahead = ShapeProfile.none().withSizes(Map.of("batch", 1L, "height", 64L));
        assertThat(practice(PICTURES, usual.withAheadOfTime(ahead), 16)).isNull();
        device.leaves = false;
        assertThat(practice(PICTURES, usual, 16)).isNull();
    }
}
