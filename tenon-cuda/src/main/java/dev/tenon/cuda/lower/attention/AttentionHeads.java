package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.AttentionCatalog.DecodeForm;
import dev.tenon.cuda.kernel.AttentionCatalog.MmaForm;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * What kernels of attention ask about heads and the device, however long sequences are.
 *
 * @param size elements of a query's and a key's head
 * @param sizeV elements of a value's head
 */
record AttentionHeads(DType dtype, int size, int sizeV, Precision precision, DeviceProperties device) {
    /** The type that tensor cores multiply, in words. */
    String type() {
        return dtype == DType.F32 ? "TF32" : dtype.toString();
    }

    /** Why no product on tensor cores may compute it. */
    String tensorCoreRefusal() {
        if (dtype == DType.F64) {
            return "tensor cores take f16, bf16 and TF32, not f64";
        }
        if (dtype == DType.F32 && precision == Precision.STRICT) {
            return "f32 is asked for, not TF32";
        }
        if (device.architecture().number() < ProductCatalog.capability(dtype)) {
            return "compute capability " + device.architecture() + " has no products of " + type();
        }
        return padded() == 0 ? "heads of " + size + " and " + sizeV + " elements; it takes at most 256" : "";
    }

    /** Why a block does not have so much shared memory; empty where it does. */
    String sharedRefusal(long bytes) {
        int most = device.sharedBytesPerBlockOptIn();
        return bytes > most ? "it takes " + bytes + " bytes of shared memory; a block has " + most : "";
    }

    /** Shared memory of the kernel by threads for so many queries a block. */
    long scalarShared(int queries) {
        return (long) queries * (size + sizeV) * dtype.accumulator().bytes();
    }

    DecodeForm decodeForm() {
        return AttentionCatalog.decodeForm(dtype, padded());
    }

    /**
     * Why no tile on tensor cores takes it.
     *
     * @param blocks of the launch of a form
     */
    String mmaRefusal(long heads, ToLongFunction<MmaForm> blocks) {
        String refusal = tensorCoreRefusal();
        if (!refusal.isEmpty()) {
            return refusal;
        }
        if (heads > GridLimits.YZ) {
            return heads + " heads are more than " + GridLimits.YZ;
        }
        return mmaForm(blocks).isEmpty() ? sharedRefusal(mmaForms().getLast().sharedBytes()) : "";
    }

    /** The first form that fits; those of many queries a block only where their blocks are as many as there is room. */
    Optional<MmaForm> mmaForm(ToLongFunction<MmaForm> blocks) {
        return mmaForms().stream()
                .filter(form -> sharedRefusal(form.sharedBytes()).isEmpty())
                .filter(form -> form.rows() == 1 || blocks.applyAsLong(form) >= device.multiprocessors())
                .findFirst();
    }

    private List<MmaForm> mmaForms() {
        return AttentionCatalog.mmaForms(dtype, padded());
    }

    private int padded() {
        return AttentionCatalog.padded(Math.max(size, sizeV));
    }
}
