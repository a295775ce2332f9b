package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Convolutions of 1 to 4 channels, as vision networks begin with: channels innermost and first, every epilogue. */
final class FewChannelsCases {
    private static final String KERNEL = "conv_few_channels";

    private static final Epilogue BIAS = Epilogue.NONE.withBias();

    private static final List<Epilogue> EPILOGUES = List.of(
            BIAS.withActivation(Unary.of(UnaryFn.RELU)),
            BIAS.withActivation(new Unary(UnaryFn.SILU, 1, 0)).withResidual(),
            BIAS.withResidual().withActivation(Unary.of(UnaryFn.HARD_SWISH)),
            Epilogue.NONE.withActivation(Unary.of(UnaryFn.TANH)),
            Epilogue.NONE);

    /**
     * A plane's convolution; pairs are rows, columns.
     *
     * @param x images, channels, height, width
     * @param pads before and after
     */
    private record Sizes(long[] x, long outputs, long[] kernel, long[] strides, long[] pads, long[] dilations) {
        static Sizes of(long[] x, long outputs, long kernel, long stride, long pad) {
            return new Sizes(
                    x,
                    outputs,
                    new long[] {kernel, kernel},
                    new long[] {stride, stride},
                    new long[] {pad, pad, pad, pad},
                    new long[] {1, 1});
        }

        Op op(Epilogue epilogue, boolean last) {
            Conv conv = new Conv(
                    List.of(strides[0], strides[1]),
                    List.of(pads[0], pads[1]),
                    List.of(pads[2], pads[3]),
                    List.of(dilations[0], dilations[1]),
                    1,
                    epilogue);
            return last ? new ChannelsLastConv(conv) : conv;
        }

        TensorType image(DType type, boolean last) {
            return last ? TensorType.of(type, x[0], x[2], x[3], x[1]) : TensorType.of(type, x);
        }

        TensorType weights(DType type, boolean last) {
            return last
                    ? TensorType.of(type, outputs, kernel[0], kernel[1], x[1])
                    : TensorType.of(type, outputs, x[1], kernel[0], kernel[1]);
        }

        long depth() {
            return x[1] * kernel[0] * kernel[1];
        }
    }

    private static final List<Sizes> SIZES = List.of(
            Sizes.of(new long[] {1, 1, 5, 7}, 8, 3, 1, 1),
            Sizes.of(new long[] {1, 3, 33, 70}, 32, 3, 2, 1),
            Sizes.of(new long[] {3, 4, 9, 8}, 24, 3, 1, 1),
            Sizes.of(new long[] {1, 3, 45, 47}, 64, 7, 2, 3),
            Sizes.of(new long[] {2, 2, 70, 65}, 16, 3, 1, 1),
            Sizes.of(new long[] {2, 1, 12, 11}, 264, 1, 1, 0),
            Sizes.of(new long[] {1, 4, 20, 21}, 40, 4, 4, 0),
            rectangle(new long[] {2, 2, 13, 11}, 16, new long[] {5, 3}, new long[] {2, 1}, 2, 0, 1, 3),
            // one row, one column, one position
            rectangle(new long[] {1, 1, 1, 300}, 64, new long[] {1, 10}, new long[] {1, 5}, 0, 0, 0, 0),
            rectangle(new long[] {2, 3, 300, 1}, 8, new long[] {7, 1}, new long[] {3, 1}, 3, 0, 2, 0),
            rectangle(new long[] {5, 4, 2, 3}, 48, new long[] {2, 3}, new long[] {9, 9}, 0, 0, 0, 0),
            // padding that is larger than the window, strides that are larger than it, dilated windows
            rectangle(new long[] {1, 3, 4, 5}, 16, new long[] {2, 2}, new long[] {1, 1}, 5, 6, 4, 3),
            rectangle(new long[] {2, 4, 29, 31}, 40, new long[] {2, 2}, new long[] {5, 7}, 1, 0, 0, 1),
            new Sizes(
                    new long[] {1, 3, 20, 23},
                    72,
                    new long[] {3, 3},
                    new long[] {1, 2},
                    new long[] {4, 3, 4, 5},
                    new long[] {4, 3}));

    private FewChannelsCases() {}

    private static Sizes rectangle(long[] x, long outputs, long[] kernel, long[] strides, long... pads) {
        return new Sizes(x, outputs, kernel, strides, pads, new long[] {1, 1});
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        int turn = 0;
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
            for (Sizes sizes : SIZES) {
                for (boolean last : new boolean[] {true, false}) {
                    cases.add(each(sizes, type, last, EPILOGUES.get(turn++ % EPILOGUES.size())));
                }
            }
        }
        return cases;
    }

    private static KernelCase each(Sizes sizes, DType type, boolean last, Epilogue epilogue) {
        TensorType image = sizes.image(type, last);
        TensorType weights = sizes.weights(type, last);
        Op op = sizes.op(epilogue, last);
        String what = image + " by " + weights + " " + op.mnemonic();
        return new KernelCase(KERNEL, what, stage -> {
            Random random = new Random(what.hashCode());
            List<NdArray> inputs = new ArrayList<>(List.of(
                    ConvCases.normal(random, image, 1),
                    ConvCases.normal(random, weights, 1 / Math.sqrt((double) sizes.depth()))));
            if (epilogue.bias()) {
                inputs.add(ConvCases.normal(random, TensorType.of(type, sizes.outputs), 1));
            }
            if (epilogue.residual()) {
                TensorType result = new TensorType(
                        type,
                        sizes.op(Epilogue.NONE, last)
                                .shapes(List.of(image.shape(), weights.shape()))
                                .getFirst());
                inputs.add(ConvCases.normal(random, result, 1));
            }
            StepRun.Result result = new StepRun(stage).run(op, inputs);
            String tier = result.step().tier();
            if (!tier.contains(KERNEL)) {
                throw new AssertionError(
                        tier + " is not " + KERNEL + ": " + result.step().passedOver());
            }
            Tolerance.of(type, sizes.depth())
                    .check(tier, Interpreter.run(op, inputs).getFirst(), result.output());
        });
    }
}
