package dev.tenon.cuda.check;

import dev.tenon.core.backend.Program;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.blas.BlasHandle;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.lower.GpuLowering;
import dev.tenon.cuda.lower.step.ConvForm;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.lower.step.RegionForm;
import dev.tenon.cuda.lower.step.StepRival;
import dev.tenon.cuda.lower.step.WeightOrder;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Rival;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One operation through its lowering, on a stage: its step, made and run as a session would, its outputs poisoned
 * first.
 */
public final class StepRun {
    private static final TensorType FAULT = TensorType.of(DType.I64, 2);

    private final KernelStage stage;
    private final Blas blas;
    private final Precision precision;
    private final Forms forms;

    /**
     * Which of several kernels runs.
     *
     * @param tile of products on tensor cores; null for the fastest
     */
    private record Forms(
            RegionForm regions,
            ProductForm products,
            ConvForm convolutions,
            ProductCatalog.@Nullable Tile tile,
            AdditionOrder additionOrder,
            Dnn dnn) {
        static Forms of(RegionForm regions) {
            return new Forms(
                    regions,
                    ProductForm.BY_CHOICE,
                    ConvForm.BY_CHOICE,
                    null,
                    AdditionOrder.FIXED,
                    Dnn.none("not asked"));
        }
    }

    /** Steps without the matrix libraries, regions interpreted. */
    StepRun(KernelStage stage) {
        this(stage, RegionForm.INTERPRETED);
    }

    StepRun(KernelStage stage, RegionForm regions) {
        this(stage, Blas.none("not asked"), Precision.STRICT, Forms.of(regions));
    }

    public StepRun(KernelStage stage, Blas blas, Precision precision) {
        this(stage, blas, precision, Forms.of(RegionForm.BY_SIZE));
    }

    /** Runs strict steps on a device for which there are no libraries of matrix products. */
    public static StepRun withoutLibraries(KernelStage stage) {
        return new StepRun(stage, Blas.none("an emulated device has none"), Precision.STRICT);
    }

    private StepRun(KernelStage stage, Blas blas, Precision precision, Forms forms) {
        this.stage = stage;
        this.blas = blas;
        this.precision = precision;
        this.forms = forms;
    }

    private StepRun with(Forms other) {
        return new StepRun(stage, blas, precision, other);
    }

    /** The same for steps whose scatters add in any order. */
    StepRun inAnyOrder() {
        return with(
                new Forms(forms.regions, forms.products, forms.convolutions, forms.tile, AdditionOrder.ANY, forms.dnn));
    }

    /** Runs the same steps by a kernel of ours for products. */
    StepRun with(ProductForm form) {
        return with(new Forms(forms.regions, form, forms.convolutions, forms.tile, forms.additionOrder, forms.dnn));
    }

    /** Runs the same steps by a kernel of ours for convolutions. */
    StepRun with(ConvForm form) {
        return with(new Forms(forms.regions, forms.products, form, forms.tile, forms.additionOrder, forms.dnn));
    }

    /** Runs the same steps, products on tensor cores by one tile; null for the fastest. */
    StepRun tiled(ProductCatalog.@Nullable Tile one) {
        return with(new Forms(forms.regions, forms.products, forms.convolutions, one, forms.additionOrder, forms.dnn));
    }

    /** The same with cuDNN. */
    StepRun with(Dnn library) {
        return with(
                new Forms(forms.regions, forms.products, forms.convolutions, forms.tile, forms.additionOrder, library));
    }

    /**
     * What came out.
     *
     * @param outputs of the last run
     * @param step what ran
     * @param fault the first report of a value without a result: the step's number and 1, and the value; zeros for none
     */
    public record Result(List<NdArray> outputs, GpuStep step, NdArray fault) {
        public NdArray output() {
            return outputs.getFirst();
        }
    }

    /** Enqueues it twice. */
    public Result run(Op op, List<NdArray> inputs) {
        return run(op, inputs, List.of());
    }

    /** The same where some inputs, by number, are finite constants to the step. */
    Result run(Op op, List<NdArray> inputs, List<Integer> constants) {
        return run(op, inputs, constants, false);
    }

    /** Captures it before it has ever run, and replays it twice. */
    public Result replay(Op op, List<NdArray> inputs) {
        return run(op, inputs, List.of(), true);
    }

    /** Runs it and compares with its definition. @throws AssertionError naming the first element that differs */
    public Result check(Op op, List<NdArray> inputs, long reductionLength) {
        Result result = run(op, inputs);
        List<NdArray> expected = Interpreter.run(op, inputs);
        for (int i = 0; i < expected.size(); i++) {
            NdArray one = expected.get(i);
            Tolerance.of(one.dtype(), reductionLength)
                    .check(result.step().tier(), one, result.outputs().get(i));
        }
        return result;
    }

    private Result run(Op op, List<NdArray> inputs, List<Integer> constants, boolean captured) {
        return run(make(op, inputs.stream().map(NdArray::type).toList(), constants), inputs, captured);
    }

    /** Enqueues a step twice, or captures it and replays it twice. */
    Result run(Made made, List<NdArray> inputs, boolean captured) {
        List<DeviceBuffer> buffers = new ArrayList<>();
        inputs.forEach(input -> buffers.add(stage.upload(input)));
        made.results.forEach(type -> buffers.add(stage.poisoned(type.bytes())));
        GpuStep step = made.step;
        GpuStream stream = stage.stream();
        try (BlasHandle handle = blas.newHandle(stream)) {
            if (step.callsCublas()) {
                handle.start();
            }
            DeviceBuffer faults = stage.zeroed(FAULT.bytes());
            runTwice(
                    step,
                    frame(step, buffers, faults, handle),
                    buffers.subList(inputs.size(), buffers.size()),
                    captured);
            List<NdArray> outputs = new ArrayList<>();
            for (int i = 0; i < made.results.size(); i++) {
                outputs.add(stage.download(made.results.get(i), buffers.get(inputs.size() + i)));
            }
            return new Result(outputs, step, stage.download(FAULT, faults));
        }
    }

    /**
     * The step of an operation.
     *
     * @param results their types; their slots follow those of the inputs
     * @param rivals what would be timed beside a library
     */
    record Made(GpuStep step, List<TensorType> results, List<Rival> rivals) {}

    /** Lowers an operation on inputs of those types. @throws UnsupportedException where it has no kernel */
    Made make(Op op, List<TensorType> inputs) {
        return make(op, inputs, List.of());
    }

    /** The same where some inputs, by number, are constants: nothing writes them between runs. */
    Made make(Op op, List<TensorType> inputs, List<Integer> constants) {
        GraphBuilder graph = new GraphBuilder("one step");
        List<Value> operands = new ArrayList<>();
        for (TensorType type : inputs) {
            operands.add(
                    constants.contains(operands.size())
                            ? graph.constant(new ConstantData.Splat(type, 0))
                            : graph.input("in" + operands.size(), type));
        }
        List<Value> results = graph.add("it", op, operands);
        if (!(results.getFirst().origin() instanceof Value.Origin.Result(Node node, int _))) {
            throw new IllegalStateException(op + " is folded away");
        }
        Map<Value, Integer> slots = new HashMap<>();
        operands.forEach(value -> slots.put(value, slots.size()));
        results.forEach(value -> slots.put(value, slots.size()));
        Context context = new Context(slots);
        return switch (GpuLowering.lower(node, context)) {
            case GpuStep step ->
                new Made(step, results.stream().map(Value::type).toList(), context.rivals);
            case NoKernel none -> throw new UnsupportedException(none.reason());
        };
    }

    /** What a step sees of the stage: buffers of its inputs and results, poisoned workspace, zeroed counters. */
    GpuFrame frame(GpuStep step, List<DeviceBuffer> buffers, DeviceBuffer faults, BlasHandle handle) {
        return new GpuFrame(
                stage.stream(),
                stage.arguments(),
                new GpuFrame.Addresses(
                        buffers.stream().mapToLong(DeviceBuffer::address).toArray(),
                        stage.poisoned(step.workspaceBytes()).address(),
                        stage.zeroed(step.counterBytes()).address(),
                        faults.address()),
                handle,
                buffers,
                (_, _) -> {
                    throw new IllegalStateException("cases are about kernels");
                });
    }

    private void runTwice(GpuStep step, GpuFrame frame, List<DeviceBuffer> outputs, boolean captured) {
        GpuStream stream = stage.stream();
        if (!captured) {
            for (int run = 0; run < 2; run++) {
                outputs.forEach(stage::poison);
                step.enqueue(frame);
            }
            return;
        }
        stream.beginCapture();
        step.enqueue(frame);
        try (CapturedGraph graph = stream.endCapture();
                ExecutableGraph executable = graph.instantiate()) {
            for (int run = 0; run < 2; run++) {
                outputs.forEach(stage::poison);
                stream.launch(executable);
            }
            stream.synchronize();
        }
    }

    private final class Context implements GpuLoweringContext {
        private final Map<Value, Integer> slots;
        private final List<Rival> rivals = new ArrayList<>();

        Context(Map<Value, Integer> slots) {
            this.slots = slots;
        }

        @Override
        public int slot(Value value) {
            Integer slot = slots.get(value);
            if (slot == null) {
                throw new IllegalArgumentException(value + " has no slot");
            }
            return slot;
        }

        @Override
        public int orderedSlot(Value matrix, WeightOrder order) {
            throw new IllegalArgumentException(matrix + " is no constant: operands here are inputs");
        }

        @Override
        public Kernels kernels() {
            return stage.modules();
        }

        @Override
        public Precision precision() {
            return precision;
        }

        @Override
        public Rival rival(List<Long> operandBytes, Function<GpuLoweringContext, @Nullable GpuStep> make) {
            Rival rival = new StepRival(stage.modules(), precision, operandBytes, make);
            rivals.add(rival);
            return rival;
        }

        @Override
        public AdditionOrder additionOrder() {
            return forms.additionOrder;
        }

        @Override
        public RegionForm regions() {
            return forms.regions;
        }

        @Override
        public ProductForm products() {
            return forms.products;
        }

        @Override
        public ConvForm convolutions() {
            return forms.convolutions;
        }

        @Override
        public ProductCatalog.@Nullable Tile tile() {
            return forms.tile;
        }

        @Override
        public Blas blas() {
            return blas;
        }

        @Override
        public Dnn dnn() {
            return forms.dnn;
        }

        @Override
        public Program onHost(Plan plan, String reason) {
            throw new UnsupportedException(reason);
        }

        @Override
        public int stepNumber() {
            return 0;
        }
    }
}
