package dev.tenon.core.compiler.memory;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.movement.BitCast;
import dev.tenon.core.ir.op.movement.Reshape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Gives every value of a graph its place. Values that are alive at the same time never share memory; the largest are
 * placed first, each at the lowest offset that is free over its whole life ("greedy by size": Pisarchyk and Lee, <a
 * href="https://arxiv.org/abs/2001.03288">Efficient Memory Management for Deep Neural Net Inference</a>, 2020).
 *
 * <p>What is done for each step or block is a method of its own: the JVM compiles it within the first plans, but the
 * methods that a plan calls once only after a hundred.
 *
 * <p>Expects {@code OutputCopies} to have run: every output of the graph is a node's own result.
 */
public final class MemoryPlanner {
    /** A stretch of memory and the steps [start, end] during which it holds something that is still needed. */
    private static final class Block {
        final long bytes;
        final int start;
        int end;
        /** The steps that use it, where steps may run at the same time. */
        final BitSet users;

        long offset = -1;

        Block(long bytes, int start, int end, BitSet users) {
            this.bytes = bytes;
            this.start = start;
            this.end = end;
            this.users = users;
        }

        int largestFirst(Block other) {
            int order = Long.compare(other.bytes, bytes);
            order = order != 0 ? order : Integer.compare(start, other.start);
            return order != 0 ? order : Integer.compare(end, other.end);
        }

        boolean meets(Block other, @Nullable Lives lives) {
            if (lives != null) {
                return !lives.ended(users, other.start) && !lives.ended(other.users, start);
            }
            return start <= other.end && other.start <= end;
        }
    }

    /** Which values may share memory. */
    public enum Sharing {
        /** None but views. */
        NONE,
        /** Those that are not alive at the same time when steps run one by one in the graph's order. */
        IN_ORDER,
        /** Those of which one is dead before the other begins in every order that the steps' dependencies allow. */
        IN_ANY_ORDER
    }

    /** Never written. */
    private static final BitSet NO_STEPS = new BitSet(0);

    private static final Placement CONSTANT = new Placement.Constant();

    private final Graph graph;
    private final boolean share;
    /** Null where steps run in order. */
    private final @Nullable Lives lives;

    private final Numbering numbering;
    /** By the number of a value: that of the value whose memory it shows. */
    private final int[] roots;
    /** By the number of such a value: the last step that needs it. */
    private final int[] lastUse;
    /** By the number of such a value: the steps that use it; empty where steps run in order. */
    private final BitSet[] users;

    private final @Nullable Placement[] fixed;
    private final @Nullable Block[] blocks;
    private final List<Block> distinct = new ArrayList<>();
    private long unplanned;

    private MemoryPlanner(Graph graph, Sharing sharing) {
        this.graph = graph;
        this.share = sharing != Sharing.NONE;
        this.lives = sharing == Sharing.IN_ANY_ORDER && Lives.suits(graph) ? Lives.of(graph) : null;
        this.numbering = graph.numbering();
        int count = numbering.values().size();
        this.roots = new int[count];
        this.lastUse = new int[count];
        this.users = new BitSet[count];
        if (lives == null) {
            Arrays.fill(users, NO_STEPS);
        } else {
            Arrays.setAll(users, _ -> new BitSet(0));
        }
        this.fixed = new @Nullable Placement[count];
        this.blocks = new @Nullable Block[count];
    }

    public static MemoryPlan plan(Graph graph) {
        return plan(graph, Sharing.IN_ORDER);
    }

    /** A plan for steps that run one by one, or at the same time where their dependencies allow it. */
    public static MemoryPlan plan(Graph graph, Sharing sharing) {
        return new MemoryPlanner(graph, sharing).plan();
    }

    /** A plan in which nothing but views shares memory: the reference that tests hold {@link #plan(Graph)} against. */
    public static MemoryPlan planWithoutSharing(Graph graph) {
        return plan(graph, Sharing.NONE);
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
     * input of the same shape and width; a rotation reads both of a pair before it writes either.
     */
    public static boolean mayOverwrite(Op op) {
        return op instanceof Unary
                || op instanceof Binary
                || op instanceof Compare
                || op instanceof Where
                || op instanceof Cast
                || op instanceof Region
                || op instanceof Rope;
    }

    private MemoryPlan plan() {
        findRoots();
        placeGiven();
        placeResults();
        long arena = assignOffsets(distinct);
        Placement[] placements = new Placement[roots.length];
        Arrays.setAll(placements, this::placement);
        return new MemoryPlan(numbering, List.of(placements), arena, unplanned);
    }

    private Placement placement(int number) {
        int root = roots[number];
        Placement placement = fixed[root];
        if (placement == null) {
            Block block = Objects.requireNonNull(blocks[root]);
            placement = new Placement.Arena(block.offset, block.bytes);
            fixed[root] = placement;
        }
        return placement;
    }

    /** Follows views to the value whose memory they show, and notes when each such value is last needed. */
    private void findRoots() {
        Arrays.setAll(roots, number -> number);
        int number = firstResult();
        for (int step = 0; step < graph.nodes().size(); step++) {
            number = findRoots(graph.nodes().get(step), step, number);
        }
    }

    /** The same of one step's results. @return the number of the next one's first */
    private int findRoots(Node node, int step, int first) {
        int number = first;
        for (int i = 0; i < node.inputs().size(); i++) {
            use(roots[numbering.operand(step, i)], step);
        }
        boolean view = isView(node.op());
        for (int i = 0; i < node.outputs().size(); i++) {
            int root = view ? roots[numbering.operand(step, 0)] : number;
            roots[number++] = root;
            use(root, step); // a step writes its result even when no step reads it
        }
        return number;
    }

    private void use(int root, int step) {
        lastUse[root] = step;
        if (lives != null) {
            users[root].set(step);
        }
    }

    /** The number of the first node's first result; the others follow in order. */
    private int firstResult() {
        return graph.inputs().size() + graph.constants().size();
    }

    private int root(Value value) {
        return roots[numbering.of(value)];
    }

    private void placeGiven() {
        for (int i = 0; i < graph.inputs().size(); i++) {
            fixed[i] = new Placement.Input(i);
        }
        for (int i = 0; i < graph.constants().size(); i++) {
            fixed[graph.inputs().size() + i] = CONSTANT;
        }
        int index = 0;
        for (Value output : graph.outputs().values()) {
            int root = root(output);
            Placement before = fixed[root];
            if (before != null) {
                throw new IllegalStateException(
                        "output " + output + " shares its memory with " + before + "; OutputCopies has not run");
            }
            fixed[root] = new Placement.Output(index++);
        }
    }

    private void placeResults() {
        int number = firstResult();
        for (int step = 0; step < graph.nodes().size(); step++) {
            number = placeResults(graph.nodes().get(step), step, number);
        }
    }

    /** The same of one step's. @return the number of the next one's first */
    private int placeResults(Node node, int step, int first) {
        boolean view = isView(node.op());
        for (int i = 0; i < node.outputs().size(); i++) {
            if (!view && fixed[first + i] == null) {
                place(node, node.outputs().get(i), first + i, step);
            }
        }
        return first + node.outputs().size();
    }

    private void place(Node node, Value output, int number, int step) {
        long bytes = aligned(output.type().bytes());
        unplanned = SizeMath.sum("memory plan", unplanned, bytes);
        Block block = share && node.outputs().size() == 1 ? overwritable(node, step) : null;
        if (block == null) {
            block = new Block(bytes, step, lastUse[number], users[number]);
            distinct.add(block);
        } else {
            block.end = lastUse[number];
            if (lives != null) {
                block.users.or(users[number]);
            }
        }
        blocks[number] = block;
    }

    /** The block of an input that dies at this step and that the result may be written over. */
    private @Nullable Block overwritable(Node node, int step) {
        if (!mayOverwrite(node.op())) {
            return null;
        }
        Value output = node.output();
        for (Value input : node.inputs()) {
            Block block = blocks[root(input)];
            if (block != null
                    && block.end == step
                    && (lives == null || lives.othersEnded(block.users, step))
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
        for (Value input : node.inputs()) {
            boolean plain = input.shape().equals(output.shape())
                    && input.dtype().bits() == output.dtype().bits();
            if (blocks[root(input)] == block && !plain) {
                return false;
            }
        }
        return true;
    }

    private long assignOffsets(List<Block> all) {
        all.sort(Block::largestFirst);
        Block[] placed = new Block[all.size()]; // by offset
        int count = 0;
        long arena = 0;
        for (Block block : all) {
            block.offset = lowest(block, placed, count);
            arena = Math.max(arena, SizeMath.sum("memory plan", block.offset, block.bytes));
            insert(block, placed, count++);
        }
        return arena;
    }

    /** The lowest offset where a block meets none of those that are placed. */
    private long lowest(Block block, Block[] placed, int count) {
        long offset = 0;
        for (int i = 0; i < count; i++) {
            Block other = placed[i];
            if (share && !other.meets(block, lives)) {
                continue;
            }
            if (SizeMath.sum("memory plan", offset, block.bytes) <= other.offset) {
                break;
            }
            offset = Math.max(offset, other.offset + other.bytes);
        }
        return offset;
    }

    private static void insert(Block block, Block[] placed, int count) {
        int at = count;
        while (at > 0 && placed[at - 1].offset > block.offset) {
            placed[at] = placed[--at];
        }
        placed[at] = block;
    }

    private static long aligned(long bytes) {
        return SizeMath.roundUp("memory plan", bytes, MemoryPlan.ALIGNMENT);
    }
}
