package dev.tenon.nativelib;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Whether a file may be handed to the loader at all. The loader maps what the headers speak of: where the file ends
 * earlier it dies of SIGBUS, and the JVM with it. Source: the System V ABI's ELF headers, in their 64-bit form.
 * Thread-safe.
 */
final class LibraryFile {
    private static final int HEADER = 64;
    private static final int SHARED_OBJECT = 3;
    private static final int X86_64 = 62;
    private static final int LOADED = 1;
    private static final int PROGRAM_HEADER = 56;

    private LibraryFile() {}

    /**
     * Why the loader must not see it; empty where it may, and for a file that cannot be read: then the loader says why.
     * Never throws, and never opens what is no regular file.
     */
    static String fault(Machine machine, Path file) {
        if (!Files.isRegularFile(file)) {
            return Files.isDirectory(file) ? "is a folder" : Files.exists(file) ? "is not a regular file" : "";
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer header = read(channel, 0, HEADER);
            boolean elf = header.limit() >= 4 && header.getInt(0) == 0x464c457f;
            boolean windows = header.limit() >= 2 && header.get(0) == 'M' && header.get(1) == 'Z';
            if (machine.system() != Machine.Os.LINUX) {
                return elf || windows ? "" : "not a library";
            }
            return elf ? fault(machine, channel, header) : "not a library";
        } catch (IOException _) {
            return "";
        }
    }

    private static String fault(Machine machine, FileChannel channel, ByteBuffer header) throws IOException {
        if (header.limit() < HEADER) {
            return cutOff(channel, HEADER);
        }
        if (header.get(4) != 2 || header.get(5) != 1) {
            return "is not for a 64-bit little-endian processor";
        }
        if (header.getShort(16) != SHARED_OBJECT) {
            return "is not a shared object (ELF type " + header.getShort(16) + ")";
        }
        // other processors than these two are taken for Arm, and have the loader's say
        if (machine.x86() != (header.getShort(18) == X86_64)) {
            return "is for another processor (ELF machine " + Short.toUnsignedInt(header.getShort(18)) + ")";
        }
        long programs = header.getLong(32);
        int size = Short.toUnsignedInt(header.getShort(54));
        int count = Short.toUnsignedInt(header.getShort(56));
        if (size < PROGRAM_HEADER || count == 0) {
            return "has no program headers";
        }
        long end = Math.max(sectionsEnd(header), end(programs, (long) size * count));
        if (end(programs, (long) size * count) > channel.size()) {
            return cutOff(channel, end);
        }
        ByteBuffer table = read(channel, programs, size * count);
        for (int at = 0; at + size <= table.limit(); at += size) {
            if (table.getInt(at) == LOADED) {
                end = Math.max(end, end(table.getLong(at + 8), table.getLong(at + 32)));
            }
        }
        return end > channel.size() ? cutOff(channel, end) : "";
    }

    private static long sectionsEnd(ByteBuffer header) {
        long offset = header.getLong(40);
        long size = Short.toUnsignedLong(header.getShort(58)) * Short.toUnsignedLong(header.getShort(60));
        return offset == 0 ? 0 : end(offset, size);
    }

    /** Where a piece ends; as far as can be when the numbers make no sense. */
    private static long end(long offset, long length) {
        return offset < 0 || length < 0 || offset > Long.MAX_VALUE - length ? Long.MAX_VALUE : offset + length;
    }

    private static String cutOff(FileChannel channel, long wanted) throws IOException {
        return "is cut off: " + channel.size() + " bytes, its headers speak of " + wanted;
    }

    private static ByteBuffer read(FileChannel channel, long offset, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining() && channel.read(buffer, offset + buffer.position()) >= 0) {}
        return buffer.flip();
    }
}
