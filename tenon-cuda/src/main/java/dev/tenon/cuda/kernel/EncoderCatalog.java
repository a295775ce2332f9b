package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.HALVES;
import static dev.tenon.cuda.kernel.file.KernelFiles.TENSOR_CORES;
import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.ParameterType.I32;
import static dev.tenon.cuda.kernel.file.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.file.ParameterType.STRUCT;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.util.List;
import java.util.stream.Stream;

/** The kernel files of whole encoders and their layers, and the forms that they are compiled in. */
public final class EncoderCatalog {

    /** Head sizes that they are compiled for. */
    private static final List<Integer> SIZES = List.of(32, 64);

    public static final KernelFile RESIDENT = file(
            "encoder/resident.cu",
            List.of("resident"),
            TENSOR_CORES.stream()
                    .flatMap(dtype -> SIZES.stream().map(size -> resident(dtype, size)))
                    .toList(),
            List.of(STRUCT, I32, I32, I32, I32, I32, I32, I32, POINTER));

    public static final KernelFile LAYERS = file(
            "encoder/layers.cu",
            List.of("layers"),
            TENSOR_CORES.stream()
                    .flatMap(dtype -> SIZES.stream()
                            .flatMap(size -> Stream.of(1, 2, 3)
                                    .flatMap(tiles ->
                                            Stream.of(3, 6).map(packs -> new LayersForm(dtype, size, tiles, packs)))))
                    .map(LayersForm::variant)
                    .toList(),
            List.of(STRUCT));

    public static final KernelFile LAYERS_TILE =
            file("encoder/layers_tile.cu", List.of("layers_tile"), tiles(), List.of(STRUCT));

    public static final KernelFile FRAGMENTS = file(
            "encoder/fragments.cu",
            List.of("fragments"),
            TENSOR_CORES.stream().map(KernelVariant::of).toList(),
            List.of(POINTER, POINTER, I32, I32, I32, I32, I32, I32, I32, I32, I32, I32));

    private EncoderCatalog() {}

    /** The variant of {@link #RESIDENT} for a head size, 32 or 64. */
    public static KernelVariant resident(DType dtype, int head) {
        return KernelVariant.of(dtype).with("d" + head, "TENON_HEAD=" + head);
    }

    /** Columns of rows that {@link #LAYERS_TILE} takes for a head size: a thread holds all weights of its own. */
    private static List<KernelVariant> tiles() {
        return HALVES.stream()
                .flatMap(dtype -> Stream.of(128, 256, 384, 512)
                        .flatMap(hidden -> SIZES.stream()
                                .filter(head -> head * hidden <= 1 << 14)
                                .map(head -> tile(dtype, head, hidden))))
                .toList();
    }

    /** The variant of {@link #LAYERS_TILE} for a head size and columns of rows. */
    public static KernelVariant tile(DType dtype, int head, int hidden) {
        return resident(dtype, head).with("h" + hidden, "TENON_HIDDEN=" + hidden);
    }

    /**
     * A form of {@code layers}: elements of a head, 32 or 64; column tiles that a warp takes at a time, 1 to 3; packs
     * of four elements of a lane's part of a row, at most 3 or 6.
     */
    public record LayersForm(DType dtype, int head, int tiles, int packs) {
        public KernelVariant variant() {
            return KernelVariant.of(dtype)
                    .with("d" + head + "_t" + tiles + "_p" + packs, "TENON_HEAD=" + head)
                    .with("", "TENON_TILES=" + tiles)
                    .with("", "TENON_PACKS=" + packs);
        }
    }

    static List<KernelFile> all() {
        return List.of(RESIDENT, LAYERS, LAYERS_TILE, FRAGMENTS);
    }
}
