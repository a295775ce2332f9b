package dev.tenon.cuda.kernel.file;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.ir.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One way to compile a kernel file.
 *
 * @param suffix goes behind the names of its entries, {@code _f32}
 * @param dtype the element type
 * @param defines macros beside TENON_SUFFIX
 * @param headers generated ones, by name
 */
public record KernelVariant(String suffix, DType dtype, List<String> defines, Map<String, String> headers) {
    /** The macro of variants that are compiled for a device's own form, whose code runs on its capability alone. */
    public static final String SPECIFIC = "TENON_SPECIFIC=1";

    public KernelVariant {
        defines = List.copyOf(defines);
        headers = Map.copyOf(headers);
    }

    /** One without generated headers. */
    public KernelVariant(String suffix, DType dtype, List<String> defines) {
        this(suffix, dtype, defines, Map.of());
    }

    /** The variant for an element type, {@code TENON_T}. @throws DTypeException for a type without one */
    public static KernelVariant of(DType dtype) {
        return new KernelVariant("_" + dtype, dtype, List.of("TENON_T=" + type(dtype)));
    }

    /** This variant with one more word in its name and one more macro. */
    public KernelVariant with(String word, String define) {
        List<String> more = new ArrayList<>(defines);
        more.add(define);
        return new KernelVariant(word.isEmpty() ? suffix : "_" + word + suffix, dtype, more, headers);
    }

    /** Whether it is compiled for the device's own form, such as {@code sm_90a}. */
    public boolean isSpecific() {
        return defines.contains(SPECIFIC);
    }

    /** All macros, as compilers take them. */
    public List<String> allDefines() {
        List<String> all = new ArrayList<>(defines);
        all.add("TENON_SUFFIX=" + suffix);
        return all;
    }

    private static String type(DType dtype) {
        return switch (dtype) {
            case F64 -> "double";
            case F32 -> "float";
            case F16 -> "f16";
            case BF16 -> "bf16";
            case I64 -> "i64";
            case I32 -> "i32";
            case I16 -> "i16";
            case I8 -> "i8";
            case U64 -> "u64";
            case U32 -> "u32";
            case U16 -> "u16";
            case U8, BOOL -> "u8";
            case F8E4M3, F8E5M2, I4, U4 -> throw new DTypeException("kernels have no variant for " + dtype);
        };
    }
}
