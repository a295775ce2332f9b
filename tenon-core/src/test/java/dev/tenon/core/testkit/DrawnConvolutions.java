package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.ArrayList;
import java.util.List;

/**
 * Convolutions with every attribute drawn: 1 to 4 spatial dims, groups, single channels, strides, dilations, pads of
 * each side, transposed with output padding, channels innermost, every epilogue, weights of which some are not finite,
 * no images. As many as the property {@code tenon.convolutions} says, 150 by default.
 */
public final class DrawnConvolutions {
    private static final List<UnaryFn> FUNCTIONS =
            List.of(UnaryFn.RELU, UnaryFn.GELU, UnaryFn.TANH, UnaryFn.HARD_SWISH, UnaryFn.SIGMOID);
    private static final long MOST_MULTIPLICATIONS = 60_000;

    private final Seeded random;
    private final int seed;

    private DrawnConvolutions(int seed) {
        this.seed = seed;
        this.random = new Seeded(seed * 1_000_003L);
    }

    /** How many are asked for. */
    public static int count() {
        return Integer.getInteger("tenon.convolutions", 150);
    }

    /** One of them; the same for the same seed. */
    public static OpCase of(int seed) {
        return new DrawnConvolutions(seed).draw();
    }

    private OpCase draw() {
        DType dtype = OpCases.FLOATS.get(seed % OpCases.FLOATS.size());
        int axes = (int) Math.max(1, random.nextLong(-1, 4));
        boolean single = random.nextLong(0, 4) == 0;
        long groups = single ? random.nextLong(1, 24) : random.nextLong(0, 3) == 0 ? random.nextLong(1, 4) : 1;
        long channels = single ? 1 : random.nextLong(1, random.nextLong(0, 1) == 0 ? 6 : 24);
        long outputs = single ? random.nextLong(1, 2) : random.nextLong(1, random.nextLong(0, 1) == 0 ? 8 : 40);
        List<Long> strides = each(axes, 1, 3);
        List<Long> before = each(axes, 0, 3);
        List<Long> after = each(axes, 0, 3);
        List<Long> dilations = each(axes, 1, random.nextLong(1, 3));
        List<Long> kernel = each(axes, 1, axes == 1 ? 9 : axes == 2 ? 5 : axes == 3 ? 3 : 2);
        boolean transposed = random.nextLong(0, 3) == 0;
        List<Long> input = new ArrayList<>();
        long work = groups * channels * outputs;
        for (int i = 0; i < axes; i++) {
            long pads = before.get(i) + after.get(i);
            long least = transposed ? 1 + pads : Math.max(1, (kernel.get(i) - 1) * dilations.get(i) + 1 - pads);
            input.add(least + random.nextLong(0, axes == 1 ? 80 : axes == 2 ? 12 : 3));
            work *= input.get(i) * kernel.get(i);
        }
        long batch = random.nextLong(0, 39) == 0 ? 0 : Math.clamp(MOST_MULTIPLICATIONS / Math.max(1, work), 1, 3);
        Epilogue epilogue = epilogue();
        if (transposed) {
            List<Long> padding = strides.stream()
                    .map(stride -> random.nextLong(0, stride - 1))
                    .toList();
            Op op = new ConvTranspose(strides, before, after, dilations, padding, groups, epilogue);
            long[] w = sizes(groups * channels, outputs, kernel);
            return complete(op, epilogue, dtype, sizes(batch, groups * channels, input), w, groups * outputs);
        }
        Conv conv = new Conv(strides, before, after, dilations, groups, epilogue);
        long[] x = sizes(batch, groups * channels, input);
        long[] w = sizes(groups * outputs, channels, kernel);
        boolean last = random.nextLong(0, 3) == 0;
        return last
                ? complete(new ChannelsLastConv(conv), epilogue, dtype, turned(x), turned(w), w[0])
                : complete(conv, epilogue, dtype, x, w, w[0]);
    }

    private List<Long> each(int count, long least, long most) {
        List<Long> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(random.nextLong(least, most));
        }
        return values;
    }

    private Epilogue epilogue() {
        Epilogue epilogue = random.nextLong(0, 1) == 0 ? Epilogue.NONE.withBias() : Epilogue.NONE;
        Unary function = Unary.of(FUNCTIONS.get((int) random.nextLong(0, FUNCTIONS.size() - 1)));
        return switch ((int) random.nextLong(0, 5)) {
            case 0 -> epilogue.withActivation(function);
            case 1 -> epilogue.withResidual();
            case 2 -> epilogue.withActivation(function).withResidual();
            case 3 -> epilogue.withResidual().withActivation(function);
            default -> epilogue;
        };
    }

    private static long[] sizes(long first, long second, List<Long> rest) {
        long[] all = new long[2 + rest.size()];
        all[0] = first;
        all[1] = second;
        for (int i = 0; i < rest.size(); i++) {
            all[2 + i] = rest.get(i);
        }
        return all;
    }

    /** With the second size at the end. */
    private static long[] turned(long[] sizes) {
        long[] all = new long[sizes.length];
        all[0] = sizes[0];
        System.arraycopy(sizes, 2, all, 1, sizes.length - 2);
        all[all.length - 1] = sizes[1];
        return all;
    }

    private OpCase complete(Op op, Epilogue epilogue, DType dtype, long[] x, long[] w, long channels) {
        NdArray weights = random.floats(dtype, -0.5, 0.5, w);
        if (random.nextLong(0, 7) == 0) {
            weights.set((int) random.nextLong(0, weights.size() - 1), Double.POSITIVE_INFINITY);
            weights.set((int) random.nextLong(0, weights.size() - 1), Double.NaN);
        }
        List<NdArray> inputs = new ArrayList<>(List.of(random.array(dtype, x), weights));
        if (epilogue.bias()) {
            inputs.add(random.array(dtype, channels));
        }
        if (epilogue.residual()) {
            inputs.add(random.array(dtype, shape(op, x, w).sizes()));
        }
        long depth = op instanceof ConvTranspose
                ? Shape.of(w).elements() / w[1]
                : Shape.of(w).elements() / w[0];
        String name = "convolution " + seed + ": " + op + " of " + dtype + " " + Shape.of(x) + " by " + Shape.of(w);
        return new OpCase(name, op, inputs, Math.max(1, depth));
    }

    private static Shape shape(Op op, long[] x, long[] w) {
        Op plain = switch (op) {
            case Conv conv -> conv.with(Epilogue.NONE);
            case ConvTranspose back -> back.with(Epilogue.NONE);
            case ChannelsLastConv(Conv conv) -> new ChannelsLastConv(conv.with(Epilogue.NONE));
            default -> throw new IllegalArgumentException(op.toString());
        };
        return plain.shapes(List.of(Shape.of(x), Shape.of(w))).getFirst();
    }
}
