package dev.tenon.cpu.device;

import dev.tenon.core.testkit.FaultModel;
import dev.tenon.core.testkit.FaultPoints;
import dev.tenon.core.testkit.FaultTrials;
import dev.tenon.cpu.step.HostSupply;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every allocation outside the heap and every start of a thread fails once, at every point of the lives of small
 * models.
 */
class FaultInjectionTest {
    /** Memory and threads of the JVM, counted, and refused at one point. */
    private static final class Supply implements HostSupply {
        final FaultPoints points = new FaultPoints();
        private final Map<Arena, Long> arenas = new ConcurrentHashMap<>();
        private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

        @Override
        public MemorySegment allocate(Arena arena, long bytes, long alignment) {
            fail("allocate");
            arenas.put(arena, bytes);
            return arena.allocate(bytes, alignment);
        }

        @Override
        public void start(Thread thread) {
            fail("start");
            threads.add(thread);
            thread.start();
        }

        private void fail(String call) {
            if (points.fails(call)) {
                throw new OutOfMemoryError(FaultPoints.MARK + ": " + call);
            }
        }

        String held() {
            arenas.keySet().removeIf(arena -> !arena.scope().isAlive());
            threads.removeIf(thread -> !thread.isAlive());
            return arenas.isEmpty() && threads.isEmpty() ? "" : "memory " + arenas.values() + ", threads " + threads;
        }
    }

    @TestFactory
    Stream<DynamicTest> everyPointFailsOnceAndNothingIsHeld() {
        return FaultModel.all().stream()
                .flatMap(model -> FaultTrials.Mode.all().stream()
                        .map(mode -> DynamicTest.dynamicTest(
                                model.name() + ", " + mode.name(), () -> FaultTrials.run(device(), model, mode))));
    }

    /** Each test has its own, so that what one leaves is not held against the next. */
    private static FaultTrials.Device device() {
        Supply supply = new Supply();
        return new FaultTrials.Device("cpu", new CpuBackend(supply), supply.points, supply::held);
    }
}
