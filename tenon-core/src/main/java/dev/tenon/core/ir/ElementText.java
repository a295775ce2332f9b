package dev.tenon.core.ir;

/**
 * Elements of constants as text that gives back the same bits: decimal where that does, else the bits in hexadecimal.
 */
final class ElementText {
    private ElementText() {}

    static String print(DType dtype, long bits) {
        String decimal = decimal(dtype, bits);
        return parse(dtype, decimal) == bits ? decimal : "0x" + Long.toHexString(bits);
    }

    private static String decimal(DType dtype, long bits) {
        if (dtype == DType.BOOL) {
            return Boolean.toString(bits != 0);
        }
        if (dtype == DType.U64) {
            return Long.toUnsignedString(bits);
        }
        if (dtype == DType.F64) {
            return Double.toString(Elements.toDouble(dtype, bits));
        }
        // every shorter float is a float, whose decimal form is the shorter one
        return dtype.isFloat()
                ? Float.toString((float) Elements.toDouble(dtype, bits))
                : Long.toString(Elements.toLong(dtype, bits));
    }

    /** The bits. @throws NumberFormatException */
    static long parse(DType dtype, String text) {
        if (text.startsWith("0x")) {
            return Long.parseUnsignedLong(text.substring(2), 16);
        }
        if (dtype == DType.BOOL) {
            if (!text.equals("true") && !text.equals("false")) {
                throw new NumberFormatException(text);
            }
            return text.equals("true") ? 1 : 0;
        }
        if (dtype.isFloat()) {
            return Elements.fromDouble(dtype, dtype == DType.F64 ? Double.parseDouble(text) : Float.parseFloat(text));
        }
        return Elements.fromLong(dtype, dtype == DType.U64 ? Long.parseUnsignedLong(text) : Long.parseLong(text));
    }
}
