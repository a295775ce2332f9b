package dev.tenon.cpu.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.ShapeProfile;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What plans hold, and when they give it back. */
class PlanLifeTest {
    /** y = x + 0, 1, … n-1: numbers that are computed for each n, and kept with its plan. */
    private static final Graph COUNTED = GraphBuilder.build("counted", g -> {
        Value x = g.input("x", DType.F32, Dim.named("n"));
        Value n = g.reshape(g.add(new ShapeOf(0, Long.MAX_VALUE), x));
        Value numbers = g.add(new RangeOf(), g.scalar(DType.I64, 0), n, g.scalar(DType.I64, 1));
        g.output("y", g.add(x, g.cast(numbers, DType.F32)));
    });

    /** y = x w. */
    private static final Graph LINEAR = GraphBuilder.build("linear", g -> {
        Value x = g.input("x", DType.F32, Dim.named("n"), Dim.of(64));
        Value w = g.constant(NdArray.zeros(TensorType.of(DType.F32, 64, 64)).toConstant());
        g.output("y", g.matmul(x, w));
    });

    private static final int ROWS = 64;
    private static final int COLUMNS = 8;

    private static void count(Session session, int n) {
        float[] y =
                session.run(Map.of("x", Tensor.zeros(DType.F32, n))).get("y").toFloats();
        assertThat(y).hasSize(n);
        assertThat(y[n - 1]).isEqualTo(n - 1);
    }

    @Test
    void plansPastTheBoundOfBytesGoAndTheNewestStays() {
        long room = 8 * 1000; // for the numbers of one plan of 1000
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(
                        COUNTED, Weights.none(), CompileOptions.defaults().withMaxPlanBytes(room));
                Session session = model.newSession()) {
            count(session, 1000);
            count(session, 999);
            assertThat(model.report().plans()).hasSize(2);
            count(session, 2000);
            assertThat(model.report().plans())
                    .as("1000 and 999 together are too many")
                    .hasSize(2);
            count(session, 1);
            assertThat(model.report().plans()).as("2000 is too many by itself").hasSize(1);
            count(session, 2000);
            assertThat(model.report().plans()).as("1 is no weight").hasSize(2);
        }
    }

    /** y = x + the first n rows of a table in a mapped file. */
    private static Graph positions(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            TensorType type = TensorType.of(DType.F32, ROWS, COLUMNS);
            return GraphBuilder.build("positions", g -> {
                Value x = g.input("x", DType.F32, Dim.named("n"), Dim.of(COLUMNS));
                Value n = g.add(new ShapeOf(0, 1), x);
                Value zero = g.constant(NdArray.ofLongs(0).toConstant());
                Value table = g.constant(new ConstantData.Dense(type, mapped));
                g.output("y", g.add(x, g.add(new SliceBy(true, false), table, zero, n, zero)));
            });
        }
    }

    @Test
    void rowsOfOneTableAreOneCopyForAllLengthsAndCountForNone(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("table");
        ByteBuffer bytes = ByteBuffer.allocate(ROWS * COLUMNS * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            bytes.putFloat(i);
        }
        Files.write(file, bytes.array());
        try (Arena arena = Arena.ofShared();
                Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(
                        positions(file, arena),
                        Weights.none(),
                        CompileOptions.defaults().withMaxPlanBytes(0));
                Session session = model.newSession()) {
            for (int n = 20; n < 30; n++) {
                float[] y = session.run(Map.of("x", Tensor.zeros(DType.F32, n, COLUMNS)))
                        .get("y")
                        .toFloats();
                assertThat(y[y.length - 1]).isEqualTo(n * COLUMNS - 1);
                assertThat(engine.memory().weights()).isBetween((long) bytes.capacity(), bytes.capacity() + 4096L);
            }
            assertThat(model.report().plans()).hasSize(10);
        }
    }

    @Test
    void weightsOfSeveralPlansStayWhileOneIsLeft() {
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(
                        LINEAR, Weights.none(), CompileOptions.defaults().withMaxPlans(1));
                Session session = model.newSession()) {
            session.run(Map.of("x", Tensor.zeros(DType.F32, 64, 64)));
            long one = engine.memory().weights();
            assertThat(one).isPositive();
            for (int n = 64; n < 70; n++) {
                session.run(Map.of("x", Tensor.zeros(DType.F32, n, 64)));
                assertThat(engine.memory().weights()).isEqualTo(one);
            }
        }
    }

    @Test
    void failedAheadOfTimePlanHoldsNothing() {
        long weights;
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(LINEAR);
                Session session = model.newSession()) {
            session.run(Map.of("x", Tensor.zeros(DType.F32, 64, 64)));
            weights = engine.memory().weights();
        }
        EngineOptions tight = EngineOptions.defaults().withMemoryLimit(weights - 1);
        CompileOptions ahead =
                CompileOptions.defaults().withAheadOfTime(ShapeProfile.none().with("n", 1, 64, 128));
        try (Engine engine = Engine.open(Target.cpu(), tight)) {
            assertThatThrownBy(() -> engine.compile(LINEAR, Weights.none(), ahead))
                    .isInstanceOf(OutOfMemoryException.class);
            assertThat(engine.memory().total()).isZero();
        }
    }
}
