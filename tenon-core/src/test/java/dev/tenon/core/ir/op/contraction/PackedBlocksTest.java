package dev.tenon.core.ir.op.contraction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** GGUF blocks against numbers that were made by others or by hand. */
class PackedBlocksTest {
    private static final int HALF = 0x3800;
    private static final int ONE = 0x3C00;

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = PackedBlocksTest.class.getResourceAsStream("/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    private static NdArray bytes(int... values) {
        NdArray array = NdArray.zeros(DType.U8, values.length);
        for (int i = 0; i < values.length; i++) {
            array.set(i, (long) values[i]);
        }
        return array;
    }

    private static NdArray decode(BlockFormat format, NdArray packed) {
        return new DecodeBlocks(format, DType.F32).evaluate(List.of(packed)).getFirst();
    }

    /** Two blocks with every sub-block's scale and minimum different: GG-02. */
    @Test
    @DisplayName("GG-02 sub blocks have their own scales")
    void subBlocksHaveTheirOwnScales() throws IOException {
        byte[] file = resource("q4k_2blocks.bin");
        NdArray packed = NdArray.read(TensorType.of(DType.U8, file.length), MemorySegment.ofArray(file));
        NdArray expected =
                NdArray.read(TensorType.of(DType.F32, 512), MemorySegment.ofArray(resource("q4k_2blocks.f32")));
        NdArray decoded = decode(BlockFormat.Q4_K, packed);
        assertThat(decoded.toDoubles()).containsExactly(expected.toDoubles());
        double[] firsts = {0, -0.5, 1, 4.5, 58, 153.5, 282, 409.5, 236.25, 90, -8.25, 505, 108.25, 75.5, 46.75, 22};
        for (int i = 0; i < firsts.length; i++) {
            assertThat(decoded.get(32 * i)).isEqualTo(firsts[i]);
        }
    }

    @Test
    void sizesOfBlocks() {
        int[] bytes = {18, 20, 22, 24, 34, 84, 110, 144, 176, 210};
        for (BlockFormat format : BlockFormat.values()) {
            assertThat(format.bytes()).isEqualTo(bytes[format.ordinal()]);
        }
    }

    private static int[] block(BlockFormat format) {
        return new int[format.bytes()];
    }

    private static void half(int[] block, int at, int bits) {
        block[at] = bits & 0xFF;
        block[at + 1] = bits >> 8;
    }

    @Test
    void smallBlocks() {
        int[] four = block(BlockFormat.Q4_0);
        half(four, 0, HALF);
        four[2] = 0xF1;
        NdArray y = decode(BlockFormat.Q4_0, bytes(four));
        assertThat(y.get(0)).isEqualTo(0.5 * (1 - 8));
        assertThat(y.get(16)).isEqualTo(0.5 * (15 - 8));
        assertThat(y.get(31)).isEqualTo(0.5 * -8);

        int[] shifted = block(BlockFormat.Q4_1);
        half(shifted, 0, HALF);
        half(shifted, 2, ONE);
        shifted[4 + 15] = 0x2B;
        y = decode(BlockFormat.Q4_1, bytes(shifted));
        assertThat(y.get(15)).isEqualTo(0.5 * 11 + 1);
        assertThat(y.get(31)).isEqualTo(0.5 * 2 + 1);
        assertThat(y.get(0)).isEqualTo(1);

        int[] five = block(BlockFormat.Q5_0);
        half(five, 0, HALF);
        five[2] = 0b10; // the fifth bit of element 1
        five[5] = 0b1000_0000; // of element 31
        five[6 + 1] = 0x03;
        five[6 + 15] = 0x40;
        y = decode(BlockFormat.Q5_0, bytes(five));
        assertThat(y.get(1)).isEqualTo(0.5 * (16 + 3 - 16));
        assertThat(y.get(31)).isEqualTo(0.5 * (16 + 4 - 16));
        assertThat(y.get(0)).isEqualTo(0.5 * -16);

        int[] both = block(BlockFormat.Q5_1);
        half(both, 0, HALF);
        half(both, 2, ONE);
        both[4 + 2] = 1; // of element 16
        both[8] = 0x70;
        y = decode(BlockFormat.Q5_1, bytes(both));
        assertThat(y.get(16)).isEqualTo(0.5 * (16 + 7) + 1);
        assertThat(y.get(0)).isEqualTo(1);

        int[] eight = block(BlockFormat.Q8_0);
        half(eight, 0, HALF);
        eight[2] = 0x80;
        eight[33] = 0x7F;
        y = decode(BlockFormat.Q8_0, bytes(eight));
        assertThat(y.get(0)).isEqualTo(-64);
        assertThat(y.get(31)).isEqualTo(63.5);
    }

    @Test
    void largeBlocks() {
        int[] two = block(BlockFormat.Q2_K);
        half(two, 80, HALF);
        half(two, 82, ONE);
        two[9] = 0x35; // sub-block 9: scale 5, minimum 3
        two[16 + 32 + 16] = 0b10; // element 144: the first of sub-block 9
        NdArray y = decode(BlockFormat.Q2_K, bytes(two));
        assertThat(y.get(144)).isEqualTo(0.5 * 5 * 2 - 3);
        assertThat(y.get(145)).isEqualTo(-3);
        assertThat(y.get(0)).isZero();

        int[] three = block(BlockFormat.Q3_K);
        half(three, 108, HALF);
        three[96 + 1] = 0xA0; // the low half of sub-block 9's scale
        three[104 + 1] = 0b11_0000; // and its upper two bits
        three[32 + 32 + 16] = 0b10; // element 144
        three[16] = 0b1_0000; // whose upper bit is set
        y = decode(BlockFormat.Q3_K, bytes(three));
        assertThat(y.get(144)).isEqualTo(0.5 * (0xA + 48 - 32) * 2);
        assertThat(y.get(145)).isEqualTo(0.5 * (0xA + 48 - 32) * -4);
        assertThat(y.get(0)).isEqualTo(0.5 * -32 * -4);

        int[] five = block(BlockFormat.Q5_K);
        half(five, 0, HALF);
        half(five, 2, ONE);
        five[4 + 5 + 4] = 0x21; // sub-block 5: low halves of minimum and scale
        five[4 + 1] = 0b0100_0000; // bits 4 and 5 of its scale
        five[4 + 5] = 0b1000_0000; // and of its minimum
        five[16 + 3] = 0b10_0000; // the fifth bit of element 3 of sub-block 5
        five[48 + 2 * 32 + 3] = 0x90;
        y = decode(BlockFormat.Q5_K, bytes(five));
        assertThat(y.get(5 * 32 + 3)).isEqualTo(0.5 * (16 + 1) * (16 + 9) - (32 + 2));
        assertThat(y.get(5 * 32)).isEqualTo(-(32 + 2));

        int[] six = block(BlockFormat.Q6_K);
        half(six, 208, HALF);
        six[192 + 8 + 4] = 0xFE; // sub-block 12: scale -2
        six[64 + 1] = 0xB0; // element 193
        six[128 + 32 + 1] = 0b01_0000;
        y = decode(BlockFormat.Q6_K, bytes(six));
        assertThat(y.get(193)).isEqualTo(0.5 * -2 * (0xB + 16 - 32));
        assertThat(y.get(192)).isEqualTo(0.5 * -2 * -32);
    }

    @Test
    void rowsAreWholeBlocks() {
        assertThatThrownBy(() -> decode(BlockFormat.Q4_0, bytes(new int[19])))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining("19 is not a multiple of 18");
    }
}
