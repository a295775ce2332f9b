package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.lower.step.Micros;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which products of f16, bf16 and TF32 are made by kernels of warpgroups: those whose activation a library would leave
 * to a second pass over its result, and all where no library is, where a model of time finds that sooner. Pure
 * arithmetic, its constants measured on an H200.
 */
final class WarpgroupProducts {
    private static final int CAPABILITY = 90;
    private static final int CHUNK = 16;

    /** Microseconds of a launch. */
    static final double LAUNCH = 2.5;

    /** Of a library, a microsecond: multiplications and additions, bytes; of a second pass, results. */
    private static final double PRODUCTS = 280e6;

    private static final double TF32_PRODUCTS = 175e6;

    /** Of a library's tile, for each product of a sum, where tiles are few. */
    private static final double DEPTH = 0.1 / 64;

    static final double BYTES = 3.2e6;
    private static final double SHORT_RESULTS = 0.85e6;
    private static final double RESULTS = 0.53e6;
    private static final double F32_RESULTS = 0.45e6;

    /** What the model may be wrong by: a rival that it finds slower by more is not timed. */
    private static final double FAR = 1.3;

    /** Microseconds of a library: what a rival may take longer than these is less than loading a kernel takes. */
    private static final double SHORT = 20;

    /**
     * How a product is made.
     *
     * @param plan null where it is made otherwise
     * @param refusal why; empty where there is a plan
     */
    record Answer(@Nullable WarpgroupPlan plan, String refusal) {
        private static Answer refused(String reason) {
            return new Answer(null, reason);
        }
    }

    private WarpgroupProducts() {}

    /**
     * Whether there is a choice.
     *
     * @param tf32 whether f32 may be rounded to TF32
     * @param library whether a library makes the product otherwise
     */
    static boolean concerns(DType dtype, boolean tf32, Epilogue epilogue, boolean library) {
        if (dtype != DType.F16 && dtype != DType.BF16 && !tf32) {
            return false;
        }
        return epilogue.activation() == null
                ? !library
                : ProductCatalog.ROWS_FUNCTIONS.contains(epilogue.activation().fn());
    }

    /**
     * How a product that it concerns is made.
     *
     * @param specific whether code for the device's own form can be compiled
     */
    static Answer of(
            DType dtype,
            MatMulShape shape,
            Epilogue epilogue,
            DeviceProperties device,
            boolean specific,
            ProductForm form) {
        Answer planned = planned(dtype, shape, epilogue, device, specific, form);
        WarpgroupPlan plan = planned.plan();
        if (plan == null) {
            return planned;
        }
        double apart = otherwise(dtype, shape, epilogue, device);
        if (form != ProductForm.BY_CHOICE || plan.microseconds() < apart) {
            return planned;
        }
        String other = epilogue.activation() == null ? "other tiles " : "the library and a second pass ";
        return Answer.refused(Micros.text(plan.microseconds()) + " us by the model, " + other + Micros.text(apart));
    }

    /** The sooner of the kernels that take the product, however long it takes. */
    private static Answer planned(
            DType dtype,
            MatMulShape shape,
            Epilogue epilogue,
            DeviceProperties device,
            boolean specific,
            ProductForm form) {
        String refusal = refusal(dtype, shape, epilogue, device, specific, form);
        if (!refusal.isEmpty()) {
            return Answer.refused(refusal);
        }
        boolean forced = form != ProductForm.BY_CHOICE;
        String residual = epilogue.residual() ? "it adds no residual" : "";
        String noRows = first(unasked(form, ProductForm.ROWS), residual, () -> RowsPlan.refusal(dtype, shape, forced));
        String noRing =
                first(unasked(form, ProductForm.RING), residual, () -> RingPlan.refusal(dtype, shape, device, forced));
        String noParts = first(unasked(form, ProductForm.PARTS), "", () -> PartsPlan.refusal(shape, device));
        WarpgroupPlan rows = noRows.isEmpty() ? RowsPlan.of(dtype, shape, epilogue, device) : null;
        WarpgroupPlan ring = noRing.isEmpty() ? RingPlan.of(dtype, shape, epilogue, device) : null;
        WarpgroupPlan parts = noParts.isEmpty() ? PartsPlan.of(dtype, shape, device) : null;
        WarpgroupPlan plan = sooner(sooner(rows, ring), parts);
        if (plan == null) {
            String reason = noRows.isEmpty() ? "a block has too little shared memory" : noRows;
            return Answer.refused(
                    "matmul_rows: " + reason + "; matmul_wgmma: " + noRing + "; matmul_parts: " + noParts);
        }
        return new Answer(plan, "");
    }

    private static String unasked(ProductForm asked, ProductForm own) {
        return asked == ProductForm.BY_CHOICE || asked == own ? "" : "others are asked for";
    }

    private static String first(String one, String other, Supplier<String> last) {
        return one.isEmpty() ? other.isEmpty() ? last.get() : other : one;
    }

    /**
     * What is timed beside a library that makes the whole product; null where nothing is, or the model knows that it
     * is slower.
     *
     * @param tf32 whether f32 may be rounded to TF32
     */
    static @Nullable WarpgroupPlan rival(
            DType dtype,
            boolean tf32,
            MatMulShape shape,
            Epilogue epilogue,
            DeviceProperties device,
            boolean specific,
            ProductForm form) {
        boolean concerns = form == ProductForm.BY_CHOICE && concerns(dtype, tf32, epilogue, false);
        WarpgroupPlan plan = concerns
                ? planned(dtype, shape, epilogue, device, specific, form).plan()
                : null;
        return plan != null && plan.microseconds() < FAR * library(dtype, shape, epilogue.residual()) ? plan : null;
    }

    /**
     * Why a rival is taken until both are timed; empty where it is not. By the model, of halves alone: TF32 is not
     * known so well.
     *
     * @param plan of the rival
     * @param later whether the library would load a kernel for it
     */
    static String untimed(WarpgroupPlan plan, DType dtype, MatMulShape shape, Epilogue epilogue, boolean later) {
        double library = library(dtype, shape, epilogue.residual());
        if (later && library < SHORT) {
            return "nothing was timed for this size, and the library would load a kernel for it";
        }
        return dtype == DType.F32 || plan.microseconds() >= library
                ? ""
                : "nothing was timed; a kernel of ours takes " + Micros.text(plan.microseconds())
                        + " us by the model, the library " + Micros.text(library);
    }

    private static @Nullable WarpgroupPlan sooner(@Nullable WarpgroupPlan one, @Nullable WarpgroupPlan other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.microseconds() <= other.microseconds() ? one : other;
    }

    private static String refusal(
            DType dtype,
            MatMulShape shape,
            Epilogue epilogue,
            DeviceProperties device,
            boolean specific,
            ProductForm form) {
        if (form != ProductForm.BY_CHOICE && !form.isOfWarpgroups()) {
            return "other products are asked for";
        }
        if (device.architecture().number() != CAPABILITY) {
            return "compute capability " + device.architecture() + " is not 9.0";
        }
        if (!specific) {
            return "no compiler for sm_90a";
        }
        if (!shape.batch().isEmpty() || shape.transposeA() || epilogue.residualFirst()) {
            return "it takes one matrix along k and no residual before the function";
        }
        if (dtype == DType.F32 && !shape.transposeB()) {
            return "TF32 operands lie along k";
        }
        int pack = CHUNK / dtype.bytes();
        return shape.k() == 0 || shape.k() % pack != 0 || shape.n() % pack != 0
                ? "sums of " + shape.k() + " elements and " + shape.n() + " columns; it takes multiples of " + pack
                : "";
    }

    /** Microseconds that the product takes without them. */
    private static double otherwise(DType dtype, MatMulShape shape, Epilogue epilogue, DeviceProperties device) {
        if (epilogue.activation() == null) {
            return MmaPlan.of(dtype, shape, device, true, null).microseconds();
        }
        double results = (double) shape.m() * shape.n();
        double rate = dtype == DType.F32 ? F32_RESULTS : isShort(dtype, epilogue) ? SHORT_RESULTS : RESULTS;
        double pass = results / rate;
        return library(dtype, shape, epilogue.residual()) + LAUNCH + pass;
    }

    /** Microseconds of a library's launch. */
    static double library(DType dtype, MatMulShape shape, boolean residual) {
        double results = (double) shape.m() * shape.n();
        double elements = results * (residual ? 2 : 1) + (double) (shape.m() + shape.n()) * shape.k();
        double products = results * shape.k() / (dtype == DType.F32 ? TF32_PRODUCTS : PRODUCTS);
        return LAUNCH + Math.max(Math.max(products, shape.k() * DEPTH), elements / (BYTES / dtype.bytes()));
    }

    /** Whether the kernels have the function in few instructions: {@code short_fn.cuh}. */
    static boolean isShort(DType dtype, Epilogue epilogue) {
        UnaryFn fn =
                epilogue.activation() == null ? null : epilogue.activation().fn();
        return (fn == UnaryFn.GELU && dtype != DType.F32) || (fn == UnaryFn.GELU_TANH && dtype == DType.F16);
    }
}
