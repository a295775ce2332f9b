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
import dev.tenon.cpu.step.Registers;

/** One elementwise operation on tiles. The result may be the very place of an operand. */
interface TileOp {
    /** Applies the operation to n elements of the registers a, b, c (as many as it has), into register y. */
    void run(Loops loops, Registers registers, int a, int b, int c, int y, int n);

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
                    case FLOAT ->
                        (loops, r, a, b, c, y, n) -> loops.select(r.place(a), r.place(b), r.place(c), r.place(y), n);
                    case DOUBLE, LONG -> (_, r, a, b, c, y, n) -> TileLoops.selectLong(r, a, b, c, y, n);
                    case BOOL -> (_, r, a, b, c, y, n) -> TileLoops.selectBool(r, a, b, c, y, n);
                };
            case Cast cast -> (_, r, a, _, _, y, n) -> TileCasts.cast(first, cast, r, a, y, n);
        };
    }

    private static TileOp of(Unary unary, DType first, TileKind kind) {
        if (unary.fn().isTest()) {
            return TileLoops.classify(unary, kind);
        }
        return switch (kind) {
            case FLOAT ->
                (loops, r, a, _, _, y, n) ->
                        loops.unary(unary, r.segments[a], r.offsets[a], r.segments[y], r.offsets[y], n);
            case DOUBLE -> (_, r, a, _, _, y, n) -> TileLoops.unaryDouble(unary, r, a, y, n);
            case LONG -> (_, r, a, _, _, y, n) -> TileLoops.unaryLong(unary, first, r, a, y, n);
            case BOOL -> (_, r, a, _, _, y, n) -> TileLoops.not(r, a, y, n);
        };
    }

    private static TileOp of(BinaryFn fn, DType first, TileKind kind) {
        return switch (kind) {
            case FLOAT ->
                (loops, r, a, b, _, y, n) -> loops.binary(
                        fn, r.segments[a], r.offsets[a], r.segments[b], r.offsets[b], r.segments[y], r.offsets[y], n);
            case DOUBLE -> (_, r, a, b, _, y, n) -> TileLoops.binaryDouble(fn, r, a, b, y, n);
            case LONG -> (_, r, a, b, _, y, n) -> TileLoops.binaryLong(fn, first, r, a, b, y, n);
            case BOOL -> (_, r, a, b, _, y, n) -> TileLoops.binaryBool(fn, r, a, b, y, n);
        };
    }

    private static TileOp of(CompareFn fn, DType first, TileKind kind) {
        return switch (kind) {
            case FLOAT ->
                (loops, r, a, b, _, y, n) -> loops.compare(
                        fn, r.segments[a], r.offsets[a], r.segments[b], r.offsets[b], r.segments[y], r.offsets[y], n);
            case DOUBLE -> (_, r, a, b, _, y, n) -> TileLoops.compareDouble(fn, r, a, b, y, n);
            case LONG -> (_, r, a, b, _, y, n) -> TileLoops.compareLong(fn, first, r, a, b, y, n);
            case BOOL -> (_, r, a, b, _, y, n) -> TileLoops.compareBool(fn, r, a, b, y, n);
        };
    }
}
