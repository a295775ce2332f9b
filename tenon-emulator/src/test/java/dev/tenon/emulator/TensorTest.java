package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.LaunchShape;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fragments in the PTX ISA's layouts, asynchronous copies, and conversions over all of their patterns. */
class TensorTest {
    private static final LaunchShape WARP = LaunchShape.of(1, 32);
    private static Harness harness;

    @BeforeAll
    static void open() {
        Harness.require();
        harness = new Harness("tensor.cu", Harness.options(true));
    }

    @AfterAll
    static void close() {
        if (harness != null) {
            harness.close();
        }
    }

    private static short bf16(float v) {
        int bits = Float.floatToRawIntBits(v);
        return (short) (Float.isNaN(v) ? 0x7fff : bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
    }

    private static float fromBf16(short v) {
        return Float.intBitsToFloat(v << 16);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mma_f16", "mma_bf16"})
    void halfProducts(String kernel) {
        boolean half = kernel.equals("mma_f16");
        Random random = new Random(3);
        short[] a = new short[256];
        short[] b = new short[128];
        float[] c = new float[128];
        for (int i = 0; i < 256; i++) {
            a[i] = half ? Float.floatToFloat16(random.nextFloat() - 0.5f) : bf16(random.nextFloat() - 0.5f);
        }
        for (int i = 0; i < 128; i++) {
            b[i] = half ? Float.floatToFloat16(random.nextFloat() - 0.5f) : bf16(random.nextFloat() - 0.5f);
            c[i] = random.nextFloat();
        }
        try (DeviceBuffer ab = harness.upload(a);
                DeviceBuffer bb = harness.upload(b);
                DeviceBuffer d = harness.upload(c)) {
            harness.run(kernel, WARP, ab, bb, d);
            float[] out = harness.floats(d);
            for (int i = 0; i < 16; i++) {
                for (int j = 0; j < 8; j++) {
                    float sum = c[i * 8 + j];
                    for (int k = 0; k < 16; k++) {
                        short x = a[i * 16 + k];
                        short y = b[k * 8 + j];
                        sum += half ? Float.float16ToFloat(x) * Float.float16ToFloat(y) : fromBf16(x) * fromBf16(y);
                    }
                    assertThat(out[i * 8 + j]).isEqualTo(sum);
                }
            }
        }
    }

    @Test
    void floatProducts() {
        Random random = new Random(4);
        float[] a = new float[128];
        float[] b = new float[64];
        for (int i = 0; i < 128; i++) {
            a[i] = random.nextFloat() - 0.5f;
            b[i / 2] = random.nextFloat() - 0.5f;
        }
        try (DeviceBuffer ab = harness.upload(a);
                DeviceBuffer bb = harness.upload(b);
                DeviceBuffer d = harness.upload(new float[128])) {
            harness.run("mma_tf32", WARP, ab, bb, d);
            float[] out = harness.floats(d);
            for (int i = 0; i < 128; i++) {
                float sum = 0;
                for (int k = 0; k < 8; k++) {
                    sum += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
                }
                assertThat(out[i]).isEqualTo(sum);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void matrices(int transposed) {
        short[] m = new short[256];
        for (int i = 0; i < 256; i++) {
            m[i] = (short) (i * 257);
        }
        try (DeviceBuffer mb = harness.upload(m);
                DeviceBuffer y = harness.context.allocate(32 * 16)) {
            harness.run("matrices", WARP, mb, y, transposed);
            int[] out = harness.ints(y);
            for (int lane = 0; lane < 32; lane++) {
                for (int k = 0; k < 4; k++) {
                    int i = lane / 4;
                    int j = lane % 4 * 2;
                    int low = transposed == 0 ? i * 8 + j : j * 8 + i;
                    int high = transposed == 0 ? i * 8 + j + 1 : (j + 1) * 8 + i;
                    int expected = (m[k * 64 + low] & 0xffff) | m[k * 64 + high] << 16;
                    assertThat(out[lane * 4 + k]).isEqualTo(expected);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void copiesUnderWay(int tiles) {
        float[] x = new float[128 * tiles];
        for (int i = 0; i < x.length; i++) {
            x[i] = i % 97;
        }
        try (DeviceBuffer xb = harness.upload(x);
                DeviceBuffer y = harness.context.allocate(128)) {
            harness.run("pipeline", WARP, xb, y, tiles);
            float[] out = harness.floats(y);
            for (int t = 0; t < 32; t++) {
                float sum = 0;
                for (int tile = 0; tile < tiles; tile++) {
                    for (int i = 0; i < 4; i++) {
                        sum += x[tile * 128 + t + i * 32];
                    }
                }
                assertThat(out[t]).isEqualTo(sum);
            }
        }
    }

    @Test
    void everyHalfPatternToFloat() {
        try (DeviceBuffer h = harness.context.allocate(65536 * 4L);
                DeviceBuffer b = harness.context.allocate(65536 * 4L)) {
            harness.run("to_floats", LaunchShape.of(256, 256), h, b);
            float[] halves = harness.floats(h);
            float[] brains = harness.floats(b);
            for (int i = 0; i < 65536; i++) {
                float half = Float.float16ToFloat((short) i);
                assertThat(Float.floatToIntBits(halves[i])).as("f16 %x", i).isEqualTo(Float.floatToIntBits(half));
                assertThat(Float.floatToIntBits(brains[i]))
                        .as("bf16 %x", i)
                        .isEqualTo(Float.floatToIntBits(Float.intBitsToFloat(i << 16)));
            }
        }
    }

    @Test
    void floatsToHalves() {
        int count = 1 << 17;
        float[] x = new float[count];
        Random random = new Random(1);
        for (int i = 0; i < count; i++) {
            // every f16, the midpoints to its neighbours and what lies just beside them; then anything
            int half = i / 3 * 2 % 65536;
            x[i] = i < 98304
                    ? Float.intBitsToFloat(
                            Float.floatToRawIntBits(Float.float16ToFloat((short) half)) + 0x1000 + i % 3 - 1)
                    : Float.intBitsToFloat(random.nextInt());
        }
        try (DeviceBuffer xb = harness.upload(x);
                DeviceBuffer h = harness.context.allocate(count * 2L);
                DeviceBuffer b = harness.context.allocate(count * 2L)) {
            harness.run("from_floats", LaunchShape.of(count / 256, 256), xb, h, b);
            short[] halves = harness.shorts(h);
            short[] brains = harness.shorts(b);
            for (int i = 0; i < count; i++) {
                boolean nan = Float.isNaN(x[i]);
                short half = nan ? 0x7fff : Float.floatToFloat16(x[i]);
                assertThat(halves[i]).as("%a to f16", x[i]).isEqualTo(half);
                assertThat(brains[i]).as("%a to bf16", x[i]).isEqualTo(bf16(x[i]));
            }
        }
    }
}
