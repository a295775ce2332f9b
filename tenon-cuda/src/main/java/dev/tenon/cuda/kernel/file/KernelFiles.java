package dev.tenon.cuda.kernel.file;

import dev.tenon.core.ir.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What catalogs of kernel files are written with: the usual sets of variants, and entries of one signature. */
public final class KernelFiles {
    public static final List<DType> HALVES = List.of(DType.F16, DType.BF16);

    /** What tensor cores multiply, f32 as TF32. */
    public static final List<DType> TENSOR_CORES = List.of(DType.F16, DType.BF16, DType.F32);

    public static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    /** Integers and booleans, their type an argument. */
    public static final KernelVariant INTEGERS = new KernelVariant("_int", DType.U8, List.of("TENON_INTEGERS=1"));

    private KernelFiles() {}

    public static List<KernelVariant> floats() {
        return FLOATS.stream().map(KernelVariant::of).toList();
    }

    /** Floats by type, integers in one. */
    public static List<KernelVariant> typed() {
        return Stream.concat(FLOATS.stream(), Stream.of(DType.BOOL))
                .map(KernelFiles::typed)
                .toList();
    }

    /** The variant for a type. @throws dev.tenon.core.error.UnsupportedException for f8 and the packed types */
    public static KernelVariant typed(DType dtype) {
        return TypeCodes.isFloat(TypeCodes.of(dtype)) ? KernelVariant.of(dtype).with("", "TENON_INTEGERS=0") : INTEGERS;
    }

    public static List<KernelVariant> widths(int widest) {
        return Stream.of(1, 2, 4, 8, 16)
                .filter(bytes -> bytes <= widest)
                .map(KernelFiles::width)
                .toList();
    }

    /** Elements of that many bytes, 1 to 16, moved as bits. */
    public static KernelVariant width(int bytes) {
        String type = bytes == 16 ? "uint4" : "u" + 8 * bytes;
        return new KernelVariant("_b" + bytes, DType.U8, List.of("TENON_T=" + type));
    }

    /** A file whose entries have the same parameters. */
    public static KernelFile file(
            String path, List<String> names, List<KernelVariant> variants, List<ParameterType> parameters) {
        return new KernelFile(
                path,
                names.stream()
                        .map(name -> new KernelSpec(path, name, parameters))
                        .toList(),
                variants);
    }

    @SafeVarargs
    public static List<ParameterType> together(List<ParameterType>... parts) {
        List<ParameterType> all = new ArrayList<>();
        for (List<ParameterType> part : parts) {
            all.addAll(part);
        }
        return all;
    }
}
