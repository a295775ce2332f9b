package dev.tenon.cli.fuzz;

import dev.tenon.formats.npy.Npy;
import dev.tenon.formats.npy.NpyArray;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;

/** npy files: read, and those that are accepted have as many bytes as their type says. */
final class NpyTarget implements Target {
    private static final List<String> TYPES = List.of(
            "<f4", ">f4", "<f8", "<f2", "<i4", ">i8", "|i1", "|u1", "|b1", "<u8", "<U3", "|O", "<c8", "", "<f99",
            "|V4");
    private static final List<String> SHAPES = List.of(
            "()",
            "(2,)",
            "(2, 3)",
            "(0,)",
            "(0, 4)",
            "(4294967296, 4294967296)",
            "(-1,)",
            "(2",
            "(2.0,)",
            "(True,)",
            "(9223372036854775807, 2)",
            "(1,1,1,1,1,1,1,1,1,1)",
            "[2]",
            "2",
            "(99999999999999999999,)",
            "(,)");

    @Override
    public String name() {
        return "npy";
    }

    @Override
    public byte[] next(SplittableRandom random) {
        String header = "{'descr': '" + TYPES.get(random.nextInt(TYPES.size())) + "', 'fortran_order': "
                + (random.nextBoolean() ? "False" : "True") + ", 'shape': " + SHAPES.get(random.nextInt(SHAPES.size()))
                + ", }";
        if (random.nextInt(3) == 0) {
            int at = random.nextInt(header.length());
            header = header.substring(0, at)
                    + "'{}(),:\\\n\u00e9 0".charAt(random.nextInt(12))
                    + header.substring(at + random.nextInt(2));
        }
        byte[] text = (header + " ".repeat(random.nextInt(20)) + "\n").getBytes(StandardCharsets.ISO_8859_1);
        int version = random.nextInt(8) == 0 ? random.nextInt(5) : 1 + random.nextInt(3);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', (byte) version, 0});
        int said = random.nextInt(8) == 0 ? random.nextInt(1 << 20) : text.length;
        for (int i = 0; i < (version == 1 ? 2 : 4); i++) {
            out.write(said >>> 8 * i);
        }
        out.writeBytes(text);
        byte[] data = new byte[List.of(0, 4, 8, 24, 48, 3, 1).get(random.nextInt(7))];
        random.nextBytes(data);
        out.writeBytes(data);
        byte[] bytes = out.toByteArray();
        return random.nextInt(10) == 0 ? java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
    }

    @Override
    public String use(byte[] file) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(file.length, 64);
            MemorySegment.copy(file, 0, memory, ValueLayout.JAVA_BYTE, 0, file.length);
            NpyArray array = Npy.parse("fuzzed.npy", memory);
            if (array.data().byteSize() != array.type().bytes()) {
                throw new IllegalStateException(
                        array.type() + " in " + array.data().byteSize() + " bytes");
            }
            return "read";
        }
    }
}
