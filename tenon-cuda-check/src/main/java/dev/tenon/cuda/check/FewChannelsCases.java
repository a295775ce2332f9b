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
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.lower.step.ConvForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Convolutions of 1 to 4 channels, as vision networks begin with: channels innermost and first, every epilogue, by each
 * kernel that takes them.
 */
final class FewChannelsCases {
    private static final String PLAIN = "conv_few_channels";
    private static final String TENSORS = "conv_few_channels_mma";
    private static final List<ConvForm> ON_TENSOR_CORES =
            List.of(ConvForm.FEW_CHANNELS_64X32, ConvForm.FEW_CHANNELS_32X32, ConvForm.FEW_CHANNELS_32X64);
    private static final double[] SPECIAL = {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN};

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
     * @param conv strides, padding and dilations, without an epilogue
     */
    private record Sizes(List<Long> x, long outputs, List<Long> kernel, Conv conv) {
        static Sizes of(long[] x, long outputs, long kernel, long stride, long pad) {
            return of(x, outputs, new long[] {kernel, kernel}, new long[] {stride, stride}, pad, pad, pad, pad);
        }

        /** @param pads before and after */
        static Sizes of(long[] x, long outputs, long[] kernel, long[] strides, long... pads) {
            return dilated(x, outputs, kernel, strides, List.of(1L, 1L), pads);
        }

        static Sizes dilated(
                long[] x, long outputs, long[] kernel, long[] strides, List<Long> dilations, long... pads) {
            List<Long> all = listed(pads);
            Conv conv = new Conv(listed(strides), all.subList(0, 2), all.subList(2, 4), dilations, 1, Epilogue.NONE);
            return new Sizes(listed(x), outputs, listed(kernel), conv);
        }

        private static List<Long> listed(long... values) {
            return Arrays.stream(values).boxed().toList();
        }

        Op op(Epilogue epilogue, boolean last) {
            Conv whole = conv.with(epilogue);
            return last ? new ChannelsLastConv(whole) : whole;
        }

        TensorType image(DType type, boolean last) {
            return last
                    ? TensorType.of(type, x.get(0), x.get(2), x.get(3), x.get(1))
                    : TensorType.of(type, x.get(0), x.get(1), x.get(2), x.get(3));
        }

        TensorType weights(DType type, boolean last) {
            return last
                    ? TensorType.of(type, outputs, kernel.get(0), kernel.get(1), x.get(1))
                    : TensorType.of(type, outputs, x.get(1), kernel.get(0), kernel.get(1));
        }

        long depth() {
            return x.get(1) * kernel.get(0) * kernel.get(1);
        }

        /** Whether every form has room for its weights and cells, which are twice as long in f32. */
        boolean surelyFits(DType type) {
            return type != DType.F32 || depth() < 64;
        }

        /** Whether tensor cores take it: cells of a window are neighbours along rows. */
        boolean isDense() {
            return conv.dilations().get(1) == 1 || kernel.get(1) == 1;
        }
    }

    private static final List<Sizes> SIZES = List.of(
            Sizes.of(new long[] {1, 1, 5, 7}, 8, 3, 1, 1),
            Sizes.of(new long[] {1, 3, 33, 70}, 32, 3, 2, 1),
            Sizes.of(new long[] {3, 4, 9, 8}, 24, 3, 1, 1),
            Sizes.of(new long[] {1, 3, 45, 47}, 64, 7, 2, 3),
            Sizes.of(new long[] {2, 2, 70, 65}, 16, 3, 1, 1),
            Sizes.of(new long[] {2, 1, 12, 11}, 264, 1, 1, 0),
            Sizes.of(new long[] {3, 3, 151, 130}, 32, 3, 2, 1), // 8 positions per thread on a small device
            Sizes.of(new long[] {1, 4, 20, 21}, 40, 4, 4, 0),
            Sizes.of(new long[] {2, 2, 13, 11}, 16, new long[] {5, 3}, new long[] {2, 1}, 2, 0, 1, 3),
            // one row, one column, one position
            Sizes.of(new long[] {1, 1, 1, 300}, 64, new long[] {1, 10}, new long[] {1, 5}, 0, 0, 0, 0),
            Sizes.of(new long[] {2, 3, 300, 1}, 8, new long[] {7, 1}, new long[] {3, 1}, 3, 0, 2, 0),
            Sizes.of(new long[] {5, 4, 2, 3}, 48, new long[] {2, 3}, new long[] {9, 9}, 0, 0, 0, 0),
            // padding that is larger than the window, strides that are larger than it, dilated windows
            Sizes.of(new long[] {1, 3, 4, 5}, 16, new long[] {2, 2}, new long[] {1, 1}, 5, 6, 4, 3),
            Sizes.of(new long[] {2, 4, 29, 31}, 40, new long[] {2, 2}, new long[] {5, 7}, 1, 0, 0, 1),
            Sizes.dilated(
                    new long[] {1, 3, 20, 23}, 72, new long[] {3, 3}, new long[] {1, 2}, List.of(4L, 3L), 4, 3, 4, 5),
            Sizes.dilated(
                    new long[] {1, 3, 19, 24}, 96, new long[] {3, 5}, new long[] {2, 1}, List.of(3L, 1L), 1, 2, 2, 0),
            // lines of x that begin at odd elements, where windows begin at even ones and at odd ones
            Sizes.of(new long[] {2, 3, 27, 35}, 128, 4, 4, 1),
            // lines of x that are whole chunks of 16 bytes, windows at even and at odd elements
            Sizes.of(new long[] {2, 3, 31, 64}, 40, 3, 2, 1),
            Sizes.of(new long[] {1, 3, 40, 48}, 64, 7, 2, 2),
            Sizes.of(new long[] {2, 4, 17, 26}, 24, 5, 1, 2),
            Sizes.of(new long[] {1, 1, 20, 400}, 8, new long[] {1, 200}, new long[] {3, 2}, 0, 150, 0, 7),
            Sizes.of(new long[] {2, 3, 14, 17}, 32, 5, 3, 2));

    /** Blocks take several tiles: on a device of few multiprocessors, on a large one. */
    private static final Sizes TILES = Sizes.of(new long[] {3, 3, 151, 136}, 32, 3, 2, 1);

    private static final Sizes MANY_TILES = Sizes.of(new long[] {8, 3, 266, 272}, 8, 3, 2, 1);

    /** Elements of windows per line are odd, then even. */
    private static final List<Sizes> ODD_AND_EVEN = List.of(
            Sizes.of(new long[] {2, 3, 19, 22}, 32, 3, 2, 1),
            Sizes.of(new long[] {2, 3, 19, 24}, 32, 3, 2, 1),
            Sizes.of(new long[] {1, 1, 13, 15}, 16, 4, 1, 1));

    /** What holds elements that are not finite. */
    private enum Special {
        NOTHING,
        IMAGE,
        WEIGHTS
    }

    private record Variant(DType type, boolean last, Epilogue epilogue, boolean tensors, Special special) {
        String kernel() {
            return tensors ? TENSORS : PLAIN;
        }
    }

    private FewChannelsCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        int turn = 0;
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
            for (Sizes sizes : SIZES) {
                for (boolean last : new boolean[] {true, false}) {
                    Epilogue epilogue = EPILOGUES.get(turn++ % EPILOGUES.size());
                    addEach(cases, sizes, new Variant(type, last, epilogue, false, Special.NOTHING));
                }
            }
            addEach(cases, TILES, new Variant(type, true, EPILOGUES.getFirst(), false, Special.NOTHING));
            Epilogue silu = EPILOGUES.get(1);
            KernelCase many = each(MANY_TILES, new Variant(type, type == DType.F16, silu, true, Special.NOTHING));
            cases.add(new KernelCase(many.kernel(), many.what(), true, many.check()));
            for (Sizes sizes : ODD_AND_EVEN) {
                for (boolean last : new boolean[] {true, false}) {
                    Epilogue relu = EPILOGUES.getFirst();
                    addEach(cases, sizes, new Variant(type, last, relu, false, Special.IMAGE));
                    addEach(cases, sizes, new Variant(type, last, relu, false, Special.WEIGHTS));
                }
            }
        }
        return cases;
    }

    private static void addEach(List<KernelCase> to, Sizes sizes, Variant variant) {
        to.add(each(sizes, variant));
        if (sizes.isDense()) {
            to.add(each(sizes, new Variant(variant.type, variant.last, variant.epilogue, true, variant.special)));
        }
    }

    private static KernelCase each(Sizes sizes, Variant variant) {
        DType type = variant.type;
        TensorType image = sizes.image(type, variant.last);
        TensorType weights = sizes.weights(type, variant.last);
        Op op = sizes.op(variant.epilogue, variant.last);
        String special = variant.special == Special.NOTHING
                ? ""
                : ", " + variant.special.name().toLowerCase(Locale.ROOT) + " not all finite";
        String what = image + " by " + weights + special + " " + op.mnemonic();
        return new KernelCase(variant.kernel(), what, stage -> {
            List<NdArray> inputs = inputs(sizes, variant, new Random(what.hashCode()));
            NdArray expected = Interpreter.run(op, inputs).getFirst();
            for (ConvForm form : variant.tensors ? ON_TENSOR_CORES : List.of(ConvForm.FEW_CHANNELS)) {
                // TF32 is for tensor cores; plain products are exact in either precision
                Precision precision = variant.tensors ? Precision.FAST : Precision.STRICT;
                StepRun.Result result = new StepRun(stage, Blas.none("not asked"), precision)
                        .with(form)
                        .run(op, inputs);
                String tier = result.step().tier();
                if (variant.tensors && !tier.contains(TENSORS) && !sizes.surelyFits(type)) {
                    continue; // a form whose weights and cells have no room in shared memory
                }
                String entry = variant.tensors ? form.name().replace("CHANNELS", "CHANNELS_MMA") : form.name();
                boolean right = tier.contains("conv_" + entry.toLowerCase(Locale.ROOT));
                if (!right || tier.contains(TENSORS) != variant.tensors) {
                    throw new AssertionError(
                            tier + " is not " + form + ": " + result.step().passedOver());
                }
                Tolerance base = Tolerance.of(type, sizes.depth());
                double step = variant.tensors && type == DType.F32 ? 4 * Tolerance.epsilon(DType.F16) : 0; // TF32
                new Tolerance(base.relative() + step, base.absolute() + step).check(tier, expected, result.output());
            }
        });
    }

    private static List<NdArray> inputs(Sizes sizes, Variant variant, Random random) {
        DType type = variant.type;
        TensorType image = sizes.image(type, variant.last);
        TensorType weights = sizes.weights(type, variant.last);
        List<NdArray> inputs = new ArrayList<>(List.of(
                ConvCases.normal(random, image, 1),
                ConvCases.normal(random, weights, 1 / Math.sqrt((double) sizes.depth()))));
        if (variant.epilogue.bias()) {
            inputs.add(ConvCases.normal(random, TensorType.of(type, sizes.outputs), 1));
        }
        if (variant.epilogue.residual()) {
            TensorType result = new TensorType(
                    type,
                    sizes.op(Epilogue.NONE, variant.last)
                            .shapes(List.of(image.shape(), weights.shape()))
                            .getFirst());
            inputs.add(ConvCases.normal(random, result, 1));
        }
        if (variant.special != Special.NOTHING) {
            NdArray some = inputs.get(variant.special == Special.IMAGE ? 0 : 1);
            for (int i = 0; i < 2 * SPECIAL.length; i++) {
                some.set(random.nextInt(some.size()), SPECIAL[i % SPECIAL.length]);
            }
        }
        return inputs;
    }
}
