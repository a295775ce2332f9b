package dev.tenon.core.testkit;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.HostMemoryFaults;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Takes a model through its life again and again, and fails the first call of the platform that could fail, then the
 * second, and so on. Each failure must be an exception of ours that names the call; what failed is then done once more
 * and must work, with right results; and at the end nothing is held.
 *
 * <p>{@code -Dtenon.faults=N} tries N points of each life, evenly spread; 24 by default.
 */
public final class FaultTrials {
    private static final int USUAL = 24;
    private static final List<Integer> ROWS = List.of(3, 3, 3, 5, 5, 3);
    private static final long PATIENCE_NANOS = Duration.ofSeconds(5).toNanos();

    /**
     * What is tried.
     *
     * @param name in reports
     * @param held what the platform has handed out and not got back, in words; empty for nothing
     */
    public record Device(String name, Backend backend, FaultPoints points, Supplier<String> held) {}

    /**
     * How models run.
     *
     * @param stay whether results stay on the device
     */
    public record Mode(String name, CompileOptions options, boolean stay) {
        private static final CompileOptions STRICT = CompileOptions.defaults().withPrecision(Precision.STRICT);

        /**
         * Every mode. Each keeps two plans but the recorded one, which keeps one, so that each other shape evicts it.
         */
        public static List<Mode> all() {
            return List.of(
                    new Mode("stream", STRICT, false),
                    new Mode("recorded", STRICT.withExecution(Execution.graph()).withMaxPlans(1), false),
                    new Mode(
                            "recorded on two streams",
                            STRICT.withExecution(Execution.multiStream(2).asGraph())
                                    .withMaxPlans(1),
                            false),
                    new Mode("on the device", STRICT, true),
                    new Mode(
                            "ahead of time",
                            STRICT.withAheadOfTime(ShapeProfile.none().with("rows", 1, 3, 5)),
                            false));
        }
    }

    private final Device device;
    private final FaultModel model;
    private final Mode mode;
    /** Of the trial that runs: which point fails, 0 for none, and what came of it. */
    private int failing;

    private boolean failed;
    private @Nullable Engine engine;

    private FaultTrials(Device device, FaultModel model, Mode mode) {
        this.device = device;
        this.model = model;
        this.mode = mode;
    }

    /**
     * Tries a model in a mode and prints the figures.
     *
     * @throws AssertionError naming the point after which something is wrong
     */
    public static void run(Device device, FaultModel model, Mode mode) {
        new FaultTrials(device, model, mode).run();
    }

    private void run() {
        long start = System.nanoTime();
        trial(0);
        trial(0); // what the first one left to the process, such as code that it compiled, is there now
        int points = device.points().passed();
        Map<String, Integer> kinds = device.points().kinds();
        int tried = Math.min(points, Integer.getInteger("tenon.faults", USUAL));
        int refused = 0;
        for (int i = 0; i < tried; i++) {
            trial(1 + (int) ((long) i * points / tried));
            refused += failed ? 1 : 0;
        }
        System.out.printf(
                "faults: %s, %s, %s: %d points %s, %d tried, %d refused, all clean, %.1f s%n",
                device.name(),
                model.name(),
                mode.name(),
                points,
                kinds,
                tried,
                refused,
                (System.nanoTime() - start) / 1e9);
        if (refused == 0) {
            throw new AssertionError(this + ": no point made anything fail");
        }
    }

    private void trial(int number) {
        failing = number;
        failed = false;
        device.points().arm(number);
        try {
            HostMemoryFaults.during(device.points(), this::life);
        } catch (RuntimeException | AssertionError e) {
            device.points().arm(0);
            if (engine != null) { // the next trial begins with nothing held
                engine.close();
            }
            throw new AssertionError(this + ": " + e, e);
        }
    }

    private void life() {
        engine = null;
        Engine open = step(
                () -> Engine.open(device.backend(), 0, EngineOptions.defaults().withThreads(2)));
        engine = open;
        CompiledModel compiled = step(() -> compile(open));
        Session session = step(compiled::newSession);
        for (int rows : ROWS) {
            Map<String, Tensor> outputs =
                    step(() -> mode.stay() ? session.runOnDevice(model.inputs(rows)) : session.run(model.inputs(rows)));
            step(() -> {
                model.check(outputs, rows);
                return "";
            });
            outputs.values().forEach(tensor -> close(tensor::close));
        }
        close(session::close);
        close(compiled::close);
        requireNothing(open, "a closed model");
        close(open::close);
        awaitNothingHeld();
    }

    /** Compiles; where that fails, the engine holds as little as before. */
    private CompiledModel compile(Engine open) {
        try {
            return open.compile(model.graph(), Weights.none(), mode.options());
        } catch (TenonException e) {
            requireNothing(open, "a compilation that failed");
            throw e;
        }
    }

    private static void requireNothing(Engine open, String what) {
        MemoryReport memory = open.memory();
        require(memory.total() == 0 && memory.host() == 0, what + " holds " + memory);
    }

    private void close(Runnable close) {
        step(() -> {
            close.run();
            return "";
        });
    }

    /** Does something; where the point in it fails, once more. */
    private <T> T step(Supplier<T> action) {
        try {
            return action.get();
        } catch (TenonException e) {
            require(!failed && failing > 0, "a second failure, without a fault: " + e);
            require(says(e), "a failure that does not say what failed: " + e);
            failed = true;
            return action.get();
        }
    }

    /** Whether the exception, or what caused it, is the fault. */
    private static boolean says(TenonException e) {
        return Stream.iterate((Throwable) e, Objects::nonNull, Throwable::getCause)
                .anyMatch(cause -> String.valueOf(cause.getMessage()).contains(FaultPoints.MARK));
    }

    /** Threads end a moment after what they were for. */
    private void awaitNothingHeld() {
        long start = System.nanoTime();
        String held = device.held().get();
        while (!held.isEmpty() && System.nanoTime() - start < PATIENCE_NANOS) {
            LockSupport.parkNanos(1_000_000);
            held = device.held().get();
        }
        require(held.isEmpty(), "after close there is still " + held);
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    @Override
    public String toString() {
        return device.name() + ", " + model.name() + ", " + mode.name() + ", point " + failing;
    }
}
