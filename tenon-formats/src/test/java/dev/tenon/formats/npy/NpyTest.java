package dev.tenon.formats.npy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyTest {
    @TempDir
    private Path folder = Path.of("");

    private static NpyArray array(TensorType type, double... values) {
        MemorySegment memory = Arena.ofAuto().allocate(type.bytes(), 8);
        NdArray.of(type, values).write(memory);
        return new NpyArray(type, memory);
    }

    private static NdArray values(NpyArray array) {
        return NdArray.read(array.type(), array.data());
    }

    /** A file of version 1 with that dictionary. */
    private static MemorySegment file(String dict, int... data) {
        byte[] bytes = new byte[10 + dict.length() + data.length];
        byte[] magic = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (byte) dict.length(), 0};
        System.arraycopy(magic, 0, bytes, 0, 10);
        System.arraycopy(dict.getBytes(StandardCharsets.ISO_8859_1), 0, bytes, 10, dict.length());
        for (int i = 0; i < data.length; i++) {
            bytes[10 + dict.length() + i] = (byte) data[i];
        }
        return MemorySegment.ofArray(bytes);
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F8E4M3", "F8E5M2", "BF16", "I4", "U4"},
            mode = EnumSource.Mode.EXCLUDE)
    void whatIsWrittenIsRead(DType dtype) throws IOException {
        TensorType type = TensorType.of(dtype, 2, 3);
        NpyArray written = array(type, 0, 1, 1, 0, 1, 0);
        Path path = folder.resolve("a.npy");
        Npy.write(path, written);
        NpyArray read = Npy.read(path);
        assertThat(read.type()).isEqualTo(type);
        assertThat(values(read).toDoubles()).containsExactly(0, 1, 1, 0, 1, 0);
        assertThat((Files.size(path) - read.data().byteSize()) % 64).isZero();
    }

    @ParameterizedTest
    @CsvSource({"BF16,F32", "F8E4M3,F32", "F8E5M2,F32", "I4,I8", "U4,U8"})
    void whatNumpyHasNotIsWidened(DType from, DType to) throws IOException {
        Path path = folder.resolve("a.npy");
        Npy.write(path, array(TensorType.of(from, 3), 1, 2, 3));
        assertThat(Npy.read(path).type()).isEqualTo(TensorType.of(to, 3));
        assertThat(values(Npy.read(path)).toDoubles()).containsExactly(1, 2, 3);
    }

    @Test
    void headersAreNumpysOwn() throws IOException {
        Path path = folder.resolve("a.npy");
        Npy.write(path, array(TensorType.of(DType.F32, 5), 1, 2, 3, 4, 5));
        String text = Files.readString(path, StandardCharsets.ISO_8859_1);
        assertThat(text.substring(10, 128))
                .isEqualTo("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }" + " ".repeat(60) + "\n");
        Npy.write(path, array(TensorType.of(DType.BOOL), 1));
        assertThat(Files.readString(path, StandardCharsets.ISO_8859_1))
                .contains("{'descr': '|b1', 'fortran_order': False, 'shape': (), }");
    }

    @Test
    void columnMajorAndBigEndian() {
        MemorySegment columns = file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", 1, 4, 2, 5, 3, 6);
        assertThat(values(Npy.parse("a", columns)).toLongs()).containsExactly(1, 2, 3, 4, 5, 6);
        MemorySegment big = file("{\"shape\": (2L,), 'fortran_order': False, 'descr': '>i2'}", 1, 2, 255, 254);
        assertThat(values(Npy.parse("a", big)).toLongs()).containsExactly(258, -2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999,), }",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 1), }",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
                "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
                "{'descr': '<f4', 'fortran_order': False, }",
                "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
                "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
                "{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }",
                "{'descr': '', 'fortran_order': False, 'shape': (1,), }",
                "{'descr': '<f4",
                "(",
                "{"
            })
    void headersThatMakeNoSense(String dict) {
        assertThatThrownBy(() -> Npy.parse("bad.npy", file(dict, 0, 0, 0, 0)))
                .isInstanceOf(ImportException.class)
                .hasMessageStartingWith("bad.npy");
    }

    @Test
    void filesCutShort() throws IOException {
        Path path = folder.resolve("a.npy");
        Npy.write(path, array(TensorType.of(DType.F32, 5), 1, 2, 3, 4, 5));
        byte[] whole = Files.readAllBytes(path);
        for (int length = 0; length < whole.length; length++) {
            MemorySegment part = MemorySegment.ofArray(java.util.Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> Npy.parse("a", part)).isInstanceOf(ImportException.class);
        }
        whole[6] = 2;
        whole[10] = (byte) 0xFF;
        whole[11] = (byte) 0xFF;
        assertThatThrownBy(() -> Npy.parse("a", MemorySegment.ofArray(whole)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("claims 4294");
    }
}
