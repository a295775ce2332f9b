package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.cpu.loops.TileKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Elementwise operations in order, and where each of their values is held while a tile is worked on. Values are
 * numbered: inputs first, then one for each instruction.
 *
 * <p>A value that memory holds as a tile does (f32, f64, 64-bit integers, booleans, in the result's order) is read or
 * written where it lies; any other has a buffer of the worker's workspace. Buffers of values that are not needed any
 * more are used again, so a long chain stays in the first-level cache.
 */
final class TileProgram {
    /** Where a value is. */
    enum Home {
        /** In the step's own operand, at the tile's position. */
        MEMORY,
        /** In a buffer, filled at the start of each tile or by its instruction. */
        BUFFER,
        /** In a buffer, filled once: it is a single element or a short row, repeated. */
        SPLAT,
        /** Nowhere: no result needs it. */
        UNUSED
    }

    /** One operation and the values it takes. */
    record Instruction(TileOp op, List<Integer> arguments) {}

    /** Elements of a tile where buffers are needed. */
    private static final int TILE = 1024;

    /** The same where there are more than some: f32 buffers then take half of a first-level cache of 32 KiB. */
    private static final int SMALL_TILE = 512;

    private static final int FEW_BUFFERS = 5;

    /** Between buffers, so that the same elements of two are not the same place of a cache. */
    private static final int GAP = 192;

    /**
     * And where not: large enough that the loop around tiles costs nothing, a multiple of what keeps packed types
     * whole.
     */
    private static final int LARGE_TILE = 8192;

    /** From here on a row is worth tiles of its own; shorter rows are put together first. */
    private static final int LONG_ROW = 512;

    final int inputs;
    final DType[] types;
    final Home[] homes;
    /** For {@link Home#BUFFER} and {@link Home#SPLAT}. */
    final int[] buffers;

    final TileOp[] ops;
    /** Three arguments an instruction; what it does not have is its first. */
    final int[] arguments;

    final boolean[] live;
    /** The values that the step's outputs are. */
    final int[] results;

    final Broadcast broadcast;
    final int tile;
    final int bufferCount;
    /**
     * Whether tiles are cut at the ends of rows, so that inputs repeated along or across rows are read where they lie.
     */
    final boolean byRow;

    TileProgram(List<DType> types, int inputs, List<Instruction> instructions, int[] results, Broadcast broadcast) {
        this.inputs = inputs;
        this.types = types.toArray(DType[]::new);
        this.broadcast = broadcast;
        this.results = results;
        ops = new TileOp[instructions.size()];
        arguments = new int[3 * ops.length];
        for (int i = 0; i < arguments.length; i++) {
            Instruction instruction = instructions.get(i / 3);
            List<Integer> given = instruction.arguments();
            ops[i / 3] = instruction.op();
            arguments[i] = given.get(i % 3 < given.size() ? i % 3 : 0);
        }
        int values = inputs + ops.length;
        int[] lastUse = lastUses(values);
        live = new boolean[ops.length];
        for (int i = 0; i < ops.length; i++) {
            live[i] = lastUse[inputs + i] >= 0;
        }
        byRow = broadcast.inner() >= LONG_ROW && results.length > 0 && repeatsRows() && !hasPacked();
        homes = new Home[values];
        buffers = new int[values];
        bufferCount = assign(lastUse);
        int most = bufferCount == 0 ? LARGE_TILE : bufferCount > FEW_BUFFERS ? SMALL_TILE : TILE;
        // whole rows, where those are repeated; an even number of them keeps packed types whole
        long rows = 2 * broadcast.inner();
        tile = (int) (repeatsShortRow() ? most / rows * rows : most);
    }

    /** Whether an input is neither one element nor the result's elements in order. */
    private boolean repeatsRows() {
        for (int i = 0; i < inputs; i++) {
            if (!broadcast.isWhole(i) && !broadcast.isScalar(i)) {
                return true;
            }
        }
        return false;
    }

    /** Whether an input is a row that every tile repeats in the same way. */
    private boolean isShortRow(int input) {
        return !byRow
                && broadcast.inner() <= SMALL_TILE / 2
                && broadcast.isRow(input)
                && !broadcast.isWhole(input)
                && types[input].bits() >= 8;
    }

    private boolean repeatsShortRow() {
        for (int i = 0; i < inputs; i++) {
            if (homes[i] == Home.SPLAT && isShortRow(i)) {
                return true;
            }
        }
        return false;
    }

    /** Elements of an input that are repeated: its own. */
    int period(int input) {
        return isShortRow(input) ? (int) broadcast.inner() : 1;
    }

    /** A row of packed elements may begin inside a byte. */
    private boolean hasPacked() {
        for (DType type : types) {
            if (type.bits() < 8) {
                return true;
            }
        }
        return false;
    }

    /**
     * The last instruction that reads each value; the number of instructions for results, -1 for what is not needed.
     */
    private int[] lastUses(int values) {
        int[] lastUse = new int[values];
        java.util.Arrays.fill(lastUse, -1);
        for (int result : results) {
            lastUse[result] = ops.length;
        }
        for (int i = ops.length - 1; i >= 0; i--) {
            if (lastUse[inputs + i] >= 0) {
                for (int j = 0; j < 3; j++) {
                    int argument = arguments[3 * i + j];
                    lastUse[argument] = Math.max(lastUse[argument], i);
                }
            }
        }
        return lastUse;
    }

    private int assign(int[] lastUse) {
        int count = 0;
        Deque<Integer> free = new ArrayDeque<>();
        List<Integer> held = new ArrayList<>(); // values whose buffer may be used again
        for (int i = 0; i < inputs; i++) {
            if (lastUse[i] < 0) {
                homes[i] = Home.UNUSED;
            } else if ((broadcast.isScalar(i) && !broadcast.isWhole(i)) || isShortRow(i)) {
                homes[i] = Home.SPLAT;
                buffers[i] = count++;
            } else if (TileKind.isDirect(types[i])
                    && (broadcast.isWhole(i) || (byRow && broadcast.innerStride(i) == 1))) {
                homes[i] = Home.MEMORY;
            } else {
                homes[i] = Home.BUFFER;
                buffers[i] = count++;
                held.add(i);
            }
        }
        for (int i = 0; i < ops.length; i++) {
            int value = inputs + i;
            if (!live[i]) {
                homes[value] = Home.UNUSED;
                continue;
            }
            for (int h = held.size() - 1; h >= 0; h--) {
                int other = held.get(h);
                // an operand's own buffer too, if its elements are as wide: operations read an element before they
                // write it
                boolean done = lastUse[other] < i
                        || (lastUse[other] == i && TileKind.of(types[other]) == TileKind.of(types[value]));
                if (done) {
                    free.push(buffers[other]);
                    held.remove(/* index */ h);
                }
            }
            if (resultIndex(value) >= 0 && TileKind.isDirect(types[value])) {
                homes[value] = Home.MEMORY;
            } else {
                homes[value] = Home.BUFFER;
                buffers[value] = free.isEmpty() ? count++ : free.pop();
                held.add(value);
            }
        }
        return count;
    }

    /** The first output that is this value, or -1. */
    int resultIndex(int value) {
        for (int r = 0; r < results.length; r++) {
            if (results[r] == value) {
                return r;
            }
        }
        return -1;
    }

    /** Bytes of a buffer: room for a tile of any kind. */
    int bufferBytes() {
        return (tile * Long.BYTES + GAP + 63) / 64 * 64;
    }
}
