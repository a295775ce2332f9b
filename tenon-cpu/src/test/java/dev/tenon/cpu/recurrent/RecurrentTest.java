package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecurrentTest {
    /** The attributes and inputs that all three layers have, at random. */
    private static final class Layer {
        final Seeded random;
        final DType dtype;
        final RnnDirection direction;
        final int directions;
        final boolean batchFirst;
        final long time;
        final long batch;
        final long features;
        final long hidden;
        final double clip;
        final boolean bias;
        final boolean lengths;
        final boolean state;
        final List<NdArray> inputs = new ArrayList<>();

        Layer(long seed, int gates) {
            random = new Seeded(seed);
            dtype = RandomOps.any(random, DType.F32, DType.F32, DType.F32, DType.F64, DType.F16);
            direction = RandomOps.any(random, RnnDirection.values());
            directions = direction == RnnDirection.BIDIRECTIONAL ? 2 : 1;
            batchFirst = flip();
            time = random.nextLong(1, 6);
            batch = random.nextLong(1, 5);
            features = random.nextLong(1, 7);
            hidden = random.nextLong(1, 20);
            clip = flip() ? 0 : 0.8;
            bias = flip();
            lengths = flip();
            state = flip();
            add(batchFirst ? new long[] {batch, time, features} : new long[] {time, batch, features});
            add(directions, gates * hidden, features);
            add(directions, gates * hidden, hidden);
            if (bias) {
                add(directions, 2L * gates * hidden);
            }
            if (lengths) {
                inputs.add(random.integers(DType.I32, 0, time, batch));
            }
            if (state) {
                addState();
            }
        }

        boolean flip() {
            return random.nextLong(0, 1) == 0;
        }

        void add(long... sizes) {
            inputs.add(random.floats(dtype, -1, 1, sizes));
        }

        void addState() {
            add(batchFirst ? new long[] {batch, directions, hidden} : new long[] {directions, batch, hidden});
        }

        List<RnnActivation> activations(RnnActivation... each) {
            List<RnnActivation> all = new ArrayList<>(List.of(each));
            if (directions == 2) {
                all.addAll(List.of(each));
            }
            return all;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void lstm(long seed) {
        Layer layer = new Layer(seed, 4);
        boolean cell = layer.flip();
        if (cell) {
            layer.addState();
        }
        boolean peepholes = layer.flip();
        if (peepholes) {
            layer.add(layer.directions, 3 * layer.hidden);
        }
        RnnActivation out = layer.flip() ? RnnActivation.TANH : new RnnActivation(UnaryFn.AFFINE, 0.5, 0.25);
        Lstm op = new Lstm(
                layer.direction,
                layer.hidden,
                layer.activations(RnnActivation.SIGMOID, RnnActivation.TANH, out),
                layer.clip,
                layer.flip(),
                layer.batchFirst,
                layer.bias,
                layer.lengths,
                layer.state,
                cell,
                peepholes);
        RandomOps.check(op, 64, layer.inputs);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void gru(long seed) {
        Layer layer = new Layer(seed, 3);
        Gru op = new Gru(
                layer.direction,
                layer.hidden,
                layer.activations(RnnActivation.SIGMOID, RnnActivation.TANH),
                layer.clip,
                layer.flip(),
                layer.batchFirst,
                layer.bias,
                layer.lengths,
                layer.state);
        RandomOps.check(op, 64, layer.inputs);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void rnn(long seed) {
        Layer layer = new Layer(seed, 1);
        Rnn op = new Rnn(
                layer.direction,
                layer.hidden,
                layer.activations(RnnActivation.TANH),
                layer.clip,
                layer.batchFirst,
                layer.bias,
                layer.lengths,
                layer.state);
        RandomOps.check(op, 64, layer.inputs);
    }
}
