package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.testkit.Await;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.tuning.Choice;
import dev.tenon.cuda.tuning.TrialMemory;
import dev.tenon.cuda.tuning.Tunable;
import dev.tenon.cuda.tuning.Tuner;
import dev.tenon.cuda.tuning.TuningRecords;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is timed at rest, and what is loaded before it is taken. */
class TunerTest {
    @TempDir
    private Path folder;

    private Harness harness;

    @BeforeEach
    void open() {
        Harness.require();
        harness = new Harness("streams.cu", Harness.options(true));
    }

    @AfterEach
    void close() {
        if (harness != null) {
            harness.close();
        }
    }

    /** An operation of two algorithms that writes down what is done with it. */
    private static final class Operation implements Tunable {
        final List<String> done = new CopyOnWriteArrayList<>();
        private final Lock lock = new ReentrantLock();
        private final boolean loads;
        private String broken = "";
        private Runnable afterRun = () -> {};
        private volatile boolean asked;

        Operation(boolean loads) {
            this.loads = loads;
        }

        /** That algorithm does not run. */
        Operation without(String algorithm) {
            broken = algorithm;
            return this;
        }

        @Override
        public Lock guard() {
            return lock;
        }

        @Override
        public String problemClass() {
            return "a class";
        }

        @Override
        public boolean take(Choice choice) {
            done.add("take");
            return true;
        }

        @Override
        public List<Trial> trials() {
            done.add("trials");
            return List.of(new Noted("first"), new Noted("second"));
        }

        @Override
        public Trial trial(Choice choice) {
            asked = true;
            return loads ? new Noted(choice.algorithm()) : null;
        }

        @Override
        public long trialBytes() {
            return 256;
        }

        private final class Noted implements Trial {
            private final String algorithm;

            Noted(String algorithm) {
                this.algorithm = algorithm;
            }

            @Override
            public String algorithm() {
                return algorithm;
            }

            @Override
            public boolean prepare() {
                done.add("prepare");
                return true;
            }

            @Override
            public void enqueue(GpuStream stream, DeviceBuffer memory) {
                if (algorithm.equals(broken)) {
                    done.add("fail");
                    throw new NativeException(algorithm + " does not run here");
                }
                done.add("run");
                stream.fill(memory, 0, 256, (byte) 1);
                afterRun.run();
            }

            @Override
            public void close() {
                done.add("close");
            }
        }
    }

    /** The emulated device, on which calls of libraries are made. */
    private GpuContext context() {
        return (GpuContext) Proxy.newProxyInstance(
                GpuContext.class.getClassLoader(), new Class<?>[] {GpuContext.class}, (_, method, arguments) -> {
                    if (method.getName().equals("call")) {
                        ((Runnable) arguments[0]).run();
                        return null;
                    }
                    return method.invoke(harness.context, arguments);
                });
    }

    private void tune(Operation operation, TuningRecords records) {
        AtomicBoolean idle = new AtomicBoolean();
        try (Tuner tuner = Tuner.of(context(), TrialMemory.of(harness.context), idle::get)) {
            tuner.add(operation, records);
            assertThat(operation.done).isEmpty();
            idle.set(true);
            Await.until("nothing is left to time", tuner::settled);
            assertThat(tuner.generation()).as("%s", operation.done).isEqualTo(1);
        }
    }

    @Test
    void knownAlgorithmRunsOnceBeforeItIsTaken() {
        TuningRecords records = new TuningRecords(new Store(folder), "a library", "a device");
        Operation timed = new Operation(true);
        tune(timed, records);
        assertThat(timed.done).startsWith("trials", "prepare", "run").endsWith("close", "take");
        Operation known = new Operation(true);
        tune(known, records);
        assertThat(known.done).containsExactly("prepare", "run", "close", "take");
    }

    @Test
    void knownAlgorithmThatDoesNotRunIsNotTaken() {
        TuningRecords records = new TuningRecords(new Store(folder), "a library", "a device");
        tune(new Operation(true).without("second"), records);
        Operation other = new Operation(true).without("first");
        tune(other, records);
        assertThat(other.done).startsWith("prepare", "fail", "close", "trials").endsWith("close", "take");
        Operation next = new Operation(true).without("first");
        tune(next, records);
        assertThat(next.done).containsExactly("prepare", "run", "close", "take");
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whatIsNotWantedAnyMoreDoesNotWaitForARest() {
        for (boolean known : new boolean[] {false, true}) {
            TuningRecords records = new TuningRecords(new Store(folder), known ? "a library" : "another", "a device");
            if (known) {
                tune(new Operation(true), records);
            }
            AtomicBoolean idle = new AtomicBoolean(true);
            Operation operation = new Operation(true);
            // a run begins meanwhile, and others after it
            BooleanSupplier rests = () -> idle.get() && !(known && operation.asked);
            operation.afterRun = () -> idle.set(false);
            try (Tuner tuner = Tuner.of(context(), TrialMemory.of(harness.context), rests)) {
                tuner.add(operation, records);
                Await.until("it waits for a rest", () -> known ? operation.asked : operation.done.contains("close"));
                tuner.remove(operation);
                assertThat(tuner.settled()).isTrue();
                assertThat(operation.done.stream().filter("prepare"::equals)).hasSize(known ? 0 : 1);
            }
        }
    }

    @Test
    void algorithmWithoutCodeOfItsOwnIsTakenAtOnce() {
        TuningRecords records = new TuningRecords(new Store(folder), "a library", "a device");
        tune(new Operation(false), records);
        Operation known = new Operation(false);
        tune(known, records);
        assertThat(known.done).containsExactly("take");
    }
}
