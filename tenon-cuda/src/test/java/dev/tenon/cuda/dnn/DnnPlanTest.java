package dev.tenon.cuda.dnn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.FakeGpu;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.testkit.UntimedRival;
import dev.tenon.cuda.tuning.Choice;
import dev.tenon.cuda.tuning.Rival;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** A plan that is made once engines are timed. */
class DnnPlanTest {
    private static final List<Long> ONES = List.of(1L, 1L);

    private static final DnnProblem PROBLEM = new DnnProblem(
            DType.F16,
            List.of(1L, 64L, 9L, 9L),
            List.of(32L, 64L, 3L, 3L),
            List.of(1L, 32L, 9L, 9L),
            ONES,
            ONES,
            ONES,
            ONES,
            false,
            true,
            false,
            true,
            true,
            false,
            false);

    /** A device on which no library is called. */
    private static GpuContext context() {
        GpuContext fake = FakeGpu.context(new AtomicInteger());
        return (GpuContext) Proxy.newProxyInstance(
                GpuContext.class.getClassLoader(),
                new Class<?>[] {GpuContext.class},
                (_, method, arguments) -> method.getName().equals("call") ? null : method.invoke(fake, arguments));
    }

    @Test
    void whyOursRunsIsWhatCameOfTiming() {
        DnnPlan plan = new DnnPlan(
                Dnn.none("not asked"),
                PROBLEM,
                new UntimedRival(),
                DnnMaker.Plan.later(4096),
                new DnnCaller(context(), new ReentrantLock()));
        assertThat(plan.isReady()).isFalse();
        assertThat(plan.workspaceBytes()).isEqualTo(4096); // for the engine that will be the fastest
        assertThat(plan.unready()).contains("timed at rest");
        assertThat(plan.take(new Choice(Rival.ALGORITHM, 5))).isTrue();
        assertThat(plan.isReady()).isFalse();
        assertThat(plan.unready()).isEqualTo("a kernel of ours is faster, autotuned over 5");
        assertThat(Rival.faster(1)).isEqualTo("a kernel of ours is faster");
    }
}
