package dev.tenon.core.ir;

/**
 * The two 8-bit float formats of the OCP 8-bit Floating Point Specification 1.0: e4m3 (no infinity, NaN 0x7F, largest
 * 448) and e5m2 (IEEE-like, largest 57344).
 */
final class Float8 {
    private Float8() {}

    static double toDouble(DType dtype, int bits) {
        int mantissaBits = mantissaBits(dtype);
        int bias = bias(dtype);
        int magnitude = bits & 0x7F;
        double sign = (bits & 0x80) != 0 ? -1 : 1;
        int exponent = magnitude >> mantissaBits;
        int mantissa = magnitude & ((1 << mantissaBits) - 1);
        if (dtype == DType.F8E4M3 && magnitude == 0x7F) {
            return Double.NaN;
        }
        if (dtype == DType.F8E5M2 && exponent == 31) {
            return mantissa == 0 ? sign * Double.POSITIVE_INFINITY : Double.NaN;
        }
        double unit = Math.scalb(1.0, Math.max(exponent, 1) - bias - mantissaBits);
        return sign * unit * (exponent == 0 ? mantissa : mantissa + (1 << mantissaBits));
    }

    static long fromDouble(DType dtype, double value) {
        int sign = Double.doubleToRawLongBits(value) < 0 ? 0x80 : 0;
        int top = dtype == DType.F8E4M3 ? 0x7F : 0x7C;
        if (Double.isNaN(value)) {
            return sign | (dtype == DType.F8E4M3 ? 0x7F : 0x7E);
        }
        double magnitude = Math.abs(value);
        int exponent = Math.max(magnitude == 0 ? -1000 : Math.getExponent(magnitude), 1 - bias(dtype));
        double unit = Math.scalb(1.0, exponent - mantissaBits(dtype));
        double steps = Math.rint(magnitude / unit);
        if (Double.isInfinite(steps)) {
            return sign | top;
        }
        // the codes of a format are consecutive, so rounding up into the next binade just carries
        long code = (long) steps + ((long) (exponent + bias(dtype) - 1) << mantissaBits(dtype));
        return sign | Math.min(code, top);
    }

    private static int mantissaBits(DType dtype) {
        return dtype == DType.F8E4M3 ? 3 : 2;
    }

    private static int bias(DType dtype) {
        return dtype == DType.F8E4M3 ? 7 : 15;
    }
}
