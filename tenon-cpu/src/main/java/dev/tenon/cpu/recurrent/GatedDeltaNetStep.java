package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.state.GatedDeltaNet;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.util.Arrays;

/**
 * {@link GatedDeltaNet}: a unit is a block of columns of a head's state, which stays in double over all of its steps;
 * keys, queries and decays are read once for the block.
 */
public final class GatedDeltaNetStep extends LoopStep {
    private static final int BLOCK = 32;

    private final DType dtype;
    private final int[] slots;
    private final int output;
    private final int last;
    private final int decay;
    private final boolean single;
    private final int beta;
    private final int initial;
    private final int size;
    private final long columns;
    private final long blocks;
    private final long steps;
    private final long readers;
    private final double factor;

    private GatedDeltaNetStep(GatedDeltaNet op, Node node, CpuLoweringContext context) {
        Shape q = node.input(0).shape();
        Shape v = node.input(2).shape();
        long blocks = Math.ceilDiv(v.size(3), BLOCK);
        long readers = q.size(1) / Math.max(1, v.size(1));
        super(
                "blocks of columns",
                SizeMath.product("gated_delta_net", v.elements(0, 2), blocks),
                SizeMath.estimate(q.size(2), q.size(3), BLOCK, 2 + readers));
        this.dtype = node.outputs().getFirst().dtype();
        this.slots = node.inputs().stream().mapToInt(context::slot).toArray();
        this.output = context.slot(node.outputs().get(0));
        this.last = context.slot(node.outputs().get(1));
        this.decay = op.decay() ? 3 : -1;
        this.single = op.decay() && node.input(3).shape().size(3) == 1;
        this.beta = !op.delta() ? -1 : op.decay() ? 4 : 3;
        this.initial = op.initial() ? slots.length - 1 : -1;
        this.size = SizeMath.toInt("gated_delta_net", q.size(3));
        this.columns = v.size(3);
        this.blocks = blocks;
        this.steps = q.size(2);
        this.readers = readers;
        this.factor = Double.isNaN(op.scale()) ? 1 / Math.sqrt((double) size) : op.scale();
    }

    public static CpuStep lower(GatedDeltaNet op, Node node, CpuLoweringContext context) {
        return new GatedDeltaNetStep(op, node, context);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Block block = new Block(frame);
        for (long unit = from; unit < to; unit++) {
            block.compute(unit / blocks, unit % blocks * BLOCK);
        }
    }

    /** What a thread keeps of one block: its state by rows, and rows of operands. */
    private final class Block {
        private final CpuFrame frame;
        private final double[] state = new double[SizeMath.toInt("gated_delta_net", size, BLOCK)];
        private final double[] row = new double[size];
        private final double[] target = new double[BLOCK];
        private final double[] sums = new double[BLOCK];

        Block(CpuFrame frame) {
            this.frame = frame;
        }

        void compute(long head, long column) {
            int width = (int) Math.min(BLOCK, columns - column);
            Arrays.fill(state, 0);
            for (int i = 0; i < size && initial >= 0; i++) {
                for (int j = 0; j < width; j++) {
                    long element = (head * size + i) * columns + column + j;
                    state[i * BLOCK + j] = Doubles.get(dtype, frame.at(slots[initial]), element);
                }
            }
            for (long step = 0; step < steps; step++) {
                forget(head * steps + step);
                learn(head * steps + step, column, width);
                for (long reader = 0; reader < readers; reader++) {
                    long query = (head * readers + reader) * steps + step;
                    weigh(0, query);
                    for (int j = 0; j < width; j++) {
                        sums[j] *= factor;
                    }
                    Doubles.write(dtype, sums, width, frame.at(output), query * columns + column);
                }
            }
            for (int i = 0; i < size; i++) {
                System.arraycopy(state, i * BLOCK, sums, 0, width);
                Doubles.write(dtype, sums, width, frame.at(last), (head * size + i) * columns + column);
            }
        }

        private void forget(long at) {
            if (decay < 0) {
                return;
            }
            double all = single ? Math.exp(Doubles.get(dtype, frame.at(slots[decay]), at)) : 0;
            for (int i = 0; i < size; i++) {
                double kept = single ? all : Math.exp(Doubles.get(dtype, frame.at(slots[decay]), at * size + i));
                for (int j = i * BLOCK; j < i * BLOCK + BLOCK; j++) {
                    state[j] *= kept;
                }
            }
        }

        private void learn(long at, long column, int width) {
            Doubles.read(dtype, frame.at(slots[2]), at * columns + column, target, width);
            if (beta >= 0) {
                weigh(1, at);
                double rate = Doubles.get(dtype, frame.at(slots[beta]), at);
                for (int j = 0; j < width; j++) {
                    target[j] = rate * (target[j] - sums[j]);
                }
            } else {
                Doubles.read(dtype, frame.at(slots[1]), at * size, row, size);
            }
            for (int i = 0; i < size; i++) {
                double key = row[i];
                for (int j = 0; j < BLOCK; j++) {
                    state[i * BLOCK + j] += key * target[j];
                }
            }
        }

        /** Sums the rows of the state, weighed by a row of an operand. */
        private void weigh(int operand, long at) {
            Doubles.read(dtype, frame.at(slots[operand]), at * size, row, size);
            Arrays.fill(sums, 0);
            for (int i = 0; i < size; i++) {
                double weight = row[i];
                for (int j = 0; j < BLOCK; j++) {
                    sums[j] += weight * state[i * BLOCK + j];
                }
            }
        }
    }
}
