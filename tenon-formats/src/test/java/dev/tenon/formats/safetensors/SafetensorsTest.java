package dev.tenon.formats.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The cases ST-01 and ST-03, and the header's own rules. */
class SafetensorsTest {
    private static Path file(String name) {
        return Path.of("src/test/resources/safetensors", name + ".safetensors");
    }

    @ParameterizedTest
    @CsvSource({
        "st_len_huge, header claims",
        "st_len_eof, header claims",
        "st_len_0, expected",
        "st_short, 3 bytes",
        "st_notobj, but found",
        "st_shape_mismatch, elements",
        "st_overlap, within another tensor",
        "st_gap, behind a gap",
        "st_reversed, ascending",
        "st_eof, data_offsets",
        "st_trailing, bytes of data",
        "st_negdim, shape[0]",
        "st_dimwrap, shape"
    })
    void st01HostileFilesAreRefusedByNameOfWhatIsWrong(String name, String words) {
        assertThatThrownBy(() -> Safetensors.read(file(name)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining(name + ".safetensors")
                .hasMessageContaining(words);
    }

    @Test
    void st01HeaderAboveTheLimitSaysTheLimit() {
        assertThatThrownBy(() -> Safetensors.read(file("st_unaligned_ok"), 100))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("the limit is 100");
    }

    @Test
    void st03UnalignedEmptyAndScalarTensorsAreRead() {
        Safetensors file = Safetensors.read(file("st_unaligned_ok"));
        assertThat(file.tensor("z").shape().sizes()).containsExactly(0);
        assertThat(file.tensor("z2").shape().sizes()).containsExactly(3, 0, 2);
        assertThat(file.tensor("s").shape().rank()).isZero();
        assertThat(file.tensor("s").getDouble(0)).isEqualTo(42.5);
        assertThat(file.tensor("b").dtype()).isEqualTo(DType.BF16);
        assertThat(file.tensor("b").toDoubles()).containsExactly(1, -2, Double.POSITIVE_INFINITY);
        assertThat(file.tensor("u").getLong(0)).isEqualTo(7);
        assertThat(file.tensor("f").toFloats()).containsExactly(1.5f, -2.25f);
        for (String name : file.types().keySet()) {
            Tensor tensor = file.tensor(name);
            assertThat(tensor.segment().address() % tensor.dtype().bytes())
                    .as(name)
                    .isZero();
        }
    }

    @Test
    void unknownTensorNamesThoseThere() {
        assertThatThrownBy(() -> Safetensors.read(file("st_unaligned_ok")).tensor("missing"))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("\"missing\"")
                .hasMessageContaining("z2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                "{\"a\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4611686018427387904,0],\"data_offsets\":[0,0]},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}",
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}}",
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}} x",
                "{\"__metadata__\":{\"k\":1},\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}"
            })
    void wrongHeadersAreRefused(String header) {
        assertThatThrownBy(() -> parse(header, 4))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("x: header");
    }

    @Test
    void metadataAndTrailingBlanksAreRead() {
        Safetensors file = parse(
                "{\"__metadata__\":{\"k\":\"v\"},\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}   ",
                4);
        assertThat(file.metadata()).containsEntry("k", "v");
        assertThat(file.tensor("a").toFloats()).containsExactly(0);
    }

    private static Safetensors parse(String header, int dataBytes) {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[8 + json.length + dataBytes];
        ByteBuffer.wrap(bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(json.length)
                .put(json);
        return Safetensors.parse("x", MemorySegment.ofArray(bytes), Safetensors.MAX_HEADER_BYTES);
    }
}
