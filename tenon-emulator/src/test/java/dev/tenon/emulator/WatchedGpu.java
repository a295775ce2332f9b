package dev.tenon.emulator;

import dev.tenon.core.backend.Backend;
import dev.tenon.cuda.backend.GpuBackend;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelCompiler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An emulator that checks the order between streams, counts their waits for events, and can leave one out. */
final class WatchedGpu implements GpuPlatform {
    private final GpuPlatform real =
            new EmulatorPlatform(() -> Harness.options(true).withOrdered(true));
    private final AtomicInteger waits = new AtomicInteger();
    private volatile int dropped;

    /** The platform as a backend that is not on the path. */
    Backend backend() {
        return new GpuBackend(this, 0) {};
    }

    /** Begins to count waits, and leaves one out: the first is 1; 0 for none. */
    void drop(int number) {
        waits.set(0);
        dropped = number;
    }

    /** Waits since then. */
    int waits() {
        return waits.get();
    }

    @Override
    public String name() {
        return real.name();
    }

    @Override
    public GpuDriver driver() {
        return wrapped(GpuDriver.class, real.driver());
    }

    @Override
    public KernelCompiler compiler() {
        return real.compiler();
    }

    private <T> T wrapped(Class<T> type, Object one) {
        InvocationHandler handler = (_, method, arguments) -> call(one, method, arguments);
        return type.cast(Proxy.newProxyInstance(WatchedGpu.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private @Nullable Object call(Object one, Method method, Object @Nullable [] arguments) throws Throwable {
        if (one instanceof GpuStream && method.getName().equals("await") && waits.incrementAndGet() == dropped) {
            return null;
        }
        try {
            Object result = method.invoke(one, arguments);
            return result instanceof GpuStream
                    ? wrapped(GpuStream.class, result)
                    : result instanceof GpuContext ? wrapped(GpuContext.class, result) : result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
