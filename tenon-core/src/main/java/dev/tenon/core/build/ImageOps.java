package dev.tenon.core.build;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.image.AspectPolicy;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.ResizeBy;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.pooling.PoolFn;
import java.util.Arrays;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** Adds pooling and upsampling of [batch, channels, spatial...]. */
public interface ImageOps extends OpBuilder {
    /** Adds the largest element of each window; padding is not looked at. */
    default Value maxPool(Value x, PoolOptions options) {
        return ImageWords.pool(this, "max_pool", PoolFn.MAX, x, options);
    }

    /** Adds the mean of each window; padding cells count where the options say so. */
    default Value averagePool(Value x, PoolOptions options) {
        return ImageWords.pool(this, "average_pool", PoolFn.AVERAGE, x, options);
    }

    /** Adds the largest element of each channel; spatial dims become 1. */
    default Value globalMaxPool(Value x) {
        return ImageWords.global(this, "global_max_pool", ReduceFn.MAX, x);
    }

    /** Adds the mean of each channel; spatial dims become 1. */
    default Value globalAveragePool(Value x) {
        return ImageWords.global(this, "global_average_pool", ReduceFn.MEAN, x);
    }

    /**
     * Adds x resampled: each spatial dim becomes {@code floor(size scale)}. Nearest takes the element at
     * {@code floor(i / scale)}; linear and cubic (coefficient -0.75) align half pixels, as PyTorch does without
     * align_corners.
     *
     * @param scales one for each spatial dim, or one for all; more than 0
     */
    default Value upsample(Value x, ResizeMode mode, double... scales) {
        int spatial = ContractionWords.spatial("upsample", x);
        Words.option("upsample", "mode", mode);
        Words.option("upsample", "scales", scales);
        if (scales.length != 1 && scales.length != spatial) {
            throw Words.shape(
                    "upsample",
                    x,
                    scales.length + " scales; expected " + spatial + ", one for each spatial dim, or one for all");
        }
        double[] each = IntStream.range(0, spatial)
                .mapToDouble(i -> scales.length == 1 ? scales[0] : scales[i])
                .toArray();
        if (!DoubleStream.of(each).allMatch(scale -> scale > 0 && Double.isFinite(scale))) {
            throw Words.shape(
                    "upsample", x, "scales " + Arrays.toString(scales) + "; expected finite ones, more than 0");
        }
        ConstantData constant =
                NdArray.of(TensorType.of(DType.F32, spatial), each).toConstant();
        boolean nearest = mode == ResizeMode.NEAREST;
        return add(
                new ResizeBy(
                        mode,
                        nearest ? CoordinateMode.ASYMMETRIC : CoordinateMode.HALF_PIXEL,
                        NearestMode.FLOOR,
                        -0.75,
                        false,
                        0,
                        false,
                        AspectPolicy.STRETCH,
                        IntStream.range(2, spatial + 2).boxed().toList(),
                        false,
                        true,
                        false),
                x,
                constant(constant));
    }
}
