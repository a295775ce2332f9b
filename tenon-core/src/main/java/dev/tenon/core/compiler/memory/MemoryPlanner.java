package dev.tenon.core.compiler.memory;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.movement.BitCast;
import dev.tenon.core.ir.op.movement.Reshape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Gives every value of a graph its place. Values that are alive at the same time never share memory; the largest are
 * placed first, each at the lowest offset that is free over its whole life ("greedy by size": Pisarchyk and Lee, <a
 * href="https://arxiv.org/abs/2001.03288">Efficient Memory Management for Deep Neural Net Inference</a>, 2020).
 *
 * <p>Expects {@code OutputCopies} to have run: every output of the graph is a node's own result.
 */
public final class MemoryPlanner {
    /** A stretch of memory and the steps [start, end] during which it holds something that is still needed. */
    private static final class Block {
        final long bytes;
        final int start;
        int end;
        long offset = -1;

        Block(long bytes, int start, int end) {
            this.bytes = bytes;
            this.start = start;
            this.end = end;
        }

        boolean meets(Block other) {
            return start <= other.end && other.start <= end;
        }
    }

    private final Graph graph;
    private final boolean share;
    private final Map<Value, Value> roots = new HashMap<>();
    private final Map<Value, Integer> lastUse = new HashMap<>();
    private final Map<Value, Placement> fixed = new LinkedHashMap<>();
    private final Map<Value, Block> blocks = new LinkedHashMap<>();

    private MemoryPlanner(Graph graph, boolean share) {
        this.graph = graph;
        this.share = share;
    }

    public static MemoryPlan plan(Graph graph) {
        return new MemoryPlanner(graph, true).plan();
    }

    /** A plan in which nothing but views shares memory: the reference that tests hold {@link #plan(Graph)} against. */
    public static MemoryPlan planWithoutSharing(Graph graph) {
        return new MemoryPlanner(graph, false).plan();
    }

    /** Whether an operation's result is its input's memory, as it is. */
    public static boolean isView(Op op) {
        return op instanceof Reshape || op instanceof BitCast;
    }

    /** The value whose memory a view shows; any other value itself. */
    public static Value shown(Value value) {
        Value root = value;
        while (root.origin() instanceof Value.Origin.Result(Node node, int _) && isView(node.op())) {
            root = node.input(0);
        }
        return root;
    }

    /**
     * Whether an operation reads each element before it writes the one at the same place, and so may write over an
     * input of the same shape and width.
     */
    public static boolean mayOverwrite(Op op) {
        return op instanceof Unary
                || op instanceof Binary
                || op instanceof Compare
                || op instanceof Where
                || op instanceof Cast
                || op instanceof Region;
    }

    private MemoryPlan plan() {
        findRoots();
        placeGiven();
        placeResults();
        List<Block> distinct = new ArrayList<>(new HashSet<>(blocks.values()));
        long arena = assignOffsets(distinct);
        Map<Value, Placement> placements = new HashMap<>();
        roots.forEach((value, root) -> {
            Placement placement = fixed.get(root);
            Block block = blocks.get(root);
            placements.put(
                    value, placement != null ? placement : arenaPlacement(java.util.Objects.requireNonNull(block)));
        });
        long unplanned = blocks.keySet().stream()
                .mapToLong(value -> aligned(value.type().bytes()))
                .reduce(0, (a, b) -> SizeMath.sum("memory plan", a, b));
        return new MemoryPlan(placements, arena, unplanned);
    }

    private static Placement arenaPlacement(Block block) {
        return new Placement.Arena(block.offset, block.bytes);
    }

    /** Follows views to the value whose memory they show, and notes when each such value is last needed. */
    private void findRoots() {
        graph.inputs().forEach(value -> roots.put(value, value));
        graph.constants().forEach(value -> roots.put(value, value));
        for (int step = 0; step < graph.nodes().size(); step++) {
            Node node = graph.nodes().get(step);
            for (Value input : node.inputs()) {
                lastUse.put(root(input), step);
            }
            for (Value output : node.outputs()) {
                Value root = isView(node.op()) ? root(node.input(0)) : output;
                roots.put(output, root);
                lastUse.put(root, step); // a result that nobody reads still owns memory while its step runs
            }
        }
    }

    private Value root(Value value) {
        Value root = roots.get(value);
        if (root == null) {
            throw new IllegalStateException(value + " is used before it is defined");
        }
        return root;
    }

    private void placeGiven() {
        for (int i = 0; i < graph.inputs().size(); i++) {
            fixed.put(graph.inputs().get(i), new Placement.Input(i));
        }
        graph.constants().forEach(value -> fixed.put(value, new Placement.Constant()));
        int index = 0;
        for (Value output : graph.outputs().values()) {
            Placement before = fixed.put(root(output), new Placement.Output(index++));
            if (before != null) {
                throw new IllegalStateException(
                        "output " + output + " shares its memory with " + before + "; OutputCopies has not run");
            }
        }
    }

    private void placeResults() {
        for (int step = 0; step < graph.nodes().size(); step++) {
            Node node = graph.nodes().get(step);
            if (isView(node.op())) {
                continue;
            }
            for (Value output : node.outputs()) {
                if (fixed.containsKey(output)) {
                    continue;
                }
                int end = java.util.Objects.requireNonNull(lastUse.get(output));
                Block reused = share && node.outputs().size() == 1 ? overwritable(node, step) : null;
                if (reused != null) {
                    reused.end = end;
                    blocks.put(output, reused);
                } else {
                    blocks.put(output, new Block(aligned(output.type().bytes()), step, end));
                }
            }
        }
    }

    /** The block of an input that dies at this step and that the result may be written over. */
    private @Nullable Block overwritable(Node node, int step) {
        if (!mayOverwrite(node.op())) {
            return null;
        }
        Value output = node.output();
        for (Value input : node.inputs()) {
            Block block = blocks.get(root(input));
            if (block != null
                    && block.end == step
                    && input.shape().equals(output.shape())
                    && input.dtype().bits() == output.dtype().bits()
                    && onlyPlainUses(node, block, output)) {
                return block;
            }
        }
        return null;
    }

    /**
     * Whether every input in that block is read element by element: one that is broadcast would be read after it was
     * overwritten.
     */
    private boolean onlyPlainUses(Node node, Block block, Value output) {
        return node.inputs().stream()
                .filter(input -> blocks.get(root(input)) == block)
                .allMatch(input -> input.shape().equals(output.shape())
                        && input.dtype().bits() == output.dtype().bits());
    }

    private long assignOffsets(List<Block> all) {
        all.sort(Comparator.comparingLong((Block block) -> block.bytes)
                .reversed()
                .thenComparingInt(block -> block.start)
                .thenComparingInt(block -> block.end));
        List<Block> placed = new ArrayList<>(); // by offset
        long arena = 0;
        for (Block block : all) {
            long offset = 0;
            for (Block other : placed) {
                if (share && !other.meets(block)) {
                    continue;
                }
                if (SizeMath.sum("memory plan", offset, block.bytes) <= other.offset) {
                    break;
                }
                offset = Math.max(offset, other.offset + other.bytes);
            }
            block.offset = offset;
            arena = Math.max(arena, SizeMath.sum("memory plan", offset, block.bytes));
            int at = 0;
            while (at < placed.size() && placed.get(at).offset <= offset) {
                at++;
            }
            placed.add(at, block);
        }
        return arena;
    }

    private static long aligned(long bytes) {
        return SizeMath.roundUp("memory plan", bytes, MemoryPlan.ALIGNMENT);
    }
}
