package dev.tenon.image;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;

/**
 * Pixels in red, green and blue, a byte each, row by row from the top. Transparency is dropped: a pixel keeps its
 * colours. Immutable and thread-safe.
 */
public final class Picture {
    /** Bytes of a pixel. */
    static final int CHANNELS = 3;

    private static final long MOST_PIXELS = 1L << 28;

    private final int width;
    private final int height;
    private final byte[] pixels;

    /** @param pixels 3 bytes each, taken over */
    Picture(int width, int height, byte[] pixels) {
        this.width = width;
        this.height = height;
        this.pixels = pixels;
    }

    /**
     * Reads a picture of a format that the JDK knows (PNG, JPEG, GIF, BMP, TIFF, WBMP), turned as its EXIF orientation
     * says.
     *
     * @throws IOException when the file cannot be read
     * @throws DataException when it is damaged
     * @throws UnsupportedException when it is of no known format, or larger than 2^28 pixels
     */
    public static Picture read(Path file) throws IOException {
        return decode(Files.readAllBytes(file), file.toString());
    }

    /**
     * Decodes the bytes of a file, as {@link #read} does.
     *
     * @param name what messages call it
     */
    public static Picture decode(byte[] file, String name) {
        try (ImageInputStream in = ImageIO.createImageInputStream(new ByteArrayInputStream(file))) {
            Iterator<ImageReader> readers = ImageIO.getImageReaders(in);
            if (!readers.hasNext()) {
                throw new UnsupportedException(
                        name + " is no picture of a known format; expected PNG, JPEG, GIF, BMP or TIFF");
            }
            ImageReader reader = readers.next();
            try {
                reader.setInput(in, true, false);
                long size = (long) reader.getWidth(0) * reader.getHeight(0);
                if (size > MOST_PIXELS) {
                    throw new UnsupportedException(name + " has " + size + " pixels; expected at most " + MOST_PIXELS);
                }
                return of(reader.read(0)).oriented(Orientation.of(file));
            } finally {
                reader.dispose();
            }
        } catch (IOException | RuntimeException e) {
            if (e instanceof TenonException known) {
                throw known;
            }
            // decoders of the JDK throw what comes to hand where a file is damaged
            throw new DataException("the picture " + name + " cannot be decoded: " + e.getMessage(), e);
        }
    }

    /** Copies an image of Java's. */
    public static Picture of(BufferedImage image) {
        int width = image.getWidth();
        int height = image.getHeight();
        byte[] pixels = new byte[Math.multiplyExact(Math.multiplyExact(width, height), CHANNELS)];
        // Java takes gray samples for linear light and would brighten them
        boolean gray = image.getColorModel().getColorSpace().getType() == ColorSpace.TYPE_GRAY;
        int[] row = new int[width];
        for (int y = 0; y < height; y++) {
            if (gray) {
                grayRow(image, y, row);
            } else {
                image.getRGB(0, y, width, 1, row, 0, width);
            }
            for (int x = 0; x < width; x++) {
                int at = (y * width + x) * CHANNELS;
                pixels[at] = (byte) (row[x] >> 16);
                pixels[at + 1] = (byte) (row[x] >> 8);
                pixels[at + 2] = (byte) row[x];
            }
        }
        return new Picture(width, height, pixels);
    }

    private static void grayRow(BufferedImage image, int y, int[] row) {
        Raster raster = image.getRaster();
        int bits = image.getColorModel().getComponentSize(0);
        raster.getSamples(raster.getMinX(), raster.getMinY() + y, row.length, 1, 0, row);
        for (int x = 0; x < row.length; x++) {
            int value = bits > 8 ? row[x] >> bits - 8 : bits == 8 ? row[x] : row[x] * 255 / ((1 << bits) - 1);
            row[x] = value * 0x010101;
        }
    }

    /**
     * Copies pixels.
     *
     * @param rgb 3 bytes for each pixel, row by row from the top
     * @throws InputException unless there are {@code 3 width height} bytes
     */
    public static Picture of(int width, int height, byte[] rgb) {
        if (width < 1 || height < 1 || rgb.length != (long) width * height * CHANNELS) {
            throw new InputException("a picture of " + width + " by " + height + " pixels has 3 bytes for each, not "
                    + rgb.length + " in all");
        }
        return new Picture(width, height, rgb.clone());
    }

    /** Pixels in a row. */
    public int width() {
        return width;
    }

    /** Rows. */
    public int height() {
        return height;
    }

    /** A pixel's red (0), green (1) or blue (2), from 0 to 255. */
    public int at(int x, int y, int channel) {
        return pixels[(y * width + x) * CHANNELS + channel] & 0xFF;
    }

    /** The same pixels as an image of Java's, to draw on or write. */
    public BufferedImage toImage() {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, at(x, y, 0) << 16 | at(x, y, 1) << 8 | at(x, y, 2));
            }
        }
        return image;
    }

    /** A part; what lies outside of the picture is black. */
    public Picture crop(int left, int top, int width, int height) {
        if (width < 1 || height < 1) {
            throw new InputException("a part of " + width + " by " + height + " pixels is empty");
        }
        byte[] part = new byte[Math.multiplyExact(Math.multiplyExact(width, height), CHANNELS)];
        int from = Math.max(0, -left);
        int count = Math.min(width, this.width - left) - from;
        for (int y = Math.max(0, -top); y < Math.min(height, this.height - top) && count > 0; y++) {
            System.arraycopy(
                    pixels,
                    ((top + y) * this.width + left + from) * CHANNELS,
                    part,
                    (y * width + from) * CHANNELS,
                    count * CHANNELS);
        }
        return new Picture(width, height, part);
    }

    /** Another size, by the filter. */
    public Picture resize(int width, int height, Resampling filter) {
        return filter.resize(this, width, height);
    }

    /** The pixels, not to be changed. */
    byte[] pixels() {
        return pixels;
    }

    /** @param orientation by EXIF, 1 to 8 */
    Picture oriented(int orientation) {
        if (orientation <= 1 || orientation > 8) {
            return this;
        }
        boolean swaps = orientation >= 5;
        int w = swaps ? height : width;
        int h = swaps ? width : height;
        byte[] turned = new byte[pixels.length];
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                int column = swaps ? y : x;
                int row = swaps ? x : y;
                boolean right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
                boolean down = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
                int at = ((down ? height - 1 - row : row) * width + (right ? width - 1 - column : column)) * CHANNELS;
                System.arraycopy(pixels, at, turned, (y * w + x) * CHANNELS, CHANNELS);
            }
        }
        return new Picture(w, h, turned);
    }
}
