package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Elementwise operations, one or several in a launch: prepares launches over at least one element. Thread-safe. */
public final class ElementwiseKernels {
    /** Elements that a thread of cast_narrow.cu takes, whatever the shape. */
    private static final int NARROW = 8;

    private final Kernels kernels;

    public ElementwiseKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /**
     * One unary, binary, compare, where or cast.
     *
     * @param inputs the operands' types
     * @param broadcast of the operands under the result's shape
     */
    public Launch single(Elementwise op, List<DType> inputs, Broadcast broadcast, long elements) {
        DType type = inputs.getLast();
        return switch (op) {
            case Unary unary -> {
                DType result = op.dtypes(inputs).getFirst();
                Options options = new Options(
                        unary.fn().code(), 0, TypeCodes.of(type), TypeCodes.of(result), unary.alpha(), unary.beta());
                yield launch(KernelCatalog.UNARY, "unary", type, 1, broadcast, elements, options);
            }
            case Binary binary ->
                launch(
                        KernelCatalog.BINARY,
                        "binary",
                        type,
                        2,
                        broadcast,
                        elements,
                        Options.of(binary.fn().code(), type));
            case Compare compare ->
                launch(
                        KernelCatalog.COMPARE,
                        "compare",
                        type,
                        2,
                        broadcast,
                        elements,
                        Options.of(compare.fn().code(), type));
            case Where _ -> {
                Options options = new Options(0, 0, 0, 0, 0, 0); // elements are bytes to it
                yield launch(
                        KernelCatalog.WHERE_SELECT,
                        "where_select",
                        KernelFiles.width(type.bytes()),
                        16 / type.bytes(),
                        3,
                        broadcast,
                        elements,
                        options);
            }
            case Cast cast
            when !TypeCodes.has(type) || !TypeCodes.has(cast.to()) -> {
                double saturate = cast.saturate() ? 1 : 0;
                Options options = new Options(0, 0, TypeCodes.ofAny(type), TypeCodes.ofAny(cast.to()), saturate, 0);
                yield launch(
                        IndexingCatalog.CAST_NARROW,
                        "cast_narrow",
                        KernelCatalog.BYTES,
                        NARROW,
                        1,
                        broadcast,
                        elements,
                        options);
            }
            case Cast cast -> {
                Options options = new Options(0, 0, TypeCodes.of(type), TypeCodes.of(cast.to()), 0, 0);
                yield launch(KernelCatalog.CAST, "cast", type, 1, broadcast, elements, options);
            }
        };
    }

    /** then(fn(a, b)), all of one type. */
    public Launch binaryUnary(BinaryFn fn, Unary then, DType type, Broadcast broadcast, long elements) {
        Options options = new Options(fn.code(), then.fn().code(), TypeCodes.of(type), 0, then.alpha(), then.beta());
        return launch(KernelCatalog.BINARY, "fused_binary_unary", type, 2, broadcast, elements, options);
    }

    /** A whole expression. */
    public Launch region(RegionProgram program, Broadcast broadcast, int inputs, long elements) {
        int each = program.wide() ? 2 : 4;
        LaunchShape shape = Grids.of(Math.ceilDiv(elements, (long) each), RegionProgram.THREADS)
                .withSharedBytes(program.sharedBytes())
                .withProgrammatic();
        return new Launch(
                kernels.kernel(KernelCatalog.REGION, "elementwise_region", KernelCatalog.region(program.wide())),
                shape,
                RegionProgram.MAX_INPUTS - inputs,
                elements,
                WalkStruct.of(RegionProgram.MAX_INPUTS, broadcast, inputs),
                program.struct());
    }

    /** A whole expression, compiled. */
    public FusedRegion.Launch fused(FusedRegion region) {
        return region.launch(kernels);
    }

    /** Floats go in packs of 16 bytes, integers one by one. */
    private Launch launch(
            KernelFile file,
            String entry,
            DType type,
            int inputs,
            Broadcast broadcast,
            long elements,
            Options options) {
        int pack = TypeCodes.isFloat(TypeCodes.of(type)) ? 16 / type.bytes() : 1;
        return launch(file, entry, KernelFiles.typed(type), pack, inputs, broadcast, elements, options);
    }

    private Launch launch(
            KernelFile file,
            String entry,
            KernelVariant variant,
            int pack,
            int inputs,
            Broadcast broadcast,
            long elements,
            Options options) {
        boolean packed = broadcast.sizes().length <= 1 || broadcast.inner() % pack == 0; // as elementwise.cuh decides
        return new Launch(
                kernels.kernel(file, entry, variant),
                Grids.of(packed ? Math.ceilDiv(elements, (long) pack) : elements)
                        .withProgrammatic(),
                0,
                elements,
                WalkStruct.of(inputs, broadcast, inputs),
                options.struct());
    }

    /** The struct of that name in elementwise.cuh. */
    private record Options(int fn, int then, int type, int to, double p0, double p1) {
        static Options of(int fn, DType type) {
            return new Options(fn, 0, TypeCodes.of(type), 0, 0, 0);
        }

        MemorySegment struct() {
            return MemorySegment.ofArray(new long[] {
                        pair(fn, then), pair(type, to), Double.doubleToRawLongBits(p0), Double.doubleToRawLongBits(p1)
                    })
                    .asReadOnly();
        }

        private static long pair(int low, int high) {
            return Integer.toUnsignedLong(low) | (long) high << 32;
        }
    }

    /** A prepared launch. Immutable; enqueue with a slab of the calling thread. */
    public record Launch(
            Kernel kernel, LaunchShape shape, int unused, long elements, MemorySegment walk, MemorySegment options) {
        /**
         * Enqueues it.
         *
         * @param arguments holds the addresses of the operands, all on 16-byte boundaries, and nothing else
         * @param y the result's address; may be that of an operand of its shape and width
         */
        public void enqueue(GpuStream stream, KernelArguments arguments, long y, long faults, int step) {
            for (int i = 0; i < unused; i++) {
                arguments.add(0L);
            }
            arguments
                    .add(y)
                    .add(elements)
                    .add(walk, WalkStruct.ALIGNMENT)
                    .add(options, WalkStruct.ALIGNMENT)
                    .add(faults)
                    .add(step);
            stream.launch(kernel.function(), shape, arguments);
        }
    }
}
