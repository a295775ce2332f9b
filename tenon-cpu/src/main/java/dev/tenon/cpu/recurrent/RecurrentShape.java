package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.state.RnnDirection;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;

/**
 * The sizes and operands of a recurrent layer. Slots of inputs that it does not have are -1.
 *
 * <p>Work in workspace is f32 for an f32 layer and f64 for all others; {@link #get} and {@link #set} know which.
 *
 * @param gates blocks of {@code hidden} rows that the weights have
 * @param bounded bound of the activations' arguments, 0 for none
 */
record RecurrentShape(
        DType dtype,
        RnnDirection direction,
        int hidden,
        int gates,
        double bounded,
        boolean batchFirst,
        int time,
        int batch,
        int features,
        int x,
        int w,
        int r,
        int bias,
        int lengths,
        int initialHidden,
        int initialCell,
        int peepholes) {

    int directions() {
        return direction == RnnDirection.BIDIRECTIONAL ? 2 : 1;
    }

    boolean isBackwards(int d) {
        return direction == RnnDirection.REVERSE || d == 1;
    }

    /** Rows of the weights: columns of a step's products. */
    int rows() {
        return gates * hidden;
    }

    /** Bytes of an element of work. */
    int width() {
        return dtype == DType.F32 ? 4 : 8;
    }

    double get(MemorySegment work, long byteOffset, long index) {
        return dtype == DType.F32
                ? work.get(Raw.F32, byteOffset + index * 4)
                : work.get(Raw.F64, byteOffset + index * 8);
    }

    void set(MemorySegment work, long byteOffset, long index, double value) {
        if (dtype == DType.F32) {
            work.set(Raw.F32, byteOffset + index * 4, (float) value);
        } else {
            work.set(Raw.F64, byteOffset + index * 8, value);
        }
    }

    /** The first element of a sequence at a time in x, its features lying one after another. */
    long inX(int b, int t) {
        return (batchFirst ? (long) b * time + t : (long) t * batch + b) * features;
    }

    /** The first element of a state in y. */
    long inY(int d, int b, int t) {
        return (batchFirst ? ((long) b * time + t) * directions() + d : ((long) t * directions() + d) * batch + b)
                * hidden;
    }

    /** The first element of a state in the initial and final ones. */
    long inState(int d, int b) {
        return (batchFirst ? (long) b * directions() + d : (long) d * batch + b) * hidden;
    }

    /** Takes the operands from a node in the order that its flags give. */
    static final class Builder {
        private final Node node;
        private final CpuLoweringContext context;
        private final RnnDirection direction;
        private final int hidden;
        private final int gates;
        private double bounded;
        private boolean batchFirst;
        private int next = 3;
        private final int[] optional = new int[5];

        Builder(Node node, CpuLoweringContext context, RnnDirection direction, long hidden, int gates) {
            this.node = node;
            this.context = context;
            this.direction = direction;
            this.hidden = SizeMath.toInt("recurrent layer", hidden);
            this.gates = gates;
        }

        Builder options(double clip, boolean layout) {
            bounded = clip;
            batchFirst = layout;
            return this;
        }

        Builder inputs(boolean bias, boolean lengths, boolean hiddenState, boolean cell, boolean peepholes) {
            boolean[] there = {bias, lengths, hiddenState, cell, peepholes};
            for (int i = 0; i < there.length; i++) {
                optional[i] = there[i] ? context.slot(node.input(next++)) : -1;
            }
            return this;
        }

        RecurrentShape build() {
            Shape sequence = node.input(0).shape();
            return new RecurrentShape(
                    node.output().dtype(),
                    direction,
                    hidden,
                    gates,
                    bounded,
                    batchFirst,
                    SizeMath.toInt("recurrent layer", sequence.size(batchFirst ? 1 : 0)),
                    SizeMath.toInt("recurrent layer", sequence.size(batchFirst ? 0 : 1)),
                    SizeMath.toInt("recurrent layer", sequence.size(2)),
                    context.slot(node.input(0)),
                    context.slot(node.input(1)),
                    context.slot(node.input(2)),
                    optional[0],
                    optional[1],
                    optional[2],
                    optional[3],
                    optional[4]);
        }
    }
}
