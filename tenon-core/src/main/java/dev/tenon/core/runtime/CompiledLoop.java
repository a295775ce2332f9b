package dev.tenon.core.runtime;

import dev.tenon.core.backend.Device;
import dev.tenon.core.compiler.Stage;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.report.PlanReport;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * A loop and the plans of its body: one for each set of types that an iteration met, so most loops have one.
 * Thread-safe.
 */
final class CompiledLoop implements AutoCloseable {
    private final Planning planning;
    private final Stage.LoopCall call;
    private final Graph body;
    private final SharedCache<List<TensorType>, CompiledStage> plans;

    CompiledLoop(Planning planning, Stage.LoopCall call) {
        this.planning = planning;
        this.call = call;
        this.body = planning.compiler().prepareBody(call.loop().body());
        this.plans = new SharedCache<>(planning.options(), planning.events());
    }

    /** Runs the loop on its operands among the named values and adds its results to them. */
    void run(Device.State context, Map<String, Tensor> values) {
        List<Tensor> operands = call.operands().stream()
                .map(name -> Objects.requireNonNull(values.get(name), name))
                .toList();
        try {
            List<Tensor> results = call.loop().iterate(new Running(context), operands);
            for (int i = 0; i < results.size(); i++) {
                values.put(call.results().get(i), results.get(i));
            }
        } catch (TenonException e) {
            throw e.at(call.node());
        }
    }

    /** What the body's plans took. */
    double planMillis() {
        return plans.values().stream().mapToDouble(CompiledStage::planMillis).sum();
    }

    /** The reports of the body's plans so far. */
    List<PlanReport> reports() {
        List<PlanReport> reports = new ArrayList<>();
        plans.values().forEach(stage -> reports.addAll(stage.reports()));
        return reports;
    }

    void addConstants(Set<ConstantData> to) {
        plans.values().forEach(stage -> stage.addConstants(to));
    }

    /** Idempotent; a close that failed may be called again and goes on where it ended. */
    @Override
    public void close() {
        plans.close();
    }

    /** The body's plan for those types, in use until it is released. */
    private CompiledStage stage(List<TensorType> types) {
        return plans.acquire(types, () -> {
            Map<String, TensorType> named = Bindings.named(body, types);
            return new CompiledStage(planning, body, () -> planning.compiler().plan(body, named, Map.of()));
        });
    }

    /** One run of the loop. */
    private final class Running implements Loop.Machine<Tensor> {
        private final Device.State context;

        Running(Device.State context) {
            this.context = context;
        }

        @Override
        public Tensor number(long value) {
            return Tensor.of(new long[] {value});
        }

        @Override
        public Tensor flag(boolean value) {
            return Tensor.of(new boolean[] {value});
        }

        @Override
        public long toLong(Tensor value) {
            return value.getLong(0);
        }

        @Override
        public List<Tensor> body(List<Tensor> inputs) {
            List<TensorType> types = new ArrayList<>();
            for (int i = 0; i < inputs.size(); i++) {
                Value input = body.inputs().get(i);
                TensorType type = inputs.get(i).type();
                if (!input.shape().mayEqual(type.shape())) {
                    throw new DataException("loop: the body takes " + input + "; an iteration gave " + type);
                }
                types.add(type);
            }
            Map<String, Tensor> results = new HashMap<>();
            CompiledStage stage = stage(types);
            try {
                stage.run(context, inputs.toArray(Tensor[]::new), false, Map.of(), results);
            } finally {
                plans.release(stage);
            }
            return body.outputs().keySet().stream()
                    .map(name -> Objects.requireNonNull(results.get(name), name))
                    .toList();
        }

        @Override
        public TensorType type(Tensor value) {
            return value.type();
        }

        @Override
        public Loop.Stack<Tensor> stack(TensorType each, long turns) {
            return new ScanOutput(planning.device(), each, turns);
        }
    }
}
