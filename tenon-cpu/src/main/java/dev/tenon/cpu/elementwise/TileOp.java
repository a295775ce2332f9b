package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.TileKind;
import java.lang.foreign.MemorySegment;

/** One elementwise operation on tiles. The result may be the very place of an operand. */
interface TileOp {
    /** Applies the operation to n elements: of the operands a, b, c (as many as it has), into y. */
    void run(
            Loops loops,
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment c,
            long cOffset,
            MemorySegment y,
            long yOffset,
            int n);

    /**
     * The loop for an operation on operands of those types. {@code first} is the type of the first operand, or the
     * second for {@link Where}.
     */
    static TileOp of(Elementwise op, DType first) {
        TileKind kind = TileKind.of(first);
        return switch (op) {
            case Unary unary -> of(unary, first, kind);
            case Binary binary -> of(binary.fn(), first, kind);
            case Compare compare -> of(compare.fn(), first, kind);
            case Where _ ->
                switch (kind) {
                    case FLOAT -> (loops, a, ao, b, bo, c, co, y, yo, n) -> loops.select(a, ao, b, bo, c, co, y, yo, n);
                    case DOUBLE, LONG ->
                        (_, a, ao, b, bo, c, co, y, yo, n) -> TileLoops.selectLong(a, ao, b, bo, c, co, y, yo, n);
                    case BOOL ->
                        (_, a, ao, b, bo, c, co, y, yo, n) -> TileLoops.selectBool(a, ao, b, bo, c, co, y, yo, n);
                };
            case Cast cast -> (_, a, ao, _, _, _, _, y, yo, n) -> TileCasts.cast(first, cast, a, ao, y, yo, n);
        };
    }

    private static TileOp of(Unary unary, DType first, TileKind kind) {
        if (unary.fn().isTest()) {
            return TileLoops.classify(unary, kind);
        }
        return switch (kind) {
            case FLOAT -> (loops, a, ao, _, _, _, _, y, yo, n) -> loops.unary(unary, a, ao, y, yo, n);
            case DOUBLE -> (_, a, ao, _, _, _, _, y, yo, n) -> TileLoops.unaryDouble(unary, a, ao, y, yo, n);
            case LONG -> (_, a, ao, _, _, _, _, y, yo, n) -> TileLoops.unaryLong(unary, first, a, ao, y, yo, n);
            case BOOL -> (_, a, ao, _, _, _, _, y, yo, n) -> TileLoops.not(a, ao, y, yo, n);
        };
    }

    private static TileOp of(BinaryFn fn, DType first, TileKind kind) {
        return switch (kind) {
            case FLOAT -> (loops, a, ao, b, bo, _, _, y, yo, n) -> loops.binary(fn, a, ao, b, bo, y, yo, n);
            case DOUBLE -> (_, a, ao, b, bo, _, _, y, yo, n) -> TileLoops.binaryDouble(fn, a, ao, b, bo, y, yo, n);
            case LONG -> (_, a, ao, b, bo, _, _, y, yo, n) -> TileLoops.binaryLong(fn, first, a, ao, b, bo, y, yo, n);
            case BOOL -> (_, a, ao, b, bo, _, _, y, yo, n) -> TileLoops.binaryBool(fn, a, ao, b, bo, y, yo, n);
        };
    }

    private static TileOp of(CompareFn fn, DType first, TileKind kind) {
        return switch (kind) {
            case FLOAT -> (loops, a, ao, b, bo, _, _, y, yo, n) -> loops.compare(fn, a, ao, b, bo, y, yo, n);
            case DOUBLE -> (_, a, ao, b, bo, _, _, y, yo, n) -> TileLoops.compareDouble(fn, a, ao, b, bo, y, yo, n);
            case LONG -> (_, a, ao, b, bo, _, _, y, yo, n) -> TileLoops.compareLong(fn, first, a, ao, b, bo, y, yo, n);
            case BOOL -> (_, a, ao, b, bo, _, _, y, yo, n) -> TileLoops.compareBool(fn, a, ao, b, bo, y, yo, n);
        };
    }
}
