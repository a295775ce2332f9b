package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;
import java.util.Random;
import java.util.function.DoubleSupplier;

/** Arrays for cases, of numbers that their type has. */
final class CaseArrays {
    private CaseArrays() {}

    /** Normally distributed elements. */
    static NdArray normal(Random random, DType dtype, long... sizes) {
        return filled(dtype, random::nextGaussian, sizes);
    }

    static NdArray filled(DType dtype, DoubleSupplier element, long... sizes) {
        NdArray array = NdArray.zeros(dtype, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, Tolerance.rounded(dtype, element.getAsDouble()));
        }
        return array;
    }
}
