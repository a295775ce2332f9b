package dev.tenon.cpu;

/** Cuts scratch memory into stretches, each at a multiple of 64 bytes. */
final class Layout {
    private long bytes;

    /** The offset of the next stretch. */
    long take(long size) {
        long at = bytes;
        bytes += Math.ceilDiv(size, 64L) * 64;
        return at;
    }

    long bytes() {
        return bytes;
    }
}
