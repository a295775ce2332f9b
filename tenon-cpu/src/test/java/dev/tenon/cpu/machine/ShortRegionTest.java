package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cpu.machine.RegionKernel.Element;
import dev.tenon.cpu.machine.RegionKernel.Form;
import dev.tenon.cpu.machine.RegionKernel.Step;
import dev.tenon.cpu.machine.RegionKernel.Word;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Regions that read or write floats of 16 bits: every bit of every value, rows of every length, unaligned. */
class ShortRegionTest {
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int ALL = 1 << 16;

    private final MemorySegment arguments = MachineCode.arguments();

    @BeforeAll
    static void requireMachineCode() {
        MachineCode.widths();
    }

    private static RegionKernel kernel(int lanes, Element from, Element to, Word... words) {
        List<Step> steps = java.util.stream.IntStream.range(0, words.length)
                .mapToObj(i -> new Step(words[i], i, i, 0, 0))
                .toList();
        return Objects.requireNonNull(RegionKernel.make(lanes, new Form(List.of(from), 0, steps, to)));
    }

    private void run(RegionKernel kernel, int n, MemorySegment x, MemorySegment y, boolean past) {
        kernel.run(1, n, new Matrix[] {new Matrix(x, 0, 0)}, new float[0], new Matrix(y, 0, 0), past, arguments);
    }

    private static MemorySegment memory(long bytes, long offset) {
        MemorySegment memory = Arena.ofAuto().allocate(bytes + offset, 64).asSlice(offset);
        memory.fill((byte) 0x5A);
        return memory;
    }

    @Test
    void everyShortFloatBecomesItsFloat() {
        for (int lanes : MachineCode.widths()) {
            for (Element element : List.of(Element.F16, Element.BF16)) {
                MemorySegment x = memory(2L * ALL, 2);
                MemorySegment y = memory(4L * ALL, 4);
                for (int code = 0; code < ALL; code++) {
                    x.set(I16, 2L * code, (short) code);
                }
                run(kernel(lanes, element, Element.F32, Word.COPY), ALL, x, y, false);
                for (int code = 0; code < ALL; code++) {
                    int wanted = element == Element.F16
                            ? Float.floatToRawIntBits(Float.float16ToFloat((short) code))
                            : code << 16;
                    assertThat(y.get(I32, 4L * code)).as(element + " " + code).isEqualTo(wanted);
                }
            }
        }
    }

    /** Each short float, what lies between it and the next, the middle and its neighbours; NaN of many kinds. */
    @Test
    void floatsAreRoundedToEven() {
        for (int lanes : MachineCode.widths()) {
            for (Element element : List.of(Element.F16, Element.BF16)) {
                for (boolean past : new boolean[] {false, true}) {
                    floatsAreRoundedToEven(lanes, element, past);
                }
            }
        }
    }

    private void floatsAreRoundedToEven(int lanes, Element element, boolean past) {
        int[] deltas = {-1, 0, 1, 0x800, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001};
        int n = ALL * deltas.length;
        MemorySegment x = memory(4L * n, 4);
        MemorySegment y = memory(2L * n + 2, past ? 0 : 2);
        MemorySegment rounded = memory(4L * n, 4);
        for (int i = 0; i < n; i++) {
            short code = (short) (i / deltas.length);
            int bits = element == Element.F16 ? Float.floatToRawIntBits(Float.float16ToFloat(code)) : code << 16;
            x.set(I32, 4L * i, bits + deltas[i % deltas.length]);
        }
        run(kernel(lanes, Element.F32, element, Word.COPY), n, x, y, past);
        Word round = element == Element.F16 ? Word.ROUND_HALF : Word.ROUND_BFLOAT;
        run(kernel(lanes, Element.F32, Element.F32, round), n, x, rounded, past);
        for (int i = 0; i < n; i++) {
            float value = Float.intBitsToFloat(x.get(I32, 4L * i));
            short wanted = element == Element.F16 ? Float.floatToFloat16(value) : bfloat(value);
            int back = element == Element.F16 ? Float.floatToRawIntBits(Float.float16ToFloat(wanted)) : wanted << 16;
            if (y.get(I16, 2L * i) != wanted || rounded.get(I32, 4L * i) != back) {
                throw new AssertionError(value + " became " + y.get(I16, 2L * i) + " and " + rounded.get(I32, 4L * i)
                        + "; expected " + wanted + " and " + back + ", " + element + ", " + lanes);
            }
        }
        assertThat(y.get(I16, 2L * n)).isEqualTo((short) 0x5A5A);
    }

    private static short bfloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        return (short) (Float.isNaN(value) ? bits >>> 16 | 0x40 : (bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16);
    }

    /** Rows with gaps between them, of each length up to some vectors: nothing beside them is written. */
    @Test
    void rowsOfEveryLength() {
        Step add = new Step(Word.ADD, 0, 1, 0, 0);
        for (int lanes : MachineCode.widths()) {
            for (Element element : List.of(Element.F16, Element.BF16)) {
                Form form = new Form(List.of(element, Element.F32), 0, List.of(add), element);
                RegionKernel kernel = Objects.requireNonNull(RegionKernel.make(lanes, form));
                for (int n = 1; n <= 50; n++) {
                    rowsOfLength(kernel, element, n);
                }
            }
        }
    }

    private void rowsOfLength(RegionKernel kernel, Element element, int n) {
        int rows = 3;
        MemorySegment x = memory(2L * rows * n, 2);
        MemorySegment row = memory(4L * n, 4);
        MemorySegment y = memory(2L * rows * (n + 1), 2);
        for (int i = 0; i < rows * n; i++) {
            x.set(I16, 2L * i, element == Element.F16 ? Float.floatToFloat16(i) : bfloat(i));
        }
        for (int i = 0; i < n; i++) {
            row.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i, i / 4f);
        }
        Matrix[] operands = {new Matrix(x, 0, 2L * n), new Matrix(row, 0, 0)};
        kernel.run(rows, n, operands, new float[0], new Matrix(y, 0, 2L * (n + 1)), false, arguments);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < n; j++) {
                float sum = i * n + j + j / 4f;
                short wanted = element == Element.F16 ? Float.floatToFloat16(sum) : bfloat(sum);
                assertThat(y.get(I16, 2L * (i * (n + 1) + j)))
                        .as("element " + j + " of row " + i + " of " + n)
                        .isEqualTo(wanted);
            }
            assertThat(y.get(I16, 2L * (i * (n + 1) + n))).isEqualTo((short) 0x5A5A);
        }
    }
}
