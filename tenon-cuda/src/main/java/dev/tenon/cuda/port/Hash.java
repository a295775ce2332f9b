package dev.tenon.cuda.port;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 over parts, each with its length before it, so that no two lists of parts look alike. */
public final class Hash {
    public static final int BYTES = 32;

    private final MessageDigest digest;

    public Hash() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java platform has it
        }
    }

    public Hash add(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
        digest.update(bytes);
        return this;
    }

    public Hash add(MemorySegment bytes) {
        digest.update((bytes.byteSize() + ":").getBytes(StandardCharsets.US_ASCII));
        digest.update(bytes.asByteBuffer());
        return this;
    }

    public byte[] bytes() {
        return digest.digest();
    }

    public String hex() {
        return HexFormat.of().formatHex(digest.digest());
    }
}
