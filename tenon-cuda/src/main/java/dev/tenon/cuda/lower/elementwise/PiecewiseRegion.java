package dev.tenon.cuda.lower.elementwise;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.cuda.kernel.ElementwiseKernels;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.kernel.RegionProgram;
import dev.tenon.cuda.lower.movement.GpuMovementLowering;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.KernelArguments;
import java.util.ArrayList;
import java.util.List;

/**
 * A region that no kernel takes whole: a launch a step, results in between in the workspace, short floats as f32. The
 * node's outputs are written after every input has been read for the last time, because an output may lie over an
 * input.
 */
final class PiecewiseRegion implements GpuStep {
    /** Where a value is: in a slot, or that many bytes into the workspace. */
    private record Place(int slot, long offset) {
        static Place slot(int slot) {
            return new Place(slot, 0);
        }

        long address(GpuFrame frame) {
            return slot >= 0 ? frame.at(slot) : frame.workspace() + offset;
        }
    }

    private record Piece(ElementwiseKernels.Launch launch, List<Place> inputs, Place output) {}

    private record Spread(MovementKernels.Move move, Place from, Place to) {}

    private final List<Piece> pieces = new ArrayList<>();
    private final List<Spread> spreads = new ArrayList<>();
    private final Workspace workspace = new Workspace();
    private final int number;
    private final List<String> passedOver;

    PiecewiseRegion(Region given, Node node, GpuLoweringContext context, List<String> passedOver) {
        this.number = context.stepNumber();
        this.passedOver = passedOver;
        int inputs = node.inputs().size();
        WideRegion region = WideRegion.of(given, GpuElementwiseLowering.types(node.inputs()));
        List<DType> types = region.types();
        List<Shape> shapes = GpuElementwiseLowering.shapes(node.inputs());
        List<Place> places = new ArrayList<>();
        node.inputs().forEach(input -> places.add(Place.slot(context.slot(input))));
        int[] lastUse = RegionProgram.lastUses(region.steps(), region.results(), inputs);
        int direct = direct(region, node, inputs, lastUse);
        ElementwiseKernels kernels = new ElementwiseKernels(context.kernels());
        for (int i = 0; i < region.steps().size(); i++) {
            Region.Step step = region.steps().get(i);
            List<Integer> from = step.arguments();
            Shape shape =
                    step.op().shapes(from.stream().map(shapes::get).toList()).getFirst();
            shapes.add(shape);
            if (lastUse[inputs + i] < 0) {
                places.add(Place.slot(-1));
                continue;
            }
            Broadcast broadcast =
                    Broadcast.of(shape, from.stream().map(shapes::get).toList());
            long bytes = types.get(inputs + i).bytesFor(shape.elements());
            Place place = i == direct ? Place.slot(context.slot(node.output())) : new Place(-1, workspace.take(bytes));
            places.add(place);
            pieces.add(new Piece(
                    kernels.single(step.op(), from.stream().map(types::get).toList(), broadcast, shape.elements()),
                    from.stream().map(places::get).toList(),
                    place));
            for (int argument : from.stream().distinct().toList()) {
                if (argument >= inputs && lastUse[argument] == i) {
                    workspace.release(
                            places.get(argument).offset(),
                            types.get(argument).bytesFor(shapes.get(argument).elements()));
                }
            }
        }
        MovementKernels movement = new MovementKernels(context.kernels());
        for (int r = 0; r < node.outputs().size(); r++) {
            int value = inputs + region.results().get(r);
            if (value - inputs != direct) {
                Place to = Place.slot(context.slot(node.outputs().get(r)));
                MovementKernels.Move move = GpuMovementLowering.expansion(
                        movement,
                        types.get(value),
                        shapes.get(value),
                        node.output().shape());
                spreads.add(new Spread(move, places.get(value), to));
            }
        }
    }

    /** Whether its last launch writes the node's only output, so that no copy of elements follows. */
    static boolean writesOutput(Region given, Node node) {
        int inputs = node.inputs().size();
        WideRegion region = WideRegion.of(given, GpuElementwiseLowering.types(node.inputs()));
        return direct(region, node, inputs, RegionProgram.lastUses(region.steps(), region.results(), inputs)) >= 0;
    }

    /** The step that may write the node's only output itself: the last one, in the output's shape; -1 for none. */
    private static int direct(WideRegion region, Node node, int inputs, int[] lastUse) {
        int last = region.steps().size() - 1;
        while (lastUse[inputs + last] < 0) {
            last--;
        }
        if (node.outputs().size() != 1 || region.results().getFirst() != last) {
            return -1;
        }
        List<Shape> shapes = GpuElementwiseLowering.shapes(node.inputs());
        for (Region.Step step : region.steps()) {
            shapes.add(step.op()
                    .shapes(step.arguments().stream().map(shapes::get).toList())
                    .getFirst());
        }
        return shapes.get(inputs + last).equals(node.output().shape()) ? last : -1;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        for (Piece piece : pieces) {
            KernelArguments arguments = frame.arguments().clear();
            for (Place input : piece.inputs()) {
                arguments.add(input.address(frame));
            }
            piece.launch().enqueue(frame.stream(), arguments, piece.output().address(frame), frame.faults(), number);
        }
        for (Spread spread : spreads) {
            spread.move()
                    .enqueue(
                            frame.stream(),
                            frame.arguments(),
                            spread.from().address(frame),
                            spread.to().address(frame));
        }
    }

    @Override
    public String fault(long operand) {
        return GpuElementwiseLowering.fault(operand);
    }

    @Override
    public String tier() {
        return "elementwise, " + pieces.size() + " launches";
    }

    @Override
    public List<String> passedOver() {
        return passedOver;
    }

    @Override
    public long workspaceBytes() {
        return workspace.bytes();
    }
}
