package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.GemmProblem;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.nativelib.Switches;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which implementation multiplies, decided from sizes, types and what is there alone. The ladder: g gemv, w warpgroups,
 * 0q quantised, 0 mixed, 1 fused, 2 blas, 3 tensor core, 4 scalar.
 *
 * @param tier the first that takes it
 * @param lt whether cuBLASLt makes the product, which lets algorithms be timed, else cuBLAS; false for our own kernels
 * @param fused whether the product comes with its epilogue, else a kernel of ours finishes it
 * @param tf32 whether operands may be rounded to TF32
 * @param passedOver each tier before it, and why
 */
record MatMulChoice(Tier tier, boolean lt, boolean fused, boolean tf32, List<String> passedOver) {
    /** The tiers there are kernels for. */
    enum Tier {
        /** Nothing to compute. */
        NONE("none"),
        GEMV("g gemv"),
        MIXED("0 mixed"),
        FUSED("1 fused"),
        BLAS("2 blas"),
        /** Our kernels of warpgroups, where these are sooner than a library and a second pass for its activation. */
        WARPGROUPS("w warpgroups"),
        TENSOR_CORE("3 tensor core"),
        SCALAR("4 scalar");

        final String word;

        Tier(String word) {
            this.word = word;
        }
    }

    /**
     * What is there.
     *
     * @param cublas why there is no cuBLAS; empty where there is. Asked for only where cuBLASLt does not serve, since
     *     it starts cuBLAS
     * @param lt why there is no cuBLASLt, or why it does not take this product
     * @param device what multiplies
     * @param form which of our kernels are wanted
     */
    record Offer(Supplier<String> cublas, String lt, DeviceProperties device, ProductForm form) {
        /** The same without cuBLASLt. */
        Offer withoutLt(String reason) {
            return new Offer(cublas, reason, device, form);
        }
    }

    /** Whether our kernels make products whose activation a library would leave to another pass. */
    private static final boolean OWN_EPILOGUES = Switches.on("TENON_OWN_EPILOGUES", false);

    private static final String QUANTISED = "0q quantised: ";
    private static final String FORCED = "TENON_CUDA_WMMA is 1";
    /** Bytes of a weight from which {@code gemv} is sooner than others. */
    static final long GEMV_WEIGHT = 1 << 20;

    private static final long LT_BATCH = 65535;
    private static final long FEW_RESULTS = 5 << 18;
    private static final long LEAST_ROWS = 16;
    private static final long LEAST_SUM = 64;
    private static final long MOST_SUM = 1024;
    /** More calls than this for one product cost more than they save. */
    static final int MOST_CALLS = 64;

    MatMulChoice {
        passedOver = List.copyOf(passedOver);
    }

    /** The same for a dequantised weight, with the reason why no quantised tier takes that. */
    MatMulChoice notQuantised(String reason) {
        List<String> all = new ArrayList<>(passedOver);
        all.removeIf(text -> text.startsWith(QUANTISED));
        all.add(Math.min(1, all.size()), QUANTISED + reason);
        return new MatMulChoice(tier, lt, fused, tf32, all);
    }

    /**
     * The choice of the tier of warpgroups, which the tiers before it leave.
     *
     * @param library why it is taken instead of this choice's; empty where its turn is before
     */
    MatMulChoice byWarpgroups(String library) {
        List<String> passed = new ArrayList<>(passedOver.stream()
                .filter(text -> text.startsWith(Tier.GEMV.word))
                .toList());
        if (!library.isEmpty()) {
            passed.add(tier.word + ": " + library);
        }
        return new MatMulChoice(Tier.WARPGROUPS, false, true, tf32, passed);
    }

    /** The same with the reason why the tier of warpgroups does not take it. */
    MatMulChoice notByWarpgroups(String reason) {
        List<String> all = new ArrayList<>(passedOver);
        all.add(Math.min(1, all.size()), Tier.WARPGROUPS.word + ": " + reason);
        return new MatMulChoice(tier, lt, fused, tf32, all);
    }

    static MatMulChoice of(DType dtype, MatMulShape shape, Epilogue epilogue, Offer offer, Precision precision) {
        if (shape.isEmpty()) {
            return new MatMulChoice(Tier.NONE, false, false, false, List.of());
        }
        String tensorCores = tensorCores(dtype, shape, offer, precision);
        boolean tf32 = dtype == DType.F32
                && precision == Precision.FAST
                && offer.device.architecture().number() >= 80;
        List<String> passed = new ArrayList<>();
        if (offer.form == ProductForm.TENSOR_CORES && tensorCores.isEmpty()) {
            for (String word : List.of("g gemv", "0q quantised", Tier.MIXED.word, Tier.FUSED.word, Tier.BLAS.word)) {
                passed.add(word + ": " + FORCED);
            }
            return new MatMulChoice(Tier.TENSOR_CORE, false, true, tf32, passed);
        }
        String gemv = gemv(dtype, shape, epilogue, offer, tensorCores);
        if (gemv.isEmpty() && !OWN_EPILOGUES) {
            return new MatMulChoice(Tier.GEMV, false, true, false, List.of());
        }
        if (tensorCores.isEmpty()
                && isLeftOver(dtype, epilogue)
                && (OWN_EPILOGUES || isSoonerWhole(dtype, shape, epilogue, offer))) {
            String reason = OWN_EPILOGUES ? "TENON_OWN_EPILOGUES is 1" : "few results";
            passed.add(Tier.GEMV.word + ": " + (gemv.isEmpty() ? reason : gemv));
            for (String word : List.of("0q quantised", Tier.MIXED.word, Tier.FUSED.word, Tier.BLAS.word)) {
                passed.add(word + ": " + reason + ", and the library leaves the activation to another pass");
            }
            return new MatMulChoice(Tier.TENSOR_CORE, false, true, tf32, passed);
        }
        passed.add(Tier.GEMV.word + ": " + gemv);
        passed.add(QUANTISED + "the weight is " + dtype);
        MatMulChoice library = library(dtype, shape, epilogue, offer, precision == Precision.STRICT, tf32, passed);
        if (library != null) {
            return library;
        }
        if (tensorCores.isEmpty()) {
            return new MatMulChoice(Tier.TENSOR_CORE, false, true, tf32, passed);
        }
        passed.add(Tier.TENSOR_CORE.word + ": " + tensorCores);
        return new MatMulChoice(Tier.SCALAR, false, true, false, passed);
    }

    /**
     * Whether our kernel and its short activation take less time than a library's product and a second launch, as
     * measured on an H200: where results are few.
     */
    private static boolean isSoonerWhole(DType dtype, MatMulShape shape, Epilogue epilogue, Offer offer) {
        return offer.form == ProductForm.BY_CHOICE
                && offer.lt.isEmpty()
                && WarpgroupProducts.isShort(dtype, epilogue)
                && !epilogue.residual()
                && shape.batch().isEmpty()
                && SizeMath.estimate(shape.m(), shape.n()) <= FEW_RESULTS
                && shape.m() > LEAST_ROWS
                && shape.k() >= LEAST_SUM
                && shape.k() <= MOST_SUM
                && MmaPlan.alongA(dtype, shape)
                && MmaPlan.alongB(dtype, shape);
    }

    /** Whether a product of halves has an activation that no library applies. */
    private static boolean isLeftOver(DType dtype, Epilogue epilogue) {
        return (dtype == DType.F16 || dtype == DType.BF16)
                && epilogue.activation() != null
                && activation(epilogue.activation()) == null;
    }

    /** The first tier of a library that takes it; null where none does. Adds to those passed over. */
    private static @Nullable MatMulChoice library(
            DType dtype,
            MatMulShape shape,
            Epilogue epilogue,
            Offer offer,
            boolean strict,
            boolean tf32,
            List<String> passed) {
        boolean half = dtype == DType.F16 || dtype == DType.BF16;
        String sum = shape.k() == 0 ? "the sum is empty" : "";
        String lt = first(sum, offer.lt, evenly(shape));
        String epilogueOfLt = first(unfusable(epilogue), strict ? inexact(epilogue, half) : "");
        String mixed = half ? (lt.isEmpty() ? "" : cublas(offer, shape)) : "operands are " + dtype;
        if (mixed.isEmpty()) {
            boolean fused = epilogueOfLt.isEmpty() && (lt.isEmpty() || epilogue.isEmpty());
            return new MatMulChoice(Tier.MIXED, lt.isEmpty(), fused, false, passed);
        }
        passed.add(Tier.MIXED.word + ": " + mixed);
        String fusing = first(
                half ? mixed : "",
                epilogue.isEmpty() ? "there is no epilogue" : epilogueOfLt,
                dtype == DType.F64 ? "cuBLASLt has no epilogue for f64" : "",
                lt);
        if (fusing.isEmpty()) {
            return new MatMulChoice(Tier.FUSED, true, true, tf32, passed);
        }
        passed.add(Tier.FUSED.word + ": " + fusing);
        boolean byLt = lt.isEmpty() && dtype != DType.F64;
        String cublas = byLt ? "" : cublas(offer, shape);
        if (cublas.isEmpty()) {
            return new MatMulChoice(Tier.BLAS, byLt, epilogue.isEmpty(), tf32, passed);
        }
        passed.add(Tier.BLAS.word + ": " + cublas);
        return null;
    }

    /** Why tensor cores are not asked or cannot; empty where they may. */
    private static String tensorCores(DType dtype, MatMulShape shape, Offer offer, Precision precision) {
        return switch (offer.form) {
            case NO_TENSOR_CORES -> "TENON_CUDA_WMMA is 0";
            case PLAIN -> "the plain kernel is asked for";
            case BY_CHOICE, FEW_ROWS, ROWS, RING, PARTS, TENSOR_CORES ->
                MmaPlan.refusal(dtype, shape, precision, offer.device);
        };
    }

    private static String cublas(Offer offer, MatMulShape shape) {
        return first(shape.k() == 0 ? "the sum is empty" : "", calls(shape), offer.cublas.get());
    }

    /** The activation as cuBLASLt applies it; null where it does not. */
    static GemmProblem.@Nullable Activation activation(@Nullable Unary function) {
        if (function == null) {
            return GemmProblem.Activation.NONE;
        }
        return function.fn() == UnaryFn.RELU ? GemmProblem.Activation.RELU : null;
    }

    /** Why cuBLASLt cannot apply an epilogue; empty where it can. */
    private static String unfusable(Epilogue epilogue) {
        Unary function = epilogue.activation();
        if (activation(function) == null && function != null) {
            return function.fn() == UnaryFn.GELU_TANH
                    ? "the library's gelu_tanh is NaN at -inf, and elsewhere off by 5e-6"
                    : name(function) + " is not relu";
        }
        return function != null && epilogue.residual()
                ? "the library adds a residual before the activation, not after it"
                : "";
    }

    /**
     * Why cuBLASLt's epilogue is further off than one rounding of the result, as measured on an H200; empty where it is
     * not.
     */
    private static String inexact(Epilogue epilogue, boolean half) {
        return half && epilogue.bias() && epilogue.residual()
                ? "the library rounds between residual and bias, which is not what STRICT asks for"
                : "";
    }

    private static String gemv(DType dtype, MatMulShape shape, Epilogue epilogue, Offer offer, String tensorCores) {
        String refusal = GemvPlan.refusal(dtype, shape);
        if (offer.form == ProductForm.FEW_ROWS || !refusal.isEmpty()) {
            return refusal;
        }
        long weight = SizeMath.product("matmul", shape.k(), shape.n(), dtype.bytes());
        boolean library = offer.lt.isEmpty() || offer.cublas.get().isEmpty();
        boolean others = library || tensorCores.isEmpty();
        int soonest = GemvPlan.soonest(dtype, shape);
        return first(
                offer.form == ProductForm.PLAIN ? "the plain kernel is asked for" : "",
                offer.form.isOfWarpgroups() ? "warpgroups are asked for" : "",
                weight < GEMV_WEIGHT && !isLeftOver(dtype, epilogue)
                        ? "the weight has " + weight + " bytes, less than 1 MiB"
                        : "",
                others && shape.m() > soonest
                        ? rows(shape.m()) + " sooner " + (library ? "by the library" : "on tensor cores")
                        : "");
    }

    private static String rows(long count) {
        return count == 1 ? "one row is" : count + " rows are";
    }

    /** Why one strided call of cuBLASLt cannot say it. */
    private static String evenly(MatMulShape shape) {
        return shape.batch().size() > 1
                ? "the batch " + shape.batch() + " is broadcast unevenly"
                : shape.matrices() > LT_BATCH ? shape.matrices() + " matrices are more than " + LT_BATCH : "";
    }

    private static String calls(MatMulShape shape) {
        long calls = GemmCalls.count(shape);
        return calls > MOST_CALLS
                ? "the batch " + shape.batch() + " would take " + calls + " calls, more than " + MOST_CALLS
                : "";
    }

    private static String first(String... reasons) {
        for (String reason : reasons) {
            if (!reason.isEmpty()) {
                return reason;
            }
        }
        return "";
    }

    /** {@code 1 fused: cuBLASLt, TF32, bias, relu}; {@code 2 blas: cuBLASLt, f32, then matmul_epilogue: silu}. */
    String text(DType dtype, Epilogue epilogue, String kernel) {
        if (tier == Tier.NONE) {
            return tier.word + ": the result is empty";
        }
        List<String> words = new ArrayList<>();
        if (epilogue.bias()) {
            words.add("bias");
        }
        Unary function = epilogue.activation();
        if (function != null) {
            words.add(name(function));
        }
        if (epilogue.residual()) {
            words.add("residual");
        }
        String with = words.isEmpty() ? "" : (fused ? ", " : ", then matmul_epilogue: ") + String.join(", ", words);
        String by = isOwn() ? kernel : lt ? "cuBLASLt" : "cuBLAS";
        return tier.word + ": " + by + ", " + (tf32 ? "TF32" : dtype) + with;
    }

    private boolean isOwn() {
        return switch (tier) {
            case GEMV, WARPGROUPS, TENSOR_CORE, SCALAR -> true;
            case NONE, MIXED, FUSED, BLAS -> false;
        };
    }

    private static String name(Unary function) {
        return function.fn().word();
    }
}
