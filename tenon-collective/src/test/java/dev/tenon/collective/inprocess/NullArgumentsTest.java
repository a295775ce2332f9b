package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Buffer;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.TensorBuffer;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Null is told like any other wrong argument, by its name; the group goes on. */
final class NullArgumentsTest {
    private static final Map<Class<?>, Object> GOOD = Map.of(
            Buffer.class,
            HostBuffer.of(new float[3]),
            Tensor.class,
            Tensor.of(new float[3], 3),
            float[].class,
            new float[3],
            MemorySegment.class,
            MemorySegment.ofArray(new float[3]),
            DType.class,
            DType.F32,
            ReduceOp.class,
            ReduceOp.SUM,
            int.class,
            0);

    @Test
    void everyArgumentOfEveryOperation() {
        List<Method> operations = java.util.Arrays.stream(Communicator.class.getMethods())
                .filter(method ->
                        method.getParameterCount() > 0 && !method.getName().equals("abort"))
                .toList();
        assertThat(operations).hasSizeGreaterThan(14);
        try (InProcessGroup group = InProcessGroup.open(1)) {
            group.run(rank -> {
                for (Method operation : operations) {
                    for (int at = 0; at < operation.getParameterCount(); at++) {
                        if (!operation.getParameterTypes()[at].isPrimitive()) {
                            assertThatThrownBy(call(rank, operation, at))
                                    .as("%s without its argument %d", operation, at)
                                    .isInstanceOf(InputException.class)
                                    .hasMessageMatching(
                                            ".*: argument \"(source|target|data|send|receive|op|dtype)\" is null.*");
                        }
                    }
                }
                float[] right = {5};
                rank.allReduce(right, ReduceOp.SUM);
                assertThat(right).containsExactly(5);
            });
        }
    }

    private static org.assertj.core.api.ThrowableAssert.ThrowingCallable call(
            Communicator rank, Method operation, int absent) {
        Object[] arguments = java.util.Arrays.stream(operation.getParameterTypes())
                .map(GOOD::get)
                .toArray();
        arguments[absent] = null;
        return () -> {
            try {
                operation.invoke(rank, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
    }

    @Test
    @SuppressWarnings("NullAway") // what is tested
    void buffers() {
        assertThatThrownBy(() -> HostBuffer.of((float[]) null))
                .isInstanceOf(InputException.class)
                .hasMessage("HostBuffer.of: argument \"elements\" is null; expected a value");
        assertThatThrownBy(() -> HostBuffer.of(null, DType.F32)).isInstanceOf(InputException.class);
        assertThatThrownBy(() -> TensorBuffer.of(null))
                .isInstanceOf(InputException.class)
                .hasMessage("TensorBuffer.of: argument \"tensor\" is null; expected a value");
    }
}
