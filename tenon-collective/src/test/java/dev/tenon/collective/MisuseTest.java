package dev.tenon.collective;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.inprocess.InProcessGroup;
import dev.tenon.collective.inprocess.InProcessOptions;
import dev.tenon.collective.inprocess.RingListener;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.NullArguments;
import dev.tenon.core.testkit.PublicApi;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Groups, buffers and options; the operations of a rank have a test of their own. */
class MisuseTest {
    private static final class Silent implements RingListener {
        @Override
        public void reduced(int rank, int step, int sent, int received, HostBuffer state) {}

        @Override
        public void gathered(int rank, int step, int sent, int received, HostBuffer state) {}
    }

    private static final class Samples implements NullArguments.Samples {
        private final Map<Class<?>, Object> known = new HashMap<>();
        private final InProcessGroup group = InProcessGroup.open(1);

        Samples() {
            known.put(int.class, 1);
            known.put(long.class, 1L);
            known.put(float[].class, new float[1]);
            known.put(double[].class, new double[1]);
            known.put(int[].class, new int[1]);
            known.put(long[].class, new long[Request.NUMBERS]);
            known.put(Class.class, float[].class);
            known.put(MemorySegment.class, MemorySegment.ofArray(new float[1]));
            known.put(DType.class, DType.F32);
            known.put(ReduceOp.class, ReduceOp.SUM);
            known.put(Operation.class, Operation.BARRIER);
            known.put(Algorithm.class, Algorithm.AUTO);
            known.put(Duration.class, Duration.ofSeconds(1));
            known.put(Tensor.class, Tensor.of(new float[1], 1));
            known.put(HostBuffer.class, HostBuffer.of(new float[1]));
            known.put(Request.class, Request.BARRIER);
            known.put(InProcessOptions.class, InProcessOptions.defaults());
            known.put(InProcessGroup.class, group);
            known.put(RingListener.class, new Silent());
            known.put(InProcessGroup.RankTask.class, (InProcessGroup.RankTask) _ -> {});
        }

        @Override
        public Object of(Parameter parameter) {
            return Objects.requireNonNull(known.get(parameter.getType()), parameter.toString());
        }

        @Override
        public Object receiver(Class<?> type) {
            return Objects.requireNonNull(known.get(type), type.toString());
        }

        @Override
        public void close() {
            group.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> nullArgumentIsNamed() throws Exception {
        List<Class<?>> api = new ArrayList<>();
        for (Class<?> one : List.of(Communicator.class, InProcessGroup.class)) {
            api.addAll(PublicApi.classesBeside(one));
        }
        api.removeAll(List.of(ArgumentChecks.class, RingListener.class)); // told of arguments, not called with them
        return NullArguments.tests(api, Samples::new);
    }

    @Test
    void rankThatIsNotThereIsNamed() {
        try (InProcessGroup group = InProcessGroup.open(2)) {
            for (int rank : new int[] {-1, 2}) {
                assertThatThrownBy(() -> group.communicator(rank))
                        .isInstanceOf(InputException.class)
                        .hasMessageContaining("rank " + rank)
                        .hasMessageContaining("0 to 1");
            }
        }
    }

    @Test
    void sliceOutsideItsBufferIsNamed() {
        HostBuffer buffer = HostBuffer.of(new float[3]);
        assertThatThrownBy(() -> buffer.slice(2, 2))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("2 to 4");
        assertThatThrownBy(() -> buffer.slice(-1, 2)).isInstanceOf(InputException.class);
        assertThatThrownBy(() -> buffer.slice(1, Long.MAX_VALUE)).isInstanceOf(InputException.class);
    }

    @Test
    void closedGroupRefusesTasks() {
        InProcessGroup group = InProcessGroup.open(1);
        group.close();
        group.close();
        assertThatThrownBy(() -> group.run(_ -> {})).isInstanceOf(ClosedException.class);
        Communicator rank = group.communicator(0);
        assertThatThrownBy(rank::barrier).isInstanceOf(ClosedException.class);
    }
}
