package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The constants of one model in a 16-bit float type, each converted once, whatever the number of plans. Thread-safe.
 */
public final class HalfStore {
    private final DType dtype;
    private final double largest;
    private final double smallest;
    private final Map<ConstantData, Optional<ConstantData>> converted = new ConcurrentHashMap<>();

    /** @throws DTypeException for anything but f16 and bf16 */
    public HalfStore(DType dtype) {
        this.dtype = checked(dtype);
        this.largest = dtype == DType.F16 ? 65504 : 3.3895313892515355e38;
        this.smallest = dtype == DType.F16 ? 0x1p-24 : Float.MIN_NORMAL;
    }

    /** The type itself. @throws DTypeException for anything but f16 and bf16 */
    public static DType checked(DType dtype) {
        if (dtype != DType.F16 && dtype != DType.BF16) {
            throw new DTypeException("half-precision weights are f16 or bf16, not " + dtype);
        }
        return dtype;
    }

    public DType dtype() {
        return dtype;
    }

    /** The largest finite number. */
    public double largest() {
        return largest;
    }

    /** An f32 constant in the short type; empty where an element would become infinite or, not being 0, become 0. */
    public Optional<ConstantData> of(ConstantData data) {
        return converted.computeIfAbsent(data, this::convert);
    }

    private Optional<ConstantData> convert(ConstantData data) {
        TensorType type = new TensorType(dtype, data.type().shape());
        return switch (data) {
            case ConstantData.Splat splat -> {
                double value = Elements.toDouble(DType.F32, splat.element());
                yield fits(value)
                        ? Optional.of(new ConstantData.Splat(type, Elements.fromDouble(dtype, value)))
                        : Optional.empty();
            }
            case ConstantData.Dense dense -> convert(dense, type);
        };
    }

    private Optional<ConstantData> convert(ConstantData.Dense data, TensorType type) {
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        long count = type.shape().elements();
        boolean single = count == 1;
        for (long i = 0; i < count; i++) {
            double value = Elements.getDouble(DType.F32, data.segment(), i);
            // among many, a number next to 0 may become 0; alone it is an epsilon or a factor
            if (Math.abs(value) > largest || (single && !fits(value))) {
                return Optional.empty();
            }
            Elements.setDouble(dtype, to, i, value);
        }
        return Optional.of(new ConstantData.Dense(type, to));
    }

    private boolean fits(double value) {
        return value == 0 || (Math.abs(value) <= largest && Math.abs(value) >= smallest);
    }
}
