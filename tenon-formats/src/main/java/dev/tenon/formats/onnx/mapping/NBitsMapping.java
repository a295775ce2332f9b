package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * MatMulNBits of the domain com.microsoft: a product with a weight of 8 or 4 bits, scaled by block, which stays packed:
 * its bytes are read as they lie in the file, unless rows are padded.
 */
final class NBitsMapping {
    private static final int ZERO_POINTS = 3;
    private static final int GROUPS = 4;
    private static final int BIAS = 5;

    private NBitsMapping() {}

    /** [A [..., K], B u8 [N, blocks, bytes], scales [N blocks], zero points?, g_idx?, bias?] → [Y [..., N]]. */
    static Value map(NodeContext n) {
        long bits = n.attrInt("bits", 4);
        if (bits != 4 && bits != 8) {
            throw n.error("bits are " + bits + "; weights of 4 and 8 bits are taken");
        }
        if (n.has(GROUPS)) {
            throw n.error("g_idx is given; blocks are taken in their order, without it");
        }
        long depth = positive(n, "K");
        long rows = positive(n, "N");
        long block = positive(n, "block_size");
        DType type = bits == 4 ? DType.U4 : DType.U8;
        long blocks = Math.ceilDiv(depth, block);
        long whole = SizeMath.product("MatMulNBits", blocks, block);
        DType dtype = n.in(0).dtype();
        List<Value> operands = new ArrayList<>();
        operands.add(n.in(0));
        operands.add(n.constant(rowsOf(n, 1, type, rows, whole, depth)));
        operands.add(n.cast(n.reshape(n.in(2), rows, blocks), dtype));
        if (!n.has(ZERO_POINTS)) {
            operands.add(n.constant(new ConstantData.Splat(TensorType.of(type, rows, blocks), 1L << (bits - 1))));
        } else {
            long padded = bits == 4 ? (blocks + 1) / 2 * 2 : blocks;
            operands.add(n.constant(rowsOf(n, ZERO_POINTS, type, rows, padded, blocks)));
        }
        Value y = n.addAll(new ScaledMatMul(block, true), operands).getFirst();
        return n.has(BIAS) ? n.add(y, n.in(BIAS)) : y;
    }

    private static long positive(NodeContext n, String name) {
        long value = n.attrInt(name);
        if (value < 1) {
            throw n.error(name + " is " + value + "; expected 1 or more");
        }
        return value;
    }

    /** The first {@code kept} of each row's {@code width} elements of a constant of bytes, as they are packed there. */
    private static ConstantData rowsOf(NodeContext n, int input, DType type, long rows, long width, long kept) {
        Value value = n.in(input);
        ConstantData data = value.constant();
        if (data == null || value.dtype() != DType.U8) {
            throw n.error("input " + input + " is " + value.type() + (data == null ? " and computed" : "")
                    + "; expected a constant of u8");
        }
        TensorType whole = TensorType.of(type, rows, width);
        if (data.type().bytes() != whole.bytes()) {
            throw n.error("input " + input + " is " + data.type() + "; expected " + whole.bytes() + " bytes, for "
                    + rows + " rows of " + width + " elements of " + type.bits() + " bits");
        }
        MemorySegment bytes = switch (data) {
            case ConstantData.Dense dense -> dense.segment();
            case ConstantData.Splat splat -> {
                MemorySegment filled = Arena.ofAuto().allocate(whole.bytes(), Long.BYTES);
                splat.fill(filled);
                yield filled;
            }
        };
        if (kept == width) {
            return new ConstantData.Dense(whole, bytes);
        }
        TensorType narrow = TensorType.of(type, rows, kept);
        MemorySegment cut = Arena.ofAuto().allocate(narrow.bytes(), Long.BYTES);
        for (long row = 0; row < rows; row++) {
            for (long i = 0; i < kept; i++) {
                Elements.setBits(type, cut, row * kept + i, Elements.bits(type, bytes, row * width + i));
            }
        }
        return new ConstantData.Dense(narrow, cut);
    }
}
