package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.KernelArguments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * What follows a library's convolution: output channels whose weights are not all finite are made again, whatever the
 * library wrote, and others are left alone.
 */
final class MendCases {
    private static final int IMAGES = 2;
    private static final int GROUPS = 2;
    private static final int CHANNELS = 5;
    private static final int OUTPUTS = 7;
    private static final int[] INPUT = {6, 9};
    private static final int KERNEL = 3;
    private static final int STRIDE = 2;
    private static final int MOST_DIMS = 8;
    private static final double WRITTEN = 77;
    private static final Epilogue RELU = Epilogue.NONE.withActivation(Unary.of(UnaryFn.RELU));

    private MendCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
            for (boolean transposed : new boolean[] {false, true}) {
                String entry = transposed ? "conv_transpose_mend" : "conv_mend";
                cases.add(new KernelCase(
                        entry, type + " channels that are not finite", stage -> run(stage, type, transposed, entry)));
            }
        }
        return cases;
    }

    private static void run(KernelStage stage, DType type, boolean transposed, String entry) {
        Random random = new Random(3);
        NdArray x =
                ConvCases.normal(random, TensorType.of(type, IMAGES, (long) GROUPS * CHANNELS, INPUT[0], INPUT[1]), 1);
        NdArray w = ConvCases.normal(
                random,
                transposed
                        ? TensorType.of(type, (long) GROUPS * CHANNELS, OUTPUTS, KERNEL, KERNEL)
                        : TensorType.of(type, (long) GROUPS * OUTPUTS, CHANNELS, KERNEL, KERNEL),
                1);
        boolean[] odd = spoilt(w, transposed, random);
        NdArray right = Interpreter.run(convolution(transposed), List.of(x, w)).getFirst();
        double[] expected = right.toDoubles();
        double[] written = new double[expected.length];
        int positions = (int) right.shape().elements(2, 4);
        for (int i = 0; i < expected.length; i++) {
            // a finite number stands everywhere, where a library would have written NaN, zero or what is right
            written[i] = WRITTEN;
            if (!odd[i / positions % odd.length]) {
                expected[i] = WRITTEN;
            }
        }
        DeviceBuffer y = stage.upload(type, written, 0);
        launch(stage, transposed, entry, right, x, w, y);
        double[] made = stage.download(type, y, expected.length, 0);
        TensorType results = new TensorType(type, right.shape());
        Tolerance.of(type, (long) CHANNELS * KERNEL * KERNEL)
                .check(entry, NdArray.of(results, expected), NdArray.of(results, made));
    }

    private static Op convolution(boolean transposed) {
        List<Long> strides = List.of((long) STRIDE, (long) STRIDE);
        List<Long> padding = List.of(1L, 1L);
        List<Long> dilations = List.of(1L, 1L);
        return transposed
                ? new ConvTranspose(strides, padding, padding, dilations, List.of(0L, 0L), GROUPS, RELU)
                : new Conv(strides, padding, padding, dilations, GROUPS, RELU);
    }

    /** Makes some weights infinite or NaN; returns which output channels have one. */
    private static boolean[] spoilt(NdArray w, boolean transposed, Random random) {
        boolean[] odd = new boolean[GROUPS * OUTPUTS];
        for (double other : new double[] {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN}) {
            int at = random.nextInt(w.size());
            w.set(at, other);
            int cells = KERNEL * KERNEL;
            int group = at / (CHANNELS * OUTPUTS * cells);
            odd[transposed ? group * OUTPUTS + at / cells % OUTPUTS : at / (CHANNELS * cells)] = true;
        }
        return odd;
    }

    private static void launch(
            KernelStage stage, boolean transposed, String entry, NdArray right, NdArray x, NdArray w, DeviceBuffer y) {
        DType type = x.dtype();
        KernelFile file = transposed ? WindowCatalog.CONV_TRANSPOSE : WindowCatalog.CONV;
        Kernel kernel = stage.modules().kernel(file, entry, KernelVariant.of(type), 0);
        KernelArguments arguments = stage.arguments().clear();
        arguments.add(stage.upload(type, x.toDoubles(), 0));
        arguments.add(stage.upload(type, w.toDoubles(), 0));
        arguments.add(0L).add(0L).add(y);
        long[] words = sizes(right, transposed);
        arguments.addWords(words.length);
        for (int i = 0; i < words.length; i++) {
            arguments.word(i, words[i]);
        }
        arguments.add(UnaryFn.RELU.code());
        if (type == DType.F64) {
            arguments.add(0.0).add(0.0);
        } else {
            arguments.add(0f).add(0f);
        }
        stage.stream().launch(kernel.function(), Grids.of((long) GROUPS * OUTPUTS * Grids.THREADS), arguments);
    }

    /** The struct ConvSizes of conv_direct.cuh. */
    private static long[] sizes(NdArray right, boolean transposed) {
        long cells = (long) KERNEL * KERNEL;
        long positions = right.shape().elements(2, 4);
        List<long[]> axes = new ArrayList<>();
        for (int i = 0; i < INPUT.length; i++) {
            axes.add(new long[] {INPUT[i], right.shape().size(2 + i), KERNEL, STRIDE, 1, 1});
        }
        long[] head = {
            2,
            IMAGES,
            GROUPS,
            CHANNELS,
            OUTPUTS,
            transposed ? OUTPUTS * cells : cells,
            transposed ? cells : CHANNELS * cells,
            1,
            (long) INPUT[0] * INPUT[1],
            1,
            positions,
            1
        };
        long[] words = Arrays.copyOf(head, head.length + 6 * MOST_DIMS);
        for (int i = 0; i < axes.size(); i++) {
            for (int field = 0; field < 6; field++) {
                words[head.length + field * MOST_DIMS + i] = axes.get(i)[field];
            }
        }
        return words;
    }
}
