package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.KernelFiles.file;
import static dev.tenon.cuda.kernel.KernelFiles.typed;
import static dev.tenon.cuda.kernel.KernelFiles.widths;
import static dev.tenon.cuda.kernel.ParameterType.COMPUTE;
import static dev.tenon.cuda.kernel.ParameterType.I32;
import static dev.tenon.cuda.kernel.ParameterType.I64;
import static dev.tenon.cuda.kernel.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.ParameterType.STRUCT;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** The kernel files of windows, images and signals, and what their steps launch with. */
public final class WindowCatalog {
    public static final KernelFile POOL = file(
            "window/pool.cu",
            List.of("pool1d", "pool2d", "pool3d", "pool", "pool_wide"),
            typed(),
            List.of(POINTER, POINTER, POINTER, STRUCT, STRUCT));

    public static final KernelFile RESIZE = new KernelFile(
            "window/resize.cu",
            List.of(
                    new KernelSpec("window/resize.cu", "resize_taps", List.of(POINTER, STRUCT)),
                    new KernelSpec(
                            "window/resize.cu",
                            "resize",
                            List.of(POINTER, POINTER, POINTER, I64, STRUCT, STRUCT, I32, COMPUTE)),
                    new KernelSpec(
                            "window/resize.cu",
                            "resize_axis",
                            List.of(POINTER, POINTER, POINTER, I64, I64, STRUCT, I32, I32, I32, I32, COMPUTE))),
            typed());

    public static final KernelFile RESIZE_NEAREST = new KernelFile(
            "window/resize_nearest.cu",
            List.of(
                    new KernelSpec("window/resize_nearest.cu", "resize_places", List.of(POINTER, STRUCT)),
                    new KernelSpec(
                            "window/resize_nearest.cu",
                            "resize_nearest",
                            List.of(POINTER, POINTER, POINTER, I64, STRUCT, STRUCT, I64))),
            widths(16));

    private WindowCatalog() {}

    static List<KernelFile> all() {
        return List.of(POOL, RESIZE, RESIZE_NEAREST);
    }

    /** The variant for a type, integers by argument. */
    public static KernelVariant variant(DType dtype) {
        return typed(dtype);
    }

    /** Elements of 1 to 16 bytes, moved as bits. */
    public static KernelVariant bits(int bytes) {
        return KernelFiles.width(bytes);
    }

    /** Blocks of 256 threads, a thread a piece of work; at least 1 piece. */
    public static LaunchShape grid(long pieces) {
        return Grids.of(pieces);
    }
}
