package dev.tenon.cli.vision;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import dev.tenon.image.ImageInput;
import dev.tenon.image.Picture;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Pictures to classes. */
@Command(
        name = "classify",
        mixinStandardHelpOptions = true,
        description = "Says what pictures show, by an ONNX model that classifies them.")
public final class ClassifyCommand implements Callable<Integer> {
    private static final int IMAGE_RANK = 4;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "MODEL", description = "An .onnx file whose one input is a picture.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    Path model;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "IMAGE",
            description = "Files of PNG, JPEG, GIF, BMP or TIFF, turned as their EXIF orientation says.")
    List<Path> images = List.of();

    @Option(
            names = "--labels",
            paramLabel = "FILE",
            description = "Names of the classes, one per line; by default those of the model's metadata, or numbers.")
    @Nullable
    Path labels;

    @Option(
            names = "--top",
            paramLabel = "N",
            defaultValue = "5",
            converter = Values.Positive.class,
            description = "How many classes of each picture, the likeliest first (5).")
    int top;

    @Option(
            names = "--preset",
            paramLabel = "NAME",
            defaultValue = "imagenet",
            description =
                    "How pictures are sized and scaled: imagenet, clip or symmetric (from -1 to 1, stretched). The"
                            + " size and the layout are the model's where it fixes them.")
    String preset = "imagenet";

    @Option(names = "--json", description = "One object per picture: {\"image\": …, \"classes\": […]}.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws IOException {
        OnnxModel onnx = OnnxModel.load(model);
        Labels names = labels == null ? Labels.of(onnx.metadata()) : Labels.read(labels);
        ImageInput base = ImageInput.preset(preset);
        List<Picture> pictures = new ArrayList<>();
        for (Path image : images) {
            pictures.add(Picture.read(image));
        }
        try (Engine engine = Engine.open(device.target(), device.options());
                CompiledModel compiled = engine.compile(onnx.graph(), settings.apply(CompileOptions.defaults()));
                Session session = compiled.newSession()) {
            Value input = input(compiled.inputs());
            ImageInput wanted = wanted(base, input.shape());
            for (int i = 0; i < pictures.size(); i++) {
                Tensor prepared = typed(wanted.prepare(pictures.get(i)), input.dtype());
                Map<String, Tensor> results = session.run(Map.of(input.name(), prepared));
                print(images.get(i), scores(results), names);
            }
        }
        return 0;
    }

    private Value input(List<Value> inputs) {
        boolean one = inputs.size() == 1
                && inputs.getFirst().dtype().isFloat()
                && (!inputs.getFirst().shape().isRanked()
                        || inputs.getFirst().shape().rank() == IMAGE_RANK);
        if (!one) {
            throw new InputException("the model " + model + " takes " + inputs
                    + "; expected one picture, [batch,3,height,width] or [batch,height,width,3] of floats");
        }
        return inputs.getFirst();
    }

    /** The preset, with the size and the layout that the model fixes. */
    private ImageInput wanted(ImageInput base, Shape shape) {
        if (!shape.isRanked()) {
            return base;
        }
        boolean first = shape.dim(1).mayEqual(Dim.of(3));
        boolean last = shape.dim(IMAGE_RANK - 1).mayEqual(Dim.of(3));
        if (!first && !last) {
            throw new InputException("the model " + model + " takes pictures of shape " + shape
                    + "; expected 3 channels, as the second dim or the last");
        }
        boolean channelsLast = last && (!first || shape.dim(IMAGE_RANK - 1).isFixed());
        int rows = channelsLast ? 1 : 2;
        return base.withSize(size(shape.dim(rows + 1), base.width()), size(shape.dim(rows), base.height()))
                .withChannelsLast(channelsLast);
    }

    private static int size(Dim dim, int otherwise) {
        return dim.isFixed() ? Math.toIntExact(dim.size()) : otherwise;
    }

    private static Tensor typed(Tensor prepared, DType dtype) {
        return dtype == DType.F32
                ? prepared
                : Tensor.of(dtype, prepared.toDoubles(), prepared.shape().sizes());
    }

    private Scores scores(Map<String, Tensor> results) {
        Tensor first = results.values().iterator().next();
        if (!first.dtype().isFloat() || first.elements() == 0) {
            throw new InputException(
                    "the model " + model + " gives " + first.type() + "; expected floats, one for each class");
        }
        return Scores.of(first.toDoubles());
    }

    private void print(Path image, Scores scores, Labels names) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            List<Object> classes = new ArrayList<>();
            for (int index : scores.top(top)) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("class", index);
                one.put("label", names.name(index, scores.classes()));
                one.put("probability", scores.probability(index));
                classes.add(one);
            }
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("image", image.toString());
            object.put("classes", classes);
            Json.print(out, object);
            return;
        }
        out.println(image);
        Table table = new Table("", "class", "label", "probability");
        int place = 1;
        for (int index : scores.top(top)) {
            String probability = String.format(Locale.ROOT, "%.2f %%", 100 * scores.probability(index));
            table.row(place++, index, names.name(index, scores.classes()), probability);
        }
        table.print(out);
    }
}
