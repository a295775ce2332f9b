package dev.tenon.formats.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.tenon.core.error.ImportException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a file holds, an import answers a model or one ImportException. */
class HostileFilesTest {
    private static final String[] MODELS = {
        "light/light_squeezenet.onnx", "cases/reshape_e.onnx", "cases/clip_hole.onnx", "cases/fold_blowup.onnx"
    };

    private static byte[] read(String name) throws IOException {
        return Files.readAllBytes(Cases.file(name));
    }

    private static void survives(byte[] bytes, String what) {
        try {
            OnnxModel.parse("fuzzed", bytes);
        } catch (ImportException e) {
            assertThat(e.getMessage()).startsWith("fuzzed");
        } catch (RuntimeException | Error e) {
            fail(what + " gave " + e, e);
        }
    }

    @Test
    void anythingCutShort() throws IOException {
        for (String name : MODELS) {
            byte[] whole = read(name);
            int step = Math.max(1, whole.length / 400);
            for (int length = 0; length < whole.length; length += step) {
                survives(java.util.Arrays.copyOf(whole, length), name + " cut to " + length);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void bytesFlipped(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        for (String name : MODELS) {
            byte[] whole = read(name);
            for (int round = 0; round < 300; round++) {
                byte[] changed = whole.clone();
                int flips = 1 + random.nextInt(4);
                for (int i = 0; i < flips; i++) {
                    // most faults of interest are in the structure, which stands at the beginning of small files
                    changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
                }
                survives(changed, name + " seed " + seed + " round " + round);
            }
        }
    }

    @Test
    void bytesAtRandom() {
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 2000; round++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            survives(bytes, "random " + round);
        }
    }

    @Test
    void aNumberTooLong() {
        byte[] bytes = new byte[32];
        java.util.Arrays.fill(bytes, (byte) 0xFF);
        assertThatThrownBy(() -> OnnxModel.parse("x", bytes))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("offset");
    }

    @Test
    void emptyAndForeignFiles() {
        assertThatThrownBy(() -> OnnxModel.parse("empty.onnx", new byte[0]))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("empty.onnx: there is no graph");
        byte[] text = "#!/bin/sh\necho hello\n".getBytes(java.nio.charset.StandardCharsets.UTF_8);
        assertThatThrownBy(() -> OnnxModel.parse("text", text)).isInstanceOf(ImportException.class);
    }
}
