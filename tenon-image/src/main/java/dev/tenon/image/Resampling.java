package dev.tenon.image;

import dev.tenon.core.error.InputException;

/**
 * Filters that make another size of a picture, as Pillow and torchvision have them: antialiased, that is, the filter
 * covers as many pixels as shrink into one; each direction by itself, rows first, rounded to bytes in between. Weights
 * have 22 bits, so results are Pillow's.
 */
public enum Resampling {
    /** A tent, over the 2 nearest pixels where the picture grows. */
    BILINEAR(1),
    /** Keys' cubic convolution with a = -0.5, over 4 pixels. */
    BICUBIC(2);

    private static final int BITS = 22;

    private final double support;

    Resampling(double support) {
        this.support = support;
    }

    private double weight(double distance) {
        double x = Math.abs(distance);
        if (this == BILINEAR) {
            return Math.max(0, 1 - x);
        }
        double a = -0.5;
        if (x < 1) {
            return ((a + 2) * x - (a + 3)) * x * x + 1;
        }
        return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
    }

    /** The pixels of one result: from the first on, with these weights in fixed point. */
    private static final class Taps {
        private final int first;
        private final int[] weights;

        Taps(int first, int[] weights) {
            this.first = first;
            this.weights = weights;
        }
    }

    private Taps[] taps(int from, int to) {
        double scale = (double) from / to;
        double shrink = Math.max(scale, 1);
        double reach = support * shrink;
        Taps[] all = new Taps[to];
        for (int i = 0; i < to; i++) {
            double centre = (i + 0.5) * scale;
            int first = Math.max(0, (int) (centre - reach + 0.5));
            int end = Math.min(from, (int) (centre + reach + 0.5));
            double[] exact = new double[end - first];
            double sum = 0;
            for (int k = 0; k < exact.length; k++) {
                exact[k] = weight((k + first - centre + 0.5) / shrink);
                sum += exact[k];
            }
            int[] weights = new int[exact.length];
            for (int k = 0; k < weights.length; k++) {
                double share = (sum == 0 ? exact[k] : exact[k] / sum) * (1 << BITS);
                weights[k] = (int) (share < 0 ? share - 0.5 : share + 0.5);
            }
            all[i] = new Taps(first, weights);
        }
        return all;
    }

    Picture resize(Picture picture, int width, int height) {
        if (width < 1 || height < 1) {
            throw new InputException("a picture cannot be resized to " + width + " by " + height + " pixels");
        }
        Picture wide = picture.width() == width ? picture : across(picture, width);
        return wide.height() == height ? wide : down(wide, height);
    }

    private Picture across(Picture from, int width) {
        Taps[] taps = taps(from.width(), width);
        byte[] pixels = new byte[Math.multiplyExact(Math.multiplyExact(width, from.height()), Picture.CHANNELS)];
        int row = from.width() * Picture.CHANNELS;
        for (int y = 0; y < from.height(); y++) {
            for (int x = 0; x < width; x++) {
                int start = y * row + taps[x].first * Picture.CHANNELS;
                sum(
                        from.pixels(),
                        start,
                        Picture.CHANNELS,
                        taps[x].weights,
                        pixels,
                        (y * width + x) * Picture.CHANNELS);
            }
        }
        return new Picture(width, from.height(), pixels);
    }

    private Picture down(Picture from, int height) {
        Taps[] taps = taps(from.height(), height);
        int row = from.width() * Picture.CHANNELS;
        byte[] pixels = new byte[Math.multiplyExact(row, height)];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < from.width(); x++) {
                int start = taps[y].first * row + x * Picture.CHANNELS;
                sum(from.pixels(), start, row, taps[y].weights, pixels, y * row + x * Picture.CHANNELS);
            }
        }
        return new Picture(from.width(), height, pixels);
    }

    /** One pixel from pixels that lie {@code step} bytes apart. */
    private static void sum(byte[] from, int start, int step, int[] weights, byte[] to, int at) {
        for (int channel = 0; channel < Picture.CHANNELS; channel++) {
            int sum = 1 << BITS - 1;
            int place = start + channel;
            for (int weight : weights) {
                sum += (from[place] & 0xFF) * weight;
                place += step;
            }
            to[at + channel] = (byte) Math.clamp(sum >> BITS, 0, 255);
        }
    }
}
