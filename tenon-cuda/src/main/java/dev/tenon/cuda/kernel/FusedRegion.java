package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.lazy.LazyMap;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A region as {@code elementwise_fused.cu} runs it: a variant of that file, which depends on operations, types, and how
 * each input is read, never on sizes; and the sizes. Immutable.
 */
public final class FusedRegion {
    private static final int BLOCK_PACKS = 256;
    private static final int IN_FLIGHT_BYTES = 192; // of a thread's inputs, 48 registers
    private static final int LONG_PROGRAM = 24; // steps, past which a second pack would only lengthen the code

    /** Making one takes longer than all else of a step, and layers and sizes share few. */
    private static final LazyMap<Key, Code> CODES = new LazyMap<>(256);

    /** What code depends on: never sizes, but how each input is read and how many dims are walked. */
    private record Key(Region region, List<DType> types, String forms, List<String> counts) {}

    /** How a region is compiled: {@code live} steps, {@code packs} of {@code width} elements a thread. */
    private record Code(KernelVariant variant, int live, int width, int packs) {}

    private final int inputs;
    private final int results;
    private final long elements;
    private final FusedOperands operands;
    private final Code code;

    /**
     * @param shape of the results
     * @param types of the region's inputs; {@link #misfit} must be empty
     * @param shapes of the region's inputs
     */
    public FusedRegion(Region region, Shape shape, List<DType> types, List<Shape> shapes) {
        inputs = types.size();
        results = region.results().size();
        elements = shape.elements();
        operands = new FusedOperands(shape);
        String forms = forms(types, shapes);
        Key key = new Key(region, List.copyOf(types), forms, operands.counts(inputs, results));
        code = CODES.get(key, () -> code(key));
    }

    private static Code code(Key key) {
        Region region = key.region;
        List<DType> types = key.types;
        int inputs = types.size();
        List<DType> all = RegionProgram.types(region, types);
        FusedSteps steps = new FusedSteps(region, all, inputs);
        int live = steps.count();
        List<DType> streams = Stream.concat(
                        types.stream(), region.results().stream().map(result -> all.get(inputs + result)))
                .toList();
        int widest = streams.stream().mapToInt(DType::bytes).max().orElseThrow();
        int narrowest = streams.stream().mapToInt(DType::bytes).min().orElseThrow();
        int width = widest == 8 ? (narrowest < 8 ? 4 : 2) : Math.min(8, 16 / widest);
        int bytes = types.stream().mapToInt(DType::bytes).sum() * width;
        int packs = live > LONG_PROGRAM || 2 * bytes > IN_FLIGHT_BYTES ? 1 : 2;
        String text = String.join(
                "\n",
                "#pragma once",
                "#define TENON_W " + width,
                "#define TENON_PACKS " + packs,
                "#define TENON_INPUTS " + key.forms,
                "#define TENON_STEPS " + steps.text(),
                "#define TENON_RESULTS " + steps.results(region.results()),
                String.join("\n", key.counts),
                "");
        String hash = new Hash().add(text).hex().substring(0, 32);
        KernelVariant variant = new KernelVariant("_" + hash, DType.U8, List.of(), Map.of("fused_program.cuh", text));
        return new Code(variant, live, width, packs);
    }

    /** Why no kernel can be made for a region; empty when it can. */
    public static String misfit(Region region, Shape shape, List<DType> types) {
        String words = FusedOperands.misfit(types.size(), region.results().size(), shape.rank());
        if (!words.isEmpty()) {
            return words;
        }
        return RegionProgram.types(region, types).stream()
                .filter(type -> !TypeCodes.has(type))
                .findFirst()
                .map(type -> "elements of " + type)
                .orElse("");
    }

    private String forms(List<DType> types, List<Shape> shapes) {
        return IntStream.range(0, inputs)
                .mapToObj(i -> "INPUT(" + i + ", " + operands.form(types.get(i), shapes.get(i)) + ")")
                .collect(Collectors.joining(" "));
    }

    KernelVariant variant() {
        return code.variant;
    }

    /** A thread a few packs. */
    LaunchShape shape() {
        long threads = Math.ceilDiv(elements / code.width, (long) code.packs);
        return Grids.of(Math.max(1, threads), BLOCK_PACKS / code.packs).withProgrammatic();
    }

    /** {@code elementwise_fused of 5 steps, 4 elements an access}. */
    public String tier() {
        return "elementwise_fused of " + code.live + (code.live == 1 ? " step, " : " steps, ") + code.width
                + " elements an access";
    }

    /** The struct {@code Layout} of the kernel. */
    MemorySegment layout() {
        return operands.layout();
    }

    /** Whether its code is loaded, or can be without a compiler. */
    public boolean isHeld(Kernels kernels) {
        return kernels.holds(KernelCatalog.FUSED, code.variant);
    }

    /** Prepares the launch. */
    Launch launch(Kernels kernels) {
        Kernel kernel = kernels.kernel(KernelCatalog.FUSED, "elementwise_fused", code.variant);
        return new Launch(kernel, shape(), inputs + results, elements, layout());
    }

    /** A prepared launch of a compiled region. Immutable; enqueue with a slab of the calling thread. */
    public record Launch(Kernel kernel, LaunchShape shape, int operands, long elements, MemorySegment layout) {
        /**
         * Starts the arguments: the caller then sets the addresses of the inputs and after them of the results, all on
         * 16-byte boundaries, by {@link KernelArguments#word}. A result may lie over an input of its shape and width.
         */
        public void begin(KernelArguments arguments) {
            arguments.clear().addWords(operands);
        }

        public void enqueue(GpuStream stream, KernelArguments arguments, long faults, int step) {
            arguments
                    .add(elements)
                    .add(layout, WalkStruct.ALIGNMENT)
                    .add(faults)
                    .add(step);
            stream.launch(kernel.function(), shape, arguments);
        }
    }
}
