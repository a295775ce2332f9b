package dev.tenon.core.runtime;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.backend.RunObserver;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs plans by their definition. Counts what is open, and fails chosen calls once: {@code compile}, {@code run},
 * {@code close program}, {@code close state}, {@code close constants}, {@code close device}.
 */
final class ReferenceBackend implements Backend {
    private final String name;
    private final Set<String> failing = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> open = new TreeMap<>();
    private final Map<String, Integer> calls = new TreeMap<>();

    ReferenceBackend(String name) {
        this.name = name;
    }

    /** Lets the next call of that kind fail. */
    void failOnce(String call) {
        failing.add(call);
    }

    /** What is open, by kind; kinds of which nothing is open are left out. */
    synchronized Map<String, Integer> open() {
        return new TreeMap<>(open);
    }

    synchronized int calls(String call) {
        return calls.getOrDefault(call, 0);
    }

    private void call(String call) {
        synchronized (this) {
            calls.merge(call, 1, Integer::sum);
        }
        if (failing.remove(call)) {
            throw new NativeException("planted: " + call);
        }
    }

    private synchronized void count(String kind, int change) {
        open.merge(kind, change, (was, more) -> was + more == 0 ? null : was + more);
    }

    /** What is open from its construction until a close that does not fail. */
    private abstract class Open implements AutoCloseable {
        private final String kind;
        private boolean closed;

        Open(String kind) {
            this.kind = kind;
            count(kind, 1);
        }

        @Override
        public synchronized void close() {
            if (!closed) {
                call("close " + kind);
                closed = true;
                count(kind, -1);
            }
        }
    }

    private final class Constants extends Open implements Device.Constants {
        Constants() {
            super("constants");
        }

        @Override
        public long bytes() {
            return 0;
        }
    }

    private final class State extends Open implements Device.State {
        State() {
            super("state");
        }

        @Override
        public long bytes() {
            return 0;
        }

        @Override
        public void observe(@Nullable RunObserver observer) {
            // no test asks it
        }
    }

    private final class Defined extends Open implements Program {
        private final Plan plan;

        Defined(Plan plan) {
            super("program");
            this.plan = plan;
        }

        @Override
        public Tensor[] run(Device.State context, Tensor[] inputs) {
            call("run");
            Map<String, NdArray> given = new LinkedHashMap<>();
            List<Value> values = plan.graph().inputs();
            for (int i = 0; i < inputs.length; i++) {
                given.put(values.get(i).name(), NdArray.read(inputs[i].type(), inputs[i].segment()));
            }
            List<Tensor> results = new ArrayList<>();
            Interpreter.run(plan.graph(), given).values().forEach(array -> {
                Tensor tensor = Tensor.zeros(array.type());
                array.write(tensor.segment());
                results.add(tensor);
            });
            return results.toArray(Tensor[]::new);
        }

        @Override
        public List<StepReport> steps() {
            return List.of();
        }

        @Override
        public long workspaceBytes() {
            return 0;
        }
    }

    private final class Opened extends Open implements Device {
        Opened() {
            super("device");
        }

        @Override
        public DeviceInfo info() {
            return devices().getFirst();
        }

        @Override
        public Constants newConstants() {
            return new ReferenceBackend.Constants();
        }

        @Override
        public Program compile(Plan plan, Constants weights, CompileOptions options) {
            call("compile");
            return new Defined(plan);
        }

        @Override
        public State newState() {
            return new ReferenceBackend.State();
        }

        @Override
        public MemoryReport memory() {
            return new MemoryReport(0, 0, 0, 0, Long.MAX_VALUE);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int preference() {
        return -1;
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(new DeviceInfo(name, 0, "reference", "", 0));
    }

    @Override
    public String unavailable() {
        return "";
    }

    @Override
    public Device open(int ordinal, EngineOptions options) {
        return new Opened();
    }
}
