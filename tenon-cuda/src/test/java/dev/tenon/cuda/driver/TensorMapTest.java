package dev.tenon.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.cuda.compile.NvccCompiler;
import dev.tenon.cuda.compile.NvrtcCompiler;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import dev.tenon.cuda.port.TensorMap.Element;
import dev.tenon.cuda.port.TensorMap.Swizzle;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Boxes of tensors, copied into shared memory through encoded maps; and maps that there cannot be. */
class TensorMapTest {
    private static final Architecture FIRST = new Architecture(9, 0);
    private static final int MOST_BYTES = 32768;

    /** One box: into shared memory by one bulk copy, and from there out byte by byte. */
    private static final KernelSource SOURCE = new KernelSource("tensor_map_test.cu", """
            #include "tenon.cuh"
            struct alignas(64) Map { u64 words[16]; };

            #define TILE(NAME, RANK, PLACE, ...)                                                                       \\
                extern "C" __global__ void NAME(const __grid_constant__ Map map, int a, int b, int c, int d, int e,     \\
                                                int bytes, u8* out) {                                                  \\
                    __shared__ alignas(1024) u8 tile[32768];                                                           \\
                    __shared__ alignas(8) u64 barrier;                                                                 \\
                    u32 bar = static_cast<u32>(__cvta_generic_to_shared(&barrier));                                    \\
                    if (threadIdx.x == 0) {                                                                            \\
                        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");                  \\
                        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                   \\
                        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)   \\
                                     : "memory");                                                                      \\
                        asm volatile("cp.async.bulk.tensor." RANK                                                      \\
                                     ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, " PLACE "], [%2];" \\
                                     ::"r"(static_cast<u32>(__cvta_generic_to_shared(tile))), "l"(&map), "r"(bar),     \\
                                     __VA_ARGS__ : "memory");                                                          \\
                    }                                                                                                  \\
                    __syncthreads();                                                                                   \\
                    u32 done = 0;                                                                                      \\
                    while (!done) {                                                                                    \\
                        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"            \\
                                     " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");                   \\
                    }                                                                                                  \\
                    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];                            \\
                }

            TILE(tile1, "1d", "{%3}", "r"(a))
            TILE(tile2, "2d", "{%3, %4}", "r"(a), "r"(b))
            TILE(tile3, "3d", "{%3, %4, %5}", "r"(a), "r"(b), "r"(c))
            TILE(tile5, "5d", "{%3, %4, %5, %6, %7}", "r"(a), "r"(b), "r"(c), "r"(d), "r"(e))
            """, Map.of(), List.of());

    /**
     * A tensor, a box, and places to take it from.
     *
     * @param padding bytes behind each row
     */
    private record Case(Element element, List<Long> sizes, int padding, List<Integer> box, Swizzle swizzle) {
        List<Long> strides() {
            List<Long> strides = new ArrayList<>();
            long stride = Math.ceilDiv(sizes.getFirst() * element.bytes(), 16L) * 16 + padding;
            for (int dim = 1; dim < sizes.size(); dim++) {
                strides.add(stride);
                stride *= sizes.get(dim);
            }
            return strides;
        }

        int bytes() {
            return sizes.size() == 1
                    ? Math.toIntExact(sizes.getFirst() * element.bytes())
                    : Math.toIntExact(strides().getLast() * sizes.getLast());
        }

        int boxBytes() {
            return box.stream().reduce(element.bytes(), (x, y) -> x * y);
        }

        TensorMap map(long address) {
            return new TensorMap(element, address, sizes, strides(), box, swizzle);
        }

        /**
         * Inside, across each end, and wholly outside; along the first dim in steps of 16 bytes, as {@link TensorMap}
         * says.
         */
        Stream<int[]> places() {
            int step = 16 / element.bytes();
            return Stream.of(0.0, 0.3, -0.1, 1.0, 1.5).map(share -> {
                int[] place = sizes.stream()
                        .mapToInt(size -> (int) Math.floor(share * size) - (share == 1.0 ? 1 : 0))
                        .toArray();
                place[0] = Math.floorDiv(place[0], step) * step;
                return place;
            });
        }

        /** The box in shared memory, by the definition. */
        byte[] expected(byte[] tensor, int[] place) {
            byte[] tile = new byte[boxBytes()];
            for (int at = 0; at < tile.length; at += element.bytes()) {
                int rest = at / element.bytes();
                long from = 0;
                boolean inside = true;
                for (int dim = 0; dim < box.size(); dim++) {
                    long where = place[dim] + rest % box.get(dim);
                    rest /= box.get(dim);
                    inside &= where >= 0 && where < sizes.get(dim);
                    from += where * (dim == 0 ? element.bytes() : strides().get(dim - 1));
                }
                if (inside) {
                    System.arraycopy(tensor, (int) from, tile, swizzled(at), element.bytes());
                }
            }
            return tile;
        }

        /**
         * 16-byte pieces within a span change places by the number of the 128-byte line that they lie in, those of
         * shorter spans by fewer of its bits.
         */
        private int swizzled(int at) {
            int line = at >> 7;
            int moved = switch (swizzle) {
                case NONE -> 0;
                case BYTES_32 -> line & 1;
                case BYTES_64 -> line & 3;
                case BYTES_128 -> line & 7;
            };
            return at ^ moved << 4;
        }
    }

    static Stream<Case> cases() {
        return Stream.of(
                new Case(Element.F32, List.of(100L, 37L), 0, List.of(32, 8), Swizzle.NONE),
                new Case(Element.F32, List.of(101L, 37L), 48, List.of(4, 1), Swizzle.NONE),
                new Case(Element.TF32, List.of(64L, 64L), 0, List.of(32, 16), Swizzle.BYTES_128),
                new Case(Element.BF16, List.of(64L, 31L), 16, List.of(32, 16), Swizzle.BYTES_64),
                new Case(Element.F16, List.of(24L, 70L), 0, List.of(16, 64), Swizzle.BYTES_32),
                new Case(Element.F16, List.of(40L, 5L, 7L), 32, List.of(8, 3, 2), Swizzle.NONE),
                new Case(Element.U8, List.of(1000L), 0, List.of(256), Swizzle.NONE),
                new Case(Element.U8, List.of(64L, 256L), 0, List.of(64, 256), Swizzle.BYTES_64),
                new Case(Element.BF16, List.of(16L, 3L, 2L, 3L, 5L), 0, List.of(8, 2, 2, 2, 3), Swizzle.NONE));
    }

    private static KernelCompiler compiler() {
        KernelCompiler nvrtc = new NvrtcCompiler();
        return nvrtc.unavailable().isEmpty() ? nvrtc : new NvccCompiler();
    }

    /** A GPU that has bulk copies. */
    private static Gpu open() {
        Gpu gpu = Gpu.open();
        if (gpu.context.device().architecture().compareTo(FIRST) < 0) {
            String reason = gpu.context.device().name() + " has no bulk copies; they need compute capability 9.0";
            gpu.close();
            System.out.println("GPU test of tensor maps skipped: " + reason);
            Assumptions.abort(reason);
        }
        return gpu;
    }

    @ParameterizedTest
    @MethodSource("cases")
    void boxesAreCopied(Case one) throws Exception {
        byte[] tensor = new byte[one.bytes()];
        new Random(3).nextBytes(tensor);
        assertThat(one.boxBytes()).isLessThanOrEqualTo(MOST_BYTES);
        Element element = one.element();
        if (element != Element.U8) {
            finite(tensor, element); // TF32 may lose bits, NaN may change
        }
        try (Gpu gpu = open();
                GpuModule module = gpu.context.load(
                        compiler().compile(SOURCE, gpu.context.device().architecture()));
                DeviceBuffer x = gpu.context.allocate(tensor.length);
                DeviceBuffer y = gpu.context.allocate(one.boxBytes())) {
            gpu.stream.copyToDevice(MemorySegment.ofArray(tensor), x, 0);
            MemorySegment map = gpu.context.encode(one.map(x.address()));
            assertThat(map.byteSize()).isEqualTo(128);
            for (int[] place : one.places().toList()) {
                int[] five = Arrays.copyOf(place, 5);
                gpu.stream.fill(y, 0, one.boxBytes(), (byte) 0x5a);
                gpu.stream.launch(
                        module.function("tile" + place.length),
                        LaunchShape.of(1, 128),
                        gpu.arguments()
                                .add(map, 128)
                                .add(five[0])
                                .add(five[1])
                                .add(five[2])
                                .add(five[3])
                                .add(five[4])
                                .add(one.boxBytes())
                                .add(y));
                byte[] tile = new byte[one.boxBytes()];
                gpu.stream.copyToHost(y, 0, MemorySegment.ofArray(tile));
                assertThat(tile).as(one + " at " + Arrays.toString(place)).isEqualTo(one.expected(tensor, place));
            }
        }
    }

    /** Ordinary numbers, which TF32 has too: the exponent is in the middle, the mantissa's low bits are 0. */
    private static void finite(byte[] tensor, Element element) {
        for (int i = 0; i + element.bytes() <= tensor.length; i += element.bytes()) {
            int top = i + element.bytes() - 1;
            tensor[top] = (byte) (tensor[top] & 0xbf | 0x20);
            if (element.bytes() == 4) {
                tensor[i] = 0;
                tensor[i + 1] &= (byte) 0xe0;
            }
        }
    }

    @Test
    void aMapOfAClosedContextIsRefused() {
        Gpu gpu = open();
        gpu.close();
        assertThatThrownBy(() -> gpu.context.encode(cases().toList().getFirst().map(256)))
                .isInstanceOf(ClosedException.class);
    }

    /** Without a GPU: the source is one that ptxas takes. */
    @Test
    void mapsThatLinkTheEncoderAreMaps() {
        assertThat(TensorMapEncoder.TILES.sizes()).hasSize(2);
        assertThat(TensorMapEncoder.WINDOWS.sizes()).hasSize(4);
    }

    @Test
    void theKernelsCompile() {
        KernelCompiler compiler = compiler();
        Assumptions.assumeTrue(compiler.unavailable().isEmpty(), compiler.unavailable());
        Assumptions.assumeTrue(compiler.architectures().contains(FIRST), "too old a compiler");
        assertThat(compiler.compile(SOURCE, FIRST).bytes().byteSize()).isPositive();
    }

    private static TensorMap f32(long address, List<Long> sizes, List<Long> strides, List<Integer> box, Swizzle by) {
        return new TensorMap(Element.F32, address, sizes, strides, box, by);
    }

    private static void refused(String message, Runnable map) {
        assertThatThrownBy(map::run)
                .isInstanceOf(InputException.class)
                .hasMessageStartingWith("tensor map: ")
                .hasMessageContaining(message);
    }

    @Test
    void mapsThatThereCannotBe() {
        List<Long> six = LongStream.range(1, 7).boxed().toList();
        List<Long> line = List.of(64L);
        List<Long> square = List.of(64L, 64L);
        List<Long> rows = List.of(256L);
        refused("expected 1 to 5 sizes", () -> f32(0, List.of(), List.of(), List.of(), Swizzle.NONE));
        refused(
                "expected 1 to 5 sizes",
                () -> f32(0, six, List.of(16L, 16L, 16L, 16L, 16L), List.of(4, 1, 1, 1, 1, 1), Swizzle.NONE));
        refused("one stride less", () -> f32(0, square, List.of(256L, 256L), List.of(4, 4), Swizzle.NONE));
        refused("as many in the box", () -> f32(0, square, rows, List.of(4), Swizzle.NONE));
        refused("0x1008 is no multiple of 16", () -> f32(0x1008, line, List.of(), List.of(4), Swizzle.NONE));
        refused("sizes [0]", () -> f32(0, List.of(0L), List.of(), List.of(4), Swizzle.NONE));
        refused("2^32", () -> f32(0, List.of(1L << 33), List.of(), List.of(4), Swizzle.NONE));
        refused("strides [8]", () -> f32(0, square, List.of(8L), List.of(4, 4), Swizzle.NONE));
        refused("below 2^40", () -> f32(0, square, List.of(1L << 40), List.of(4, 4), Swizzle.NONE));
        refused("strides [-16]", () -> f32(0, square, List.of(-16L), List.of(4, 4), Swizzle.NONE));
        refused("box [4, 0]", () -> f32(0, square, rows, List.of(4, 0), Swizzle.NONE));
        refused("box [4, 257]", () -> f32(0, square, rows, List.of(4, 257), Swizzle.NONE));
        refused("rows of 12 bytes", () -> f32(0, square, rows, List.of(3, 4), Swizzle.NONE));
        refused("BYTES_128 takes at most 128", () -> f32(0, square, rows, List.of(64, 4), Swizzle.BYTES_128));
        assertThat(f32(0, List.of(1L << 32), List.of(), List.of(256), Swizzle.NONE)
                        .box())
                .containsExactly(256);
    }
}
