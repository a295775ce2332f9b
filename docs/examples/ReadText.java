import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.image.ImageInput;
import dev.tenon.image.Picture;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;

/**
 * Finds lines of text in a picture with PP-OCR's models, says which way up each is and, with a recogniser, what it
 * says; draws the boxes.
 *
 * <p>After {@code ./tenon doctor}, which builds Tenon, and {@code scripts/fetch-models}:
 *
 * <pre>
 * M=target/golden-models
 * java --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -cp 'tenon-cli/target/dist/lib/*' \
 *     docs/examples/ReadText.java picture.png boxes.png $M/ppocr-det.onnx $M/ppocr-cls.onnx [rec.onnx keys.txt]
 * </pre>
 */
public final class ReadText {
    /** Probability from which a pixel belongs to text. */
    private static final float TEXT = 0.3f;
    /** Mean probability of a region that counts. */
    private static final double SURE = 0.5;
    /** The models were trained on shrunken regions: they grow again by this times area / perimeter. */
    private static final double GROWTH = 1.5;

    private record Box(int left, int top, int width, int height, double score) {}

    private ReadText() {}

    public static void main(String[] args) throws Exception {
        Picture picture = Picture.read(Path.of(args[0]));
        BufferedImage drawing = picture.toImage();
        Graphics2D pen = drawing.createGraphics();
        pen.setColor(Color.RED);
        pen.setStroke(new BasicStroke(2));
        try (Engine engine = Engine.open(Target.best());
                CompiledModel detector = model(engine, args[2]);
                CompiledModel direction = model(engine, args[3]);
                CompiledModel recogniser = args.length > 5 ? model(engine, args[4]) : null) {
            List<String> keys = args.length > 5 ? Files.readAllLines(Path.of(args[5])) : List.of();
            for (Box box : boxes(picture, run(detector, ImageInput.ppocrDetection().prepare(picture)))) {
                Picture line = picture.crop(box.left, box.top, box.width, box.height);
                float[] turned = run(direction, ImageInput.ppocrDirection().prepare(line)).toFloats();
                String text = recogniser == null ? "" : " " + read(run(recogniser, input(line).prepare(line)), keys);
                System.out.printf(
                        "%d %d %dx%d score %.2f, %s%s%n",
                        box.left,
                        box.top,
                        box.width,
                        box.height,
                        box.score,
                        turned[1] > 0.9 ? "upside down" : "upright",
                        text);
                pen.drawRect(box.left, box.top, box.width, box.height);
            }
        }
        pen.dispose();
        ImageIO.write(drawing, "png", new File(args[1]));
    }

    private static CompiledModel model(Engine engine, String file) {
        return engine.compile(OnnxModel.load(Path.of(file)).graph());
    }

    private static Tensor run(CompiledModel model, Tensor input) {
        try (Session session = model.newSession()) {
            return session.run(Map.of(model.inputs().getFirst().name(), input))
                    .values()
                    .iterator()
                    .next();
        }
    }

    /** Regions of pixels that are likely text, in the picture's own pixels. */
    private static List<Box> boxes(Picture picture, Tensor map) {
        int height = (int) map.shape().size(2);
        int width = (int) map.shape().size(3);
        float[] text = map.toFloats();
        double across = (double) picture.width() / width;
        double down = (double) picture.height() / height;
        boolean[] seen = new boolean[text.length];
        List<Box> boxes = new ArrayList<>();
        for (int start = 0; start < text.length; start++) {
            if (seen[start] || text[start] < TEXT) {
                continue;
            }
            int left = width;
            int right = 0;
            int top = height;
            int bottom = 0;
            double sum = 0;
            int count = 0;
            ArrayDeque<Integer> next = new ArrayDeque<>(List.of(start));
            seen[start] = true;
            while (!next.isEmpty()) {
                int at = next.pop();
                int x = at % width;
                int y = at / width;
                left = Math.min(left, x);
                right = Math.max(right, x + 1);
                top = Math.min(top, y);
                bottom = Math.max(bottom, y + 1);
                sum += text[at];
                count++;
                for (int i = 0; i < 9; i++) {
                    int u = x + i % 3 - 1;
                    int v = y + i / 3 - 1;
                    if (u >= 0 && u < width && v >= 0 && v < height && !seen[v * width + u]) {
                        if (text[v * width + u] >= TEXT) {
                            seen[v * width + u] = true;
                            next.push(v * width + u);
                        }
                    }
                }
            }
            if (count >= 9 && sum / count >= SURE) {
                double w = right - left;
                double h = bottom - top;
                double grown = GROWTH * w * h / (2 * (w + h));
                int x = Math.max(0, (int) ((left - grown) * across));
                int y = Math.max(0, (int) ((top - grown) * down));
                int toX = Math.min(picture.width(), (int) Math.ceil((right + grown) * across));
                int toY = Math.min(picture.height(), (int) Math.ceil((bottom + grown) * down));
                boxes.add(new Box(x, y, toX - x, toY - y, sum / count));
            }
        }
        return boxes;
    }

    /** Lines may be of any length: 48 pixels high. */
    private static ImageInput input(Picture line) {
        int width = Math.max(48, (int) Math.ceil(48.0 * line.width() / line.height()));
        return ImageInput.ppocrRecognition().withSize(width, 48);
    }

    /** The likeliest character of each step, without blanks (number 0) and repetitions. */
    private static String read(Tensor steps, List<String> keys) {
        StringBuilder text = new StringBuilder();
        int classes = (int) steps.shape().size(2);
        float[] scores = steps.toFloats();
        int before = 0;
        for (int start = 0; start < scores.length; start += classes) {
            int best = 0;
            for (int i = 1; i < classes; i++) {
                best = scores[start + i] > scores[start + best] ? i : best;
            }
            if (best != 0 && best != before) {
                text.append(best <= keys.size() ? keys.get(best - 1) : " ");
            }
            before = best;
        }
        return text.toString();
    }
}
