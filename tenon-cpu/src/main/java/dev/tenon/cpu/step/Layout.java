package dev.tenon.cpu.step;

/** Cuts workspace memory into stretches, each at a multiple of 64 bytes. */
public final class Layout {
    private long bytes;

    /** The offset of the next stretch. */
    public long take(long size) {
        long at = bytes;
        bytes += Math.ceilDiv(size, 64L) * 64;
        return at;
    }

    public long bytes() {
        return bytes;
    }
}
