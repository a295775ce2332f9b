package dev.tenon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.image.ImageInput;
import dev.tenon.image.Picture;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassifyTest {
    private static final Path SQUEEZENET = Cli.GOLDEN.resolve("light_squeezenet/light_squeezenet.onnx");

    @TempDir
    private Path folder;

    private Path picture() throws IOException {
        BufferedImage image = new BufferedImage(260, 240, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < 240; y++) {
            for (int x = 0; x < 260; x++) {
                image.setRGB(x, y, x << 16 | y << 8 | (x ^ y) & 0xFF);
            }
        }
        Path file = folder.resolve("picture.png");
        ImageIO.write(image, "png", file.toFile());
        return file;
    }

    @Test
    @SuppressWarnings("unchecked") // the command prints lists of objects
    void classesAreTheModels() throws IOException {
        Path file = picture();
        Path labels = folder.resolve("labels.txt");
        Files.writeString(
                labels, IntStream.range(0, 1000).mapToObj(i -> "label " + i).collect(Collectors.joining("\n")));
        Map<String, Object> said = Cli.run(
                        "classify",
                        "--device",
                        "cpu",
                        "--json",
                        "--top",
                        "3",
                        "--labels",
                        labels.toString(),
                        SQUEEZENET.toString(),
                        file.toString())
                .succeeds()
                .objects()
                .getFirst();
        assertThat(said).containsEntry("image", file.toString());
        List<Map<String, Object>> classes = (List<Map<String, Object>>) said.get("classes");
        assertThat(classes).hasSize(3);
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(OnnxModel.load(SQUEEZENET).graph());
                Session session = model.newSession()) {
            Tensor input = ImageInput.imagenet().prepare(Picture.read(file));
            float[] scores = session.run(Map.of(model.inputs().getFirst().name(), input))
                    .values()
                    .iterator()
                    .next()
                    .toFloats();
            float most = Float.NEGATIVE_INFINITY;
            for (float score : scores) {
                most = Math.max(most, score);
            }
            int first = ((Number) classes.getFirst().get("class")).intValue();
            assertThat(scores[first]).isEqualTo(most);
            assertThat(classes.getFirst()).containsEntry("label", "label " + first);
        }
    }

    @Test
    void tableHasARowForEachClass() throws IOException {
        String out = Cli.run(
                        "classify",
                        "--device",
                        "cpu",
                        "--top",
                        "2",
                        SQUEEZENET.toString(),
                        picture().toString())
                .succeeds()
                .out();
        assertThat(out).contains("picture.png", "probability", "class ", " %");
        assertThat(out.lines()).hasSizeBetween(4, 5);
    }

    @Test
    void wrongUseIsSaidInOneLine() throws IOException {
        Path file = picture();
        Cli.run("classify", SQUEEZENET.toString()).isMisused("IMAGE");
        Cli.run("classify", "--top", "0", SQUEEZENET.toString(), file.toString())
                .isMisused("--top");
        Cli.run("classify", "--device", "cpu", SQUEEZENET.toString(), SQUEEZENET.toString())
                .fails("is no picture of a known format");
        Cli.run("classify", "--device", "cpu", "--preset", "nothing", SQUEEZENET.toString(), file.toString())
                .fails("no preset is called \"nothing\"");
        Cli.run(
                        "classify",
                        "--device",
                        "cpu",
                        SQUEEZENET.toString(),
                        folder.resolve("none.png").toString())
                .fails("no such file");
    }
}
