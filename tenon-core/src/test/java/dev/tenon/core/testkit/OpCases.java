package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import java.util.stream.Stream;

/** All cases of all operations, by family. */
public final class OpCases {
    /** The float types that arithmetic is tried on. */
    public static final List<DType> FLOATS = List.of(DType.F64, DType.F32, DType.F16, DType.BF16);

    /** The integer types of whole bytes. */
    public static final List<DType> INTEGERS =
            List.of(DType.I64, DType.I32, DType.I16, DType.I8, DType.U64, DType.U32, DType.U16, DType.U8);

    private OpCases() {}

    public static List<OpCase> all() {
        return Stream.of(
                        OpCasesElementwise.all(),
                        OpCasesConversion.all(),
                        OpCasesNormalisation.all(),
                        OpCasesReduction.all(),
                        OpCasesMovement.all(),
                        OpCasesIndexing.all(),
                        OpCasesDeferred.all(),
                        OpCasesContraction.all(),
                        OpCasesPooling.all(),
                        OpCasesAttention.all(),
                        OpCasesState.all(),
                        OpCasesQuantisation.all(),
                        OpCasesSearch.all(),
                        OpCasesImages.all(),
                        OpCasesSignal.all(),
                        OpCasesLoops.all(),
                        OpCasesBlocks.all(),
                        OpCasesCustom.all(),
                        OpCasesScaled.all(),
                        OpCasesHanded.all())
                .flatMap(List::stream)
                .toList();
    }

    /** All types but the packed ones: what movement is tried on. */
    static List<DType> wholeBytes() {
        return Stream.of(DType.values()).filter(type -> type.bits() >= 8).toList();
    }

    /** An f32 array of those values. */
    static NdArray f32(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F32, sizes), values);
    }

    static NdArray f32(double... values) {
        return f32(new long[] {values.length}, values);
    }

    static NdArray i64(long[] sizes, long... values) {
        return NdArray.of(TensorType.of(DType.I64, sizes), values);
    }

    static NdArray i32(long... values) {
        return NdArray.of(TensorType.of(DType.I32, values.length), values);
    }

    /** A size list of a record. */
    static List<Long> sizes(long... sizes) {
        return java.util.Arrays.stream(sizes).boxed().toList();
    }
}
