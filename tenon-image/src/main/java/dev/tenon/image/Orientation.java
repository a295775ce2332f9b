package dev.tenon.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The EXIF orientation of a JPEG file: which way up its pixels lie. */
final class Orientation {
    private static final int UPRIGHT = 1;
    private static final int TAG = 0x0112;
    private static final int SHORT = 3;
    private static final int ENTRY_BYTES = 12;

    private Orientation() {}

    /** From 1 (as it lies) to 8; 1 where a file says nothing, or nothing that makes sense. */
    static int of(byte[] file) {
        ByteBuffer in = ByteBuffer.wrap(file);
        if (file.length < 4 || (in.getShort(0) & 0xFFFF) != 0xFFD8) {
            return UPRIGHT;
        }
        int at = 2;
        while (at + 4 <= file.length && (file[at] & 0xFF) == 0xFF) {
            int marker = file[at + 1] & 0xFF;
            int length = in.getShort(at + 2) & 0xFFFF;
            boolean exif = marker == 0xE1
                    && length >= 16
                    && at + 2 + length <= file.length
                    && in.getInt(at + 4) == 0x45786966; // Exif
            if (exif) {
                return inTiff(in.slice(at + 10, length - 8));
            }
            if (marker == 0xDA || length < 2) { // the picture itself
                return UPRIGHT;
            }
            at += 2 + length;
        }
        return UPRIGHT;
    }

    private static int inTiff(ByteBuffer tiff) {
        int order = tiff.getShort(0) & 0xFFFF;
        tiff.order(order == 0x4949 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        int folder = tiff.getInt(4);
        if (folder < 0 || folder > tiff.limit() - 2) {
            return UPRIGHT;
        }
        int entries = tiff.getShort(folder) & 0xFFFF;
        for (int i = 0; i < entries; i++) {
            int at = folder + 2 + i * ENTRY_BYTES;
            if (at > tiff.limit() - ENTRY_BYTES) {
                return UPRIGHT;
            }
            if ((tiff.getShort(at) & 0xFFFF) == TAG && tiff.getShort(at + 2) == SHORT) {
                int value = tiff.getShort(at + 8) & 0xFFFF;
                return value >= 1 && value <= 8 ? value : UPRIGHT;
            }
        }
        return UPRIGHT;
    }
}
