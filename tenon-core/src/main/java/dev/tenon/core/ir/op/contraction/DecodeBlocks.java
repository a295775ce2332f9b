package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * The elements of packed blocks, written out; for rows that are looked up, embeddings say.
 *
 * <p>[packed u8 [..., blocks * bytes of a block]] → [y [..., blocks * elements of a block]] of the float type asked
 * for.
 */
public record DecodeBlocks(BlockFormat format, DType dtype) implements InUnits {
    public DecodeBlocks {
        Rules.require("decode_blocks", "the result", dtype, DType::isFloat, "a float type");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.same(mnemonic(), "packed", inputs.getFirst(), DType.U8);
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape packed = inputs.getFirst();
        Rules.rankAtLeast(mnemonic(), "packed", packed, 1);
        return List.of(packed.with(packed.rank() - 1, elements(mnemonic(), format, packed)));
    }

    /** How many elements a row of packed blocks has. */
    static Dim elements(String op, BlockFormat format, Shape packed) {
        Dim row = packed.dim(packed.rank() - 1);
        return row.isFixed()
                ? Rules.divide(op, "packed row of " + format, row, format.bytes())
                        .times(Dim.of(format.elements()))
                : Dim.unknown();
    }

    /** A unit is a block. */
    @Override
    public long units(List<TensorType> inputs) {
        return inputs.getFirst().shape().elements() / format.bytes();
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return SizeMath.estimate(8, format.elements());
    }

    @Override
    public void compute(Operands at, long from, long to) {
        byte[] packed = new byte[format.bytes()];
        double[] block = new double[format.elements()];
        for (long unit = from; unit < to; unit++) {
            at.read(0, unit * packed.length, packed);
            BlockDecoder.decode(format, packed, block, 0);
            for (int i = 0; i < block.length; i++) {
                at.set(0, unit * block.length + i, block[i]);
            }
        }
    }
}
