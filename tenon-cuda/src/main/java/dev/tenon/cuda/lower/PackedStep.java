package dev.tenon.cuda.lower;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.cuda.kernel.ElementwiseKernels;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.Workspace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A node of elements of 4 bits, run on bytes: inputs are unpacked into the workspace, the node's operation runs there,
 * and its results are packed. Immutable.
 */
final class PackedStep implements GpuStep {
    /**
     * An operand.
     *
     * @param slot of the node's value
     * @param offset of its bytes in the workspace; -1 where it is not packed
     */
    private record Place(int slot, long offset) {
        long address(GpuFrame frame) {
            return offset < 0 ? frame.at(slot) : frame.workspace() + offset;
        }
    }

    /** A cast between a value and its bytes in the workspace. */
    private record Crossing(ElementwiseKernels.Launch launch, Place place, boolean unpacks) {
        void enqueue(GpuFrame frame, int number) {
            long packed = frame.at(place.slot());
            long bytes = frame.workspace() + place.offset();
            launch.enqueue(
                    frame.stream(),
                    frame.arguments().clear().add(unpacks ? packed : bytes),
                    unpacks ? bytes : packed,
                    frame.faults(),
                    number);
        }
    }

    private final List<Place> places = new ArrayList<>();
    private final List<Crossing> unpacking = new ArrayList<>();
    private final List<Crossing> packing = new ArrayList<>();
    private final GpuStep step;
    private final int number;
    private final long offset;
    private final long workspaceBytes;

    private PackedStep(Node node, GpuStep step, GpuLoweringContext context) {
        this.step = step;
        number = context.stepNumber();
        Workspace workspace = new Workspace();
        ElementwiseKernels kernels = new ElementwiseKernels(context.kernels());
        node.inputs().forEach(input -> places.add(place(input, true, kernels, workspace, context)));
        node.outputs().forEach(output -> places.add(place(output, false, kernels, workspace, context)));
        offset = workspace.bytes();
        workspaceBytes = SizeMath.sum("packed elements", offset, step.workspaceBytes());
    }

    private Place place(
            Value value, boolean unpacks, ElementwiseKernels kernels, Workspace workspace, GpuLoweringContext context) {
        DType packed = value.dtype();
        DType bytes = whole(packed);
        if (packed == bytes) {
            return new Place(context.slot(value), -1);
        }
        long elements = value.shape().elements();
        Place place = new Place(context.slot(value), workspace.take(elements));
        if (elements > 0) {
            ElementwiseKernels.Launch launch = kernels.single(
                    new Cast(unpacks ? bytes : packed, true),
                    List.of(unpacks ? packed : bytes),
                    Broadcast.of(value.shape(), new ArrayList<>(List.of(value.shape()))),
                    elements);
            (unpacks ? unpacking : packing).add(new Crossing(launch, place, unpacks));
        }
        return place;
    }

    /** Whether it is for such a node. */
    static boolean takes(Node node) {
        return Stream.concat(node.inputs().stream(), node.outputs().stream())
                .anyMatch(value -> value.dtype() != whole(value.dtype()));
    }

    /** The type of as many values whose elements have a byte of their own. */
    private static DType whole(DType dtype) {
        return dtype == DType.I4 ? DType.I8 : dtype == DType.U4 ? DType.U8 : dtype;
    }

    /** The step, or why no kernel does the work on bytes. */
    static Lowered lower(Node node, GpuLoweringContext context) {
        GraphBuilder builder = new GraphBuilder(node.name());
        List<Value> operands = new ArrayList<>();
        for (Value input : node.inputs()) {
            TensorType type = new TensorType(whole(input.dtype()), input.shape());
            operands.add(builder.input("in" + operands.size(), type));
        }
        List<Value> results = builder.add(node.name(), node.op(), operands);
        if (!(results.getFirst().origin() instanceof Value.Origin.Result(Node onBytes, int _))) {
            return new NoKernel(
                    "the CUDA backend has no kernel yet for " + node.op().mnemonic() + " of elements that share bytes");
        }
        Map<Value, Integer> slots = new HashMap<>();
        Stream.concat(operands.stream(), results.stream()).forEach(value -> slots.put(value, slots.size()));
        return switch (GpuLowering.lower(onBytes, new NumberedContext(context, slots))) {
            case GpuStep step -> new PackedStep(node, step, context);
            case NoKernel none -> none;
        };
    }

    @Override
    public void enqueue(GpuFrame frame) {
        unpacking.forEach(crossing -> crossing.enqueue(frame, number));
        long[] addresses =
                places.stream().mapToLong(place -> place.address(frame)).toArray();
        step.enqueue(frame.over(addresses, frame.workspace() + offset));
        packing.forEach(crossing -> crossing.enqueue(frame, number));
    }

    @Override
    public String tier() {
        return "unpacked to bytes: " + step.tier();
    }

    @Override
    public List<String> passedOver() {
        return step.passedOver();
    }

    @Override
    public String fault(long value) {
        return step.fault(value);
    }

    @Override
    public boolean recordable() {
        return step.recordable();
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }

    @Override
    public long counterBytes() {
        return step.counterBytes();
    }
}
