package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.KernelFiles.file;
import static dev.tenon.cuda.kernel.KernelFiles.typed;
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

    private WindowCatalog() {}

    static List<KernelFile> all() {
        return List.of(POOL);
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
