package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.cuda.kernel.Transposition;
import dev.tenon.cuda.port.DeviceBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Weights that are transposed on their way to the device: sizes about the tiles, several parts, every width. */
final class TranspositionCases {
    private TranspositionCases() {}

    /** Of memory on the way: of the matrices below, some go in one part and some in several. */
    private static final long PASSAGE_BYTES = 32 * 1024;

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.U8, DType.F16, DType.F32, DType.F64)) {
            for (long[] sizes :
                    new long[][] {{1, 1}, {31, 33}, {64, 32}, {65, 97}, {3, 300}, {300, 2}, {97, 257}, {0, 3}}) {
                TensorType matrix = TensorType.of(type, sizes);
                cases.add(new KernelCase("transposition", matrix.toString(), stage -> check(stage, matrix)));
            }
        }
        return cases;
    }

    private static void check(KernelStage stage, TensorType type) {
        Random random = new Random(7);
        NdArray matrix = NdArray.zeros(type);
        for (int i = 0; i < matrix.size(); i++) {
            matrix.set(i, (double) random.nextInt(251));
        }
        NdArray expected =
                new Transpose(List.of(1, 0)).evaluate(List.of(matrix)).getFirst();
        Transposition transposition = new Transposition(stage.modules(), type, PASSAGE_BYTES);
        DeviceBuffer passage = stage.poisoned(transposition.passageBytes());
        DeviceBuffer result = stage.poisoned(type.bytes());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment elements = arena.allocate(type.bytes(), 16);
            matrix.write(elements);
            transposition.enqueue(stage.stream(), stage.arguments(), elements, passage, result.address());
            Tolerance.EXACT.check("transposed", expected, stage.download(expected.type(), result));
        }
    }
}
