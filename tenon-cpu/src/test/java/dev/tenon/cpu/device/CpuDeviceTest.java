package dev.tenon.cpu.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuDeviceTest {
    private static final EngineOptions TWO = EngineOptions.defaults().withThreads(2);

    private static Device open(EngineOptions options) {
        return new CpuBackend().open(0, options);
    }

    private static Program compile(Device device, Graph graph, Device.Constants weights) {
        return device.compile(new Plan(graph, MemoryPlanner.plan(graph)), weights, CompileOptions.defaults());
    }

    /** y = relu(x w) + x, so that there is a weight, an activation in the arena, and an output. */
    private static Graph chain(int size) {
        return GraphBuilder.build("chain", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 4, size));
            ConstantData w =
                    new ConstantData.Splat(TensorType.of(DType.F32, size, size), Float.floatToRawIntBits(0.5f));
            g.output("y", g.add(g.softmax(g.relu(g.matmul(x, g.constant(w))), 1), x));
        });
    }

    @Test
    void presentsItself() {
        CpuBackend backend = new CpuBackend();
        assertThat(backend.devices()).singleElement().satisfies(info -> {
            assertThat(info.name()).isNotEmpty();
            assertThat(info.memoryBytes()).isPositive();
        });
        assertThat(backend.unavailable()).isEmpty();
        assertThatThrownBy(() -> backend.open(1, TWO))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("cpu:1");
    }

    @Test
    void givesBackAllMemoryOnClose() {
        Device device = open(TWO);
        for (int round = 0; round < 3; round++) {
            Device.Constants weights = device.newConstants();
            Device.State context = device.newState();
            Program program = compile(device, chain(64), weights);
            Tensor y = program.run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 64)})[0];
            assertThat(y.getDouble(0)).isEqualTo(1.0 / 64);
            assertThat(weights.bytes()).isEqualTo(4 * 64 * 64);
            assertThat(device.memory().weights()).isEqualTo(weights.bytes());
            assertThat(device.memory().activations()).isPositive();
            assertThat(device.memory().activations() + device.memory().workspace())
                    .isEqualTo(context.bytes());
            assertThat(program.workspaceBytes()).isEqualTo(device.memory().workspace());
            context.close();
            context.close();
            weights.close();
            weights.close();
            assertThat(device.memory().total()).isZero();
            assertThatThrownBy(() -> program.run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 64)}))
                    .isInstanceOf(ClosedException.class);
        }
        device.close();
        device.close();
    }

    @Test
    void preparesAWeightOnceForSeveralPlans() {
        try (Device device = open(TWO);
                Device.Constants weights = device.newConstants()) {
            ConstantData w = weight();
            for (int rows = 1; rows < 5; rows++) {
                int m = rows;
                Graph graph = GraphBuilder.build("plan", g -> {
                    Value x = g.input("x", TensorType.of(DType.F32, m, 64));
                    g.output("y", g.matmul(x, g.constant(w)));
                });
                compile(device, graph, weights);
                assertThat(weights.bytes()).isEqualTo(4 * 64 * 64);
            }
        }
    }

    @Test
    void shorterTableIsReadFromTheCopyOfALongerOne() {
        try (Device device = open(TWO);
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState();
                Arena own = Arena.ofConfined()) { // memory of one thread is copied
            MemorySegment table = own.allocate(4 * 64 * 8, 4);
            table.set(ValueLayout.JAVA_FLOAT, 0, 3);
            Program longer = compile(device, plusTable(table, 8), weights);
            Program shorter = compile(device, plusTable(table, 2), weights);
            assertThat(weights.bytes()).isEqualTo(4 * 64 * 8);
            longer.close();
            assertThat(weights.bytes()).as("the other plan reads it").isEqualTo(4 * 64 * 8);
            Tensor y = shorter.run(context, new Tensor[] {Tensor.zeros(DType.F32, 2, 64)})[0];
            assertThat(y.getDouble(0)).isEqualTo(3);
            y.close();
            shorter.close();
            assertThat(weights.bytes()).isZero();
        }
    }

    private static Graph plusTable(MemorySegment table, int rows) {
        TensorType type = TensorType.of(DType.F32, rows, 64);
        return GraphBuilder.build("plus", g -> {
            Value x = g.input("x", type);
            g.output("y", g.add(x, g.constant(new ConstantData.Dense(type, table.asSlice(0, type.bytes())))));
        });
    }

    private static ConstantData weight() {
        MemorySegment memory = Arena.ofAuto().allocate(4 * 64 * 64, 4);
        memory.set(ValueLayout.JAVA_FLOAT, 0, 1);
        return new ConstantData.Dense(TensorType.of(DType.F32, 64, 64), memory);
    }

    @Test
    void refusesAPlanPastTheLimitBeforeAllocating() {
        try (Device device = open(TWO.withMemoryLimit(200_000));
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState()) {
            compile(device, chain(32), weights).run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 32)});
            long before = device.memory().total();
            assertThatThrownBy(() -> compile(device, chain(256), weights))
                    .isInstanceOf(OutOfMemoryException.class)
                    .hasMessageContaining("262144 bytes")
                    .hasMessageContaining("limit is 200000")
                    .hasMessageContaining("held: weights 4096");
            assertThat(device.memory().total()).isEqualTo(before);
            Tensor y =
                    compile(device, chain(32), weights).run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 32)})[0];
            assertThat(y.getDouble(0)).isEqualTo(1.0 / 32);
        }
    }

    @Test
    void aSessionPastTheLimitLeavesTheDeviceUsable() {
        try (Device device = open(TWO.withMemoryLimit(100_000));
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState()) {
            Graph large = GraphBuilder.build("large", g -> {
                Value x = g.input("x", TensorType.of(DType.F32, 100_000));
                g.output("y", g.relu(g.softmax(x, 0)));
            });
            Program program = compile(device, large, weights);
            assertThatThrownBy(() -> program.run(context, new Tensor[] {Tensor.zeros(DType.F32, 100_000)}))
                    .isInstanceOf(OutOfMemoryException.class)
                    .hasMessageContaining("activations of a session");
            assertThat(device.memory().total()).isZero();
            compile(device, chain(32), weights).run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 32)});
        }
    }

    @Test
    void onePlanAfterAnotherInOneContext() {
        try (Device device = open(TWO);
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState()) {
            Program small = compile(device, chain(32), weights);
            Program large = compile(device, chain(256), weights);
            for (int round = 0; round < 3; round++) {
                assertThat(small.run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 32)})[0].getDouble(5))
                        .isEqualTo(1.0 / 32);
                assertThat(large.run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 256)})[0].getDouble(5))
                        .isEqualTo(1.0 / 256);
            }
        }
    }

    @Test
    void aFaultInTheDataNamesItsNodeAndLeavesTheContextUsable() {
        Graph graph = GraphBuilder.build("div", g -> {
            Value a = g.input("a", TensorType.of(DType.I32, 5000));
            Value b = g.input("b", TensorType.of(DType.I32, 5000));
            g.output(
                    "y",
                    g.add("/ratio", new dev.tenon.core.ir.op.elementwise.Binary(BinaryFn.DIV), java.util.List.of(a, b))
                            .getFirst());
        });
        try (Device device = open(TWO);
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState()) {
            Program program = compile(device, graph, weights);
            int[] ones = new int[5000];
            java.util.Arrays.fill(ones, 1);
            Tensor good = Tensor.of(ones, 5000);
            ones[4711] = 0;
            Tensor bad = Tensor.of(ones, 5000);
            for (int round = 0; round < 3; round++) {
                assertThatThrownBy(() -> program.run(context, new Tensor[] {good, bad}))
                        .isInstanceOf(DataException.class)
                        .hasMessageContaining("(node \"/ratio\")");
                assertThat(program.run(context, new Tensor[] {bad, good})[0].getLong(4711))
                        .isZero();
            }
        }
    }

    @Test
    void readsInputsInAnyMemory(@TempDir Path folder) throws IOException {
        float[] values = new float[4 * 32];
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
        }
        Tensor plain = Tensor.of(values, 4, 32);
        MemorySegment odd = Arena.ofAuto().allocate(4L * values.length + 1).asSlice(1);
        odd.copyFrom(plain.segment());
        Path file = folder.resolve("x");
        Files.write(file, plain.segment().toArray(ValueLayout.JAVA_BYTE));
        try (Device device = open(TWO);
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                Arena arena = Arena.ofConfined()) {
            Program program = compile(device, chain(32), weights);
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            Tensor[] same = {
                Tensor.wrap(plain.type(), odd),
                Tensor.wrap(plain.type(), MemorySegment.ofArray(values)),
                Tensor.wrap(plain.type(), mapped),
                Tensor.wrap(plain.type(), plain.segment().asReadOnly())
            };
            float[] expected = program.run(context, new Tensor[] {plain})[0].toFloats();
            for (Tensor x : same) {
                assertThat(program.run(context, new Tensor[] {x})[0].toFloats()).containsExactly(expected);
            }
            assertThat(arena.scope().isAlive()).isTrue();
        }
    }

    @Test
    void readsMappedAndMisalignedConstants(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("w");
        byte[] bytes = new byte[4 * 64 + 1];
        MemorySegment.ofArray(bytes).asSlice(1).set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, 3f);
        Files.write(file, bytes);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                Device device = open(TWO);
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes.length, Arena.ofAuto());
            TensorType type = TensorType.of(DType.F32, 64);
            Graph graph = GraphBuilder.build("constants", g -> {
                Value x = g.input("x", type);
                Value aligned = g.constant(new ConstantData.Dense(type, mapped.asSlice(0, 256)));
                Value odd = g.constant(new ConstantData.Dense(type, mapped.asSlice(1)));
                g.output("y", g.add(g.mul(x, odd), aligned));
            });
            Tensor x = Tensor.zeros(type);
            x.segment().set(ValueLayout.JAVA_FLOAT, 0, 2f);
            assertThat(compile(device, graph, weights)
                            .run(context, new Tensor[] {x})[0]
                            .getDouble(0))
                    .isEqualTo(6 + mapped.get(ValueLayout.JAVA_FLOAT, 0));
            assertThat(weights.bytes()).isEqualTo(2 * 256);
        }
    }

    @Test
    void refusesInputsOfOtherTypes() {
        try (Device device = open(TWO);
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState()) {
            Program program = compile(device, chain(32), weights);
            assertThatThrownBy(() -> program.run(context, new Tensor[] {Tensor.zeros(DType.F32, 4, 33)}))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("f32[4,32]")
                    .hasMessageContaining("f32[4,33]");
            assertThatThrownBy(() -> program.run(context, new Tensor[0])).isInstanceOf(InputException.class);
        }
    }

    @Test
    void reportsItsSteps() {
        try (Device device = open(TWO);
                Device.Constants weights = device.newConstants()) {
            assertThat(compile(device, chain(32), weights).steps())
                    .extracting(step -> step.op() + " " + step.types() + " by " + step.tier())
                    .containsExactly(
                            "mat_mul f32[4,32] f32[32,32] -> f32[4,32] by packed gemm",
                            "unary f32[4,32] -> f32[4,32] by tiles",
                            "softmax f32[4,32] -> f32[4,32] by rows",
                            "binary f32[4,32] f32[4,32] -> f32[4,32] by tiles");
        }
    }
}
