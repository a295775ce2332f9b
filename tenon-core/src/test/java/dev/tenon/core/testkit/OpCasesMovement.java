package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.op.image.DepthToSpace;
import dev.tenon.core.ir.op.image.SpaceToDepth;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Split;
import dev.tenon.core.ir.op.movement.Tile;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reshape, transpose, slice, concat, expand, pad, triangles, and the composites made of them. */
final class OpCasesMovement {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(5);

    private OpCasesMovement() {}

    static List<OpCase> all() {
        OpCasesMovement all = new OpCasesMovement();
        OpCases.wholeBytes().forEach(all::everyType);
        List.of(DType.I4, DType.U4).forEach(all::packed);
        all.sizes();
        all.concat();
        all.pad();
        all.pixels();
        return List.copyOf(all.cases);
    }

    private void add(String name, Op op, NdArray... inputs) {
        cases.add(OpCase.exact(op.mnemonic() + " " + name, op, inputs));
    }

    private void everyType(DType type) {
        NdArray x = random.array(type, 3, 5, 7);
        String name = type.toString();
        add(name, new Reshape(OpCases.sizes(7, -1, 3)), x);
        add(name, new Transpose(List.of(2, 0, 1)), x);
        add(name, new Slice(OpCases.sizes(1, 4, 0), OpCases.sizes(2, 3, 4), OpCases.sizes(1, -2, 2)), x);
        add(name, new Expand(OpCases.sizes(2, 3, 5, 7)), x);
        add(name, new Concat(1), x, random.array(type, 3, 2, 7), random.array(type, 3, 1, 7));
        add("upper " + name, new Trilu(true, 1), x);
        add("lower " + name, new Trilu(false, -1), x);
        add(name, new Pad(PadMode.CONSTANT, OpCases.sizes(1, 0, 2), OpCases.sizes(0, 3, 1)), x, random.array(type));
        add(name, new Tile(OpCases.sizes(2, 1, 3)), x);
        add(name, new Split(2, OpCases.sizes(3, 0, 4)), x);
    }

    /** Elements that share bytes, an odd number of them. */
    private void packed(DType type) {
        NdArray x = random.array(type, 3, 5, 7);
        String name = type.toString();
        add(name, new Transpose(List.of(2, 0, 1)), x);
        add(name, new Slice(OpCases.sizes(1, 4, 0), OpCases.sizes(2, 3, 4), OpCases.sizes(1, -2, 2)), x);
        add(name, new Expand(OpCases.sizes(2, 3, 5, 7)), x);
        add(name, new Concat(1), x, random.array(type, 3, 2, 7), random.array(type, 3, 1, 7));
        add("upper " + name, new Trilu(true, 1), x);
        add(name, new Pad(PadMode.CONSTANT, OpCases.sizes(1, 0, 2), OpCases.sizes(0, 3, 1)), x, random.array(type));
        add("wrap " + name, new Pad(PadMode.WRAP, OpCases.sizes(1, 0, 2), OpCases.sizes(0, 3, 1)), x);
    }

    private void sizes() {
        NdArray scalar = random.array(DType.F32);
        NdArray empty = NdArray.zeros(DType.F32, 0, 5);
        add("scalar to [1,1]", new Reshape(OpCases.sizes(1, 1)), scalar);
        add("[1] to scalar", new Reshape(List.of()), random.array(DType.F32, 1));
        add("empty", new Reshape(OpCases.sizes(-1, 5)), empty);
        add("empty to other zeros", new Reshape(OpCases.sizes(3, 0, 2)), empty);
        for (DType type : List.of(DType.U8, DType.F16, DType.F32, DType.F64)) { // channels of pictures
            for (long[] sizes : new long[][] {{2, 3, 4, 8}, {2, 3, 5, 7}, {1, 2, 16, 16}, {3, 3, 1, 48}}) {
                NdArray picture = random.array(type, sizes);
                add("picture " + picture.type(), new Transpose(List.of(0, 2, 3, 1)), picture);
            }
        }
        add("scalar", new Transpose(List.of()), scalar);
        add("empty", new Transpose(List.of(1, 0)), empty);
        for (long[] matrix : new long[][] {{1, 1}, {1, 33}, {31, 33}, {32, 32}, {65, 1}, {67, 129}}) {
            NdArray x = random.array(DType.F32, matrix);
            add(x.shape().toString(), new Transpose(List.of(1, 0)), x);
        }
        add("four dims", new Transpose(List.of(0, 2, 1, 3)), random.array(DType.F32, 2, 3, 5, 4));
        add("inner two", new Transpose(List.of(0, 1, 3, 2)), random.array(DType.F16, 2, 3, 5, 4));
        add("five dims", new Transpose(List.of(4, 2, 0, 3, 1)), random.array(DType.F32, 2, 3, 1, 4, 5));
        add(
                "backwards",
                new Slice(OpCases.sizes(32), OpCases.sizes(33), OpCases.sizes(-1)),
                random.array(DType.F32, 33));
        add(
                "nothing",
                new Slice(OpCases.sizes(0, 0), OpCases.sizes(0, 5), OpCases.sizes(1, 1)),
                random.array(DType.F32, 3, 5));
        add("scalar", new Slice(List.of(), List.of(), List.of()), scalar);
        add("of empty", new Slice(OpCases.sizes(0, 1), OpCases.sizes(0, 2), OpCases.sizes(1, 3)), empty);
        add("scalar", new Expand(OpCases.sizes(3, 31)), scalar);
        add("columns", new Expand(OpCases.sizes(3, 33)), random.array(DType.F32, 3, 1));
        add("to nothing", new Expand(OpCases.sizes(0, 3)), random.array(DType.F32, 1, 3));
        add("same", new Expand(OpCases.sizes(3, 2)), random.array(DType.F32, 3, 2));
        add("square", new Trilu(false, 0), random.array(DType.F32, 2, 33, 33));
        add("far off", new Trilu(true, 40), random.array(DType.F32, 33, 31));
        add("empty", new Trilu(true, 0), empty);
        add("in packs", new Trilu(false, 3), random.array(DType.F16, 2, 19, 32));
        add("scalar", new Tile(List.of()), scalar);
        add("by 0", new Tile(OpCases.sizes(0, 2)), random.array(DType.F32, 3, 2));
        add("by 1", new Tile(OpCases.sizes(1, 1)), random.array(DType.F32, 3, 2));
        add("one piece", new Split(0, OpCases.sizes(5)), random.array(DType.F32, 5));
    }

    private void concat() {
        NdArray matrix = random.array(DType.F32, 2, 3);
        add("with no rows", new Concat(0), matrix, NdArray.zeros(DType.F32, 0, 3));
        add("with no columns first", new Concat(1), NdArray.zeros(DType.F32, 2, 0), matrix);
        add("of nothing", new Concat(0), NdArray.zeros(DType.F32, 0, 3), NdArray.zeros(DType.F32, 0, 3));
        add("of one", new Concat(0), matrix);
        NdArray[] many = new NdArray[17];
        for (int i = 0; i < many.length; i++) {
            many[i] = random.array(DType.F32, 3, i % 4, 5);
        }
        add("of many", new Concat(1), many);
    }

    private void pad() {
        NdArray x = random.array(DType.F32, 3, 4);
        for (PadMode mode : PadMode.values()) {
            String name = mode.name().toLowerCase(Locale.ROOT);
            add(name, new Pad(mode, OpCases.sizes(1, 2), OpCases.sizes(2, 3)), x);
            add(name + " more than once around", new Pad(mode, OpCases.sizes(0, 9), OpCases.sizes(0, 11)), x);
            add(name + " of one", new Pad(mode, OpCases.sizes(2), OpCases.sizes(3)), random.array(DType.F32, 1));
            add(
                    name + " by nothing",
                    new Pad(mode, OpCases.sizes(0, 0), OpCases.sizes(0, 0)),
                    NdArray.zeros(DType.F32, 0, 3));
        }
        add("cropping", new Pad(PadMode.CONSTANT, OpCases.sizes(-1, 1), OpCases.sizes(0, -2)), x);
        add(
                "of nothing",
                new Pad(PadMode.CONSTANT, OpCases.sizes(1, 0), OpCases.sizes(1, 0)),
                NdArray.zeros(DType.F32, 0, 3),
                random.array(DType.F32, 1));
        add("scalar", new Pad(PadMode.CONSTANT, List.of(), List.of()), random.array(DType.F32));
        for (PadMode mode : PadMode.values()) {
            for (DType type : List.of(DType.U8, DType.F16, DType.F64)) {
                String name = mode.name().toLowerCase(Locale.ROOT) + " outer dims " + type;
                NdArray rows = random.array(type, 2, 3, 5, 4);
                add(name, new Pad(mode, OpCases.sizes(0, 1, 2, 0), OpCases.sizes(0, 2, 1, 0)), rows);
            }
        }
        add(
                "outer dims with a fill",
                new Pad(PadMode.CONSTANT, OpCases.sizes(1, 0, 0), OpCases.sizes(2, 0, 0)),
                random.array(DType.F16, 3, 2, 8),
                random.array(DType.F16));
        add(
                "many dims",
                new Pad(
                        PadMode.EDGE,
                        OpCases.sizes(0, 1, 0, 0, 1, 0, 1, 0, 1),
                        OpCases.sizes(0, 0, 1, 0, 0, 0, 0, 1, 0)),
                random.array(DType.I16, 1, 2, 1, 2, 1, 3, 1, 2, 2));
        add(
                "of more than a block",
                new Pad(PadMode.REFLECT, OpCases.sizes(1, 2), OpCases.sizes(0, 3)),
                random.array(DType.F32, 37, 29));
    }

    private void pixels() {
        for (DType type : List.of(DType.F32, DType.F16, DType.I8)) {
            NdArray deep = random.array(type, 2, 12, 3, 5);
            add("block row first " + type, new DepthToSpace(2, false), deep);
            add("column first " + type, new DepthToSpace(2, true), deep);
            add(type.toString(), new SpaceToDepth(3), random.array(type, 1, 2, 6, 9));
        }
        add("of nothing", new DepthToSpace(2, false), NdArray.zeros(DType.F32, 0, 4, 2, 2));
        add("by 1", new SpaceToDepth(1), random.array(DType.F32, 1, 2, 3, 5));
    }
}
