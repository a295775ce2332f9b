package dev.tenon.image;

import dev.tenon.core.error.InputException;
import dev.tenon.core.tensor.Tensor;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/**
 * What a model expects of a picture: size, part, numbers, order. {@link #prepare} resizes by {@link Fit}, takes
 * {@code (value / 255 - mean) / deviation} of each channel and lays the numbers out as [1,3,H,W] or [1,H,W,3], in f32.
 * Immutable and thread-safe.
 *
 * @param fit how the size is reached
 * @param width of the result in pixels
 * @param height of the result in pixels
 * @param filter for resizing
 * @param mean of each channel, in the order of the result, where colours go from 0 to 1
 * @param deviation of each channel, likewise
 * @param bgr whether blue comes first, as in OpenCV
 * @param channelsLast whether the result is [1,H,W,3]
 */
public record ImageInput(
        Fit fit,
        int width,
        int height,
        Resampling filter,
        List<Double> mean,
        List<Double> deviation,
        boolean bgr,
        boolean channelsLast) {
    private static final int CHANNELS = 3;
    private static final List<Double> IMAGENET_MEAN = List.of(0.485, 0.456, 0.406);
    private static final List<Double> IMAGENET_DEVIATION = List.of(0.229, 0.224, 0.225);
    private static final List<Double> HALF = List.of(0.5, 0.5, 0.5);
    /** Sides of what PP-OCR detects text in are multiples of it. */
    private static final int OCR_MULTIPLE = 32;

    /** How a picture is brought to the size. */
    public enum Fit {
        /** The shorter side becomes 8/7 of the longer side of the result, then its middle is cut out: 256 for 224. */
        CROP_MARGIN,
        /** The picture is made just large enough to cover the result, then its middle is cut out. */
        CROP,
        /** Both sides become what is asked for, whatever the proportions. */
        STRETCH,
        /** The height is reached, then black (0 in the result) fills up the right; wider ones are squeezed. */
        PAD_RIGHT,
        /** Sides keep their proportions, at most what is asked for, and become multiples of 32 near that. */
        MULTIPLES
    }

    public ImageInput {
        mean = List.copyOf(mean);
        deviation = List.copyOf(deviation);
        if (width < 1 || height < 1) {
            throw new InputException("an input of " + width + " by " + height + " pixels is empty");
        }
        if (mean.size() != CHANNELS
                || deviation.size() != CHANNELS
                || deviation.stream().anyMatch(value -> !(value > 0))) {
            throw new InputException(
                    "mean " + mean + " and deviation " + deviation + " need 3 numbers each, deviations above 0");
        }
    }

    /** torchvision's and most ImageNet classifiers': 224², from the shorter side at 256. */
    public static ImageInput imagenet() {
        return new ImageInput(
                Fit.CROP_MARGIN, 224, 224, Resampling.BILINEAR, IMAGENET_MEAN, IMAGENET_DEVIATION, false, false);
    }

    /** CLIP's: 224² from the shorter side at 224, bicubic. */
    public static ImageInput clip() {
        return new ImageInput(
                Fit.CROP,
                224,
                224,
                Resampling.BICUBIC,
                List.of(0.48145466, 0.4578275, 0.40821073),
                List.of(0.26862954, 0.26130258, 0.27577711),
                false,
                false);
    }

    /** From -1 to 1, stretched to 224²: what TensorFlow's mobile networks were trained on. */
    public static ImageInput symmetric() {
        return new ImageInput(Fit.STRETCH, 224, 224, Resampling.BILINEAR, HALF, HALF, false, true);
    }

    /** PP-OCR's text detection: sides at most 960 and multiples of 32, blue first. */
    public static ImageInput ppocrDetection() {
        return new ImageInput(
                Fit.MULTIPLES, 960, 960, Resampling.BILINEAR, IMAGENET_MEAN, IMAGENET_DEVIATION, true, false);
    }

    /** PP-OCR's text direction: a line at 192 by 48, blue first. */
    public static ImageInput ppocrDirection() {
        return new ImageInput(Fit.PAD_RIGHT, 192, 48, Resampling.BILINEAR, HALF, HALF, true, false);
    }

    /** PP-OCR's text recognition: a line at 320 by 48, blue first. */
    public static ImageInput ppocrRecognition() {
        return new ImageInput(Fit.PAD_RIGHT, 320, 48, Resampling.BILINEAR, HALF, HALF, true, false);
    }

    /**
     * A preset by its name: imagenet, clip, symmetric, ppocr-detection, ppocr-direction or ppocr-recognition.
     *
     * @throws InputException for another name
     */
    public static ImageInput preset(String name) {
        ImageInput preset = presets().get(name.toLowerCase(Locale.ROOT));
        if (preset == null) {
            throw new InputException("no preset is called \"" + name + "\"; there are "
                    + presets().keySet());
        }
        return preset;
    }

    /** All presets by name. */
    public static TreeMap<String, ImageInput> presets() {
        TreeMap<String, ImageInput> all = new TreeMap<>();
        all.put("imagenet", imagenet());
        all.put("clip", clip());
        all.put("symmetric", symmetric());
        all.put("ppocr-detection", ppocrDetection());
        all.put("ppocr-direction", ppocrDirection());
        all.put("ppocr-recognition", ppocrRecognition());
        return all;
    }

    /** The same with another size. */
    public ImageInput withSize(int replacedWidth, int replacedHeight) {
        return new ImageInput(fit, replacedWidth, replacedHeight, filter, mean, deviation, bgr, channelsLast);
    }

    /** The same with another layout. */
    public ImageInput withChannelsLast(boolean replaced) {
        return new ImageInput(fit, width, height, filter, mean, deviation, bgr, replaced);
    }

    /** The same with another way to the size. */
    public ImageInput withFit(Fit replaced) {
        return new ImageInput(replaced, width, height, filter, mean, deviation, bgr, channelsLast);
    }

    /** The same with other numbers. */
    public ImageInput withNormalisation(List<Double> replacedMean, List<Double> replacedDeviation) {
        return new ImageInput(fit, width, height, filter, replacedMean, replacedDeviation, bgr, channelsLast);
    }

    /** The picture at the model's size, still in bytes; with {@link Fit#PAD_RIGHT} before it is filled up. */
    public Picture fitted(Picture picture) {
        return switch (fit) {
            case CROP_MARGIN -> cropped(picture, Math.max(width, height) * 8 / 7);
            case CROP -> cropped(picture, 0);
            case STRETCH -> picture.resize(width, height, filter);
            case PAD_RIGHT -> {
                double wanted = Math.ceil((double) height * picture.width() / picture.height());
                yield picture.resize((int) Math.clamp(wanted, 1, width), height, filter);
            }
            case MULTIPLES -> {
                double shrink =
                        Math.min(1, Math.min((double) width / picture.width(), (double) height / picture.height()));
                yield picture.resize(multiple(picture.width() * shrink), multiple(picture.height() * shrink), filter);
            }
        };
    }

    private static int multiple(double size) {
        return Math.max(OCR_MULTIPLE, (int) Math.rint(size / OCR_MULTIPLE) * OCR_MULTIPLE);
    }

    /** @param shorter what the shorter side becomes; 0 for just large enough */
    private Picture cropped(Picture picture, int shorter) {
        double scale = shorter > 0
                ? (double) shorter / Math.min(picture.width(), picture.height())
                : Math.max((double) width / picture.width(), (double) height / picture.height());
        // the side that decides is exact, the other one rounded down
        int w = (int) (picture.width() * scale + 1e-6);
        int h = (int) (picture.height() * scale + 1e-6);
        Picture sized = picture.resize(Math.max(1, w), Math.max(1, h), filter);
        int left = (int) Math.rint((sized.width() - width) / 2.0);
        int top = (int) Math.rint((sized.height() - height) / 2.0);
        return sized.crop(left, top, width, height);
    }

    /** The tensor of one picture. */
    public Tensor prepare(Picture picture) {
        return numbers(fitted(picture));
    }

    private Tensor numbers(Picture sized) {
        int w = fit == Fit.PAD_RIGHT ? width : sized.width();
        int h = sized.height();
        float[] values = new float[Math.multiplyExact(Math.multiplyExact(w, h), CHANNELS)];
        for (int channel = 0; channel < CHANNELS; channel++) {
            float[] table = table(channel);
            int source = bgr ? CHANNELS - 1 - channel : channel;
            for (int y = 0; y < h; y++) {
                for (int x = 0; x < sized.width(); x++) {
                    int at = channelsLast ? (y * w + x) * CHANNELS + channel : (channel * h + y) * w + x;
                    values[at] = table[sized.at(x, y, source)];
                }
            }
        }
        return channelsLast ? Tensor.of(values, 1, h, w, CHANNELS) : Tensor.of(values, 1, CHANNELS, h, w);
    }

    /** What each byte becomes. */
    private float[] table(int channel) {
        float[] table = new float[256];
        for (int value = 0; value < table.length; value++) {
            table[value] = (float) ((value / 255.0 - mean.get(channel)) / deviation.get(channel));
        }
        return table;
    }
}
