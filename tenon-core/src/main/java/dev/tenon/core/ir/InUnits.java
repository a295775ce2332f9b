package dev.tenon.core.ir;

import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.convolution.DeformColumns;
import dev.tenon.core.ir.op.image.GridSample;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.Sample;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.core.ir.op.searching.NonZeroIndices;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.core.ir.op.signal.Dft;
import dev.tenon.core.ir.op.state.GatedDeltaNet;
import dev.tenon.core.ir.op.state.SelectiveScan;
import java.util.List;

/**
 * An operation whose results fall into units that are worked out each on its own, from operands of any memory. Over
 * arrays its definition is the reference; a backend takes from it how many units there are and what one costs, to share
 * them among workers.
 *
 * <p>Numbers travel as {@code double}; a result is rounded to its type when it is stored.
 */
public sealed interface InUnits extends Primitive
        permits NonZeroIndices,
                UniqueIndices,
                BoxSelection,
                GridSample,
                RoiAlign,
                MaxRoiPool,
                DeformColumns,
                Dft,
                Random,
                Sample,
                RaggedAttention,
                SelectiveScan,
                GatedDeltaNet,
                DecodeBlocks,
                DequantMatMul,
                ScaledMatMul {
    /** The memory of one application. Reads and writes are checked. Shared by threads that work on different units. */
    interface Operands {
        TensorType input(int index);

        TensorType result(int index);

        double get(int input, long element);

        /** The element as an integer; exact for every integer type. */
        long getLong(int input, long element);

        /** Reads as many elements as the array has. */
        default void read(int input, long from, double[] into) {
            for (int i = 0; i < into.length; i++) {
                into[i] = get(input, from + i);
            }
        }

        /** Reads as many elements of an input of bytes as the array has. */
        default void read(int input, long from, byte[] into) {
            for (int i = 0; i < into.length; i++) {
                into[i] = (byte) getLong(input, from + i);
            }
        }

        void set(int result, long element, double value);

        void setLong(int result, long element, long value);
    }

    /** How many units there are for inputs of those types. */
    long units(List<TensorType> inputs);

    /** About how many reads, multiplies and adds one of them takes. */
    long unitCost(List<TensorType> inputs);

    /**
     * Works out the units [from, to).
     *
     * @throws dev.tenon.core.error.DataException for values that have no result
     */
    void compute(Operands at, long from, long to);

    /** All units, over arrays. */
    @Override
    default List<NdArray> evaluate(List<NdArray> inputs) {
        List<TensorType> types = inputs.stream().map(NdArray::type).toList();
        List<NdArray> results = infer(types).stream().map(NdArray::zeros).toList();
        compute(new ArrayOperands(inputs, results), 0, units(types));
        return results;
    }
}
