package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Slots;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.cuda.lower.resident.ResidentLowering;
import dev.tenon.cuda.schedule.StepUse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** What the steps of a plan do to a session's memory, and what they cost by prediction. */
final class StepUses {
    private static final int IO = 0;
    private static final int ARENA = 1;

    private StepUses() {}

    /** The uses of the steps of a plan; one that a launch of several does has none of its own. */
    static List<StepUse> all(Node[] nodes, ResidentLowering resident, Slots slots, IoLayout io, StepRates rates) {
        return IntStream.range(0, nodes.length)
                .mapToObj(i -> of(
                        resident.members(i).stream()
                                .map(member -> nodes[member])
                                .toList(),
                        resident.inside(i),
                        slots,
                        io,
                        rates))
                .toList();
    }

    /**
     * The use of a step that does the work of so many nodes: exactly their values, but for constants, which nothing
     * writes.
     *
     * @param inside values that the step keeps elsewhere
     */
    static StepUse of(List<Node> nodes, Set<Value> inside, Slots slots, IoLayout io, StepRates rates) {
        double cost = nodes.isEmpty() ? 0 : rates.step();
        List<StepUse.Span> reads = new ArrayList<>();
        List<StepUse.Span> writes = new ArrayList<>();
        for (Node node : nodes) {
            cost += rates.micros(node);
            addSpans(node.inputs(), inside, slots, io, reads);
            addSpans(node.outputs(), inside, slots, io, writes);
        }
        return new StepUse(cost, reads, writes);
    }

    private static void addSpans(
            List<Value> values, Set<Value> inside, Slots slots, IoLayout io, List<StepUse.Span> spans) {
        for (Value value : values) {
            if (inside.contains(value)) {
                continue;
            }
            switch (slots.placements().get(slots.of(value))) {
                case Placement.Input(int index) ->
                    spans.add(span(
                            IO, io.inputOffset(index), io.inputs().get(index).bytes()));
                case Placement.Output(int index) ->
                    spans.add(span(
                            IO, io.outputOffset(index), io.outputs().get(index).bytes()));
                case Placement.Arena(long offset, long bytes) -> spans.add(span(ARENA, offset, bytes));
                case Placement.Constant() -> {
                    // read only
                }
            }
        }
    }

    private static StepUse.Span span(int memory, long offset, long bytes) {
        return new StepUse.Span(memory, offset, offset + bytes);
    }
}
