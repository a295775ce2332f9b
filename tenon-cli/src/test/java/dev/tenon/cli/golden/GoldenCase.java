package dev.tenon.cli.golden;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.npy.Npy;
import dev.tenon.formats.npy.NpyArray;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One run of a real model: its inputs and what another engine gave. */
record GoldenCase(String name, Map<String, Tensor> inputs, List<Output> outputs) {
    /** @param spread how far that engine is from itself without optimisation */
    record Output(String name, Tensor expected, double spread) {}

    private static final Path ROOT = Path.of("src/test/resources/golden");

    static Path folder(String model) {
        return ROOT.resolve(model);
    }

    static List<GoldenCase> of(String model) {
        Map<String, GoldenCase> cases = new LinkedHashMap<>();
        for (String line : lines(folder(model).resolve("index.tsv"))) {
            String[] row = line.split("\t", -1);
            if (line.startsWith("#")) {
                continue;
            }
            GoldenCase golden = cases.computeIfAbsent(
                    row[0], name -> new GoldenCase(name, new LinkedHashMap<>(), new ArrayList<>()));
            Tensor tensor = tensor(folder(model), type(row[3], row[4]), row[5]);
            if (row[1].equals("input")) {
                golden.inputs.put(row[2], tensor);
            } else {
                golden.outputs.add(new Output(row[2], tensor, row[6].isEmpty() ? 0 : Double.parseDouble(row[6])));
            }
        }
        return List.copyOf(cases.values());
    }

    private static TensorType type(String dtype, String shape) {
        long[] sizes = shape.equals("scalar")
                ? new long[0]
                : Arrays.stream(shape.split("x")).mapToLong(Long::parseLong).toArray();
        DType type = switch (dtype) {
            case "float32" -> DType.F32;
            case "int64" -> DType.I64;
            default -> throw new IllegalArgumentException(dtype);
        };
        return new TensorType(type, Shape.of(sizes));
    }

    private static Tensor tensor(Path folder, TensorType type, String source) {
        String[] parts = source.split(":", 2);
        return switch (parts[0]) {
            case "file" -> read(folder.resolve(parts[1]));
            case "arange" -> arange(type);
            case "uniform" -> uniform(type, parts[1].split(":"));
            default -> throw new IllegalArgumentException(source);
        };
    }

    private static Tensor read(Path file) {
        NpyArray array = Npy.read(file);
        return Tensor.wrap(array.type(), array.data());
    }

    private static Tensor arange(TensorType type) {
        Tensor tensor = Tensor.zeros(type);
        for (long i = 0; i < tensor.elements(); i++) {
            Elements.setDouble(type.dtype(), tensor.segment(), i, (double) i / tensor.elements());
        }
        return tensor;
    }

    /** SplitMix64 by index, as README.md beside the data says. */
    private static Tensor uniform(TensorType type, String[] seedLowHigh) {
        long seed = Long.parseLong(seedLowHigh[0]);
        double low = Double.parseDouble(seedLowHigh[1]);
        double high = Double.parseDouble(seedLowHigh[2]);
        Tensor tensor = Tensor.zeros(type);
        for (long i = 0; i < tensor.elements(); i++) {
            long z = (seed << 32) + i + 0x9E3779B97F4A7C15L;
            z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
            z ^= z >>> 31;
            Elements.setDouble(
                    type.dtype(), tensor.segment(), i, (float) (low + (high - low) * ((z >>> 40) * 0x1p-24)));
        }
        return tensor;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
