package dev.tenon.cuda.testkit;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.testkit.FaultPoints;
import dev.tenon.cuda.backend.GpuBackend;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuDriver;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A GPU platform between the backend and a real one: counts the calls that could fail, fails the one that it is told
 * to, and knows what was handed out and not closed. Thread-safe.
 */
public final class FaultyGpu implements GpuPlatform {
    /** What is handed out with a wrapper around it. */
    private static final List<Class<?>> WRAPPED = List.of(
            GpuContext.class,
            GpuStream.class,
            GpuEvent.class,
            GpuModule.class,
            DeviceBuffer.class,
            PinnedBuffer.class,
            CapturedGraph.class,
            ExecutableGraph.class);

    /** The calls that fail; those that wait or ask are left out, for they fail only where the device is lost. */
    private static final Set<String> FAILING = Set.of(
            "open",
            "allocate",
            "allocatePinned",
            "start",
            "newStream",
            "newEvent",
            "load",
            "function",
            "launch",
            "copyToDevice",
            "copyToHost",
            "copy",
            "fill",
            "record",
            "await",
            "beginCapture",
            "endCapture",
            "instantiate",
            "close");

    private final GpuPlatform real;
    private final GpuDriver driver;
    private final FaultPoints points = new FaultPoints();
    private final Set<Wrapper> open = ConcurrentHashMap.newKeySet();

    public FaultyGpu(GpuPlatform real) {
        this.real = real;
        this.driver = wrap(GpuDriver.class, real.driver());
    }

    /** The platform as a backend that is not on the path. */
    public Backend backend() {
        return new GpuBackend(this, 0) {};
    }

    public FaultPoints points() {
        return points;
    }

    /** What was handed out and not closed, in words; empty for nothing. */
    public String held() {
        TreeMap<String, Integer> kinds = new TreeMap<>();
        open.forEach(one -> kinds.merge(one.type.getSimpleName(), 1, Integer::sum));
        return kinds.isEmpty() ? "" : kinds.toString();
    }

    @Override
    public String name() {
        return real.name();
    }

    @Override
    public GpuDriver driver() {
        return driver;
    }

    @Override
    public boolean takesLibraries() {
        return real.takesLibraries();
    }

    @Override
    public KernelCompiler compiler() {
        return real.compiler();
    }

    private <T> T wrap(Class<T> type, Object one) {
        return type.cast(Proxy.newProxyInstance(
                FaultyGpu.class.getClassLoader(), new Class<?>[] {type}, new Wrapper(type, one)));
    }

    private final class Wrapper implements InvocationHandler {
        private final Class<?> type;
        private final Object one;

        Wrapper(Class<?> type, Object one) {
            this.type = type;
            this.one = one;
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a wrapper is itself alone
        public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
            switch (method.getName()) {
                case "equals":
                    return arguments != null && self == arguments[0];
                case "hashCode":
                    return System.identityHashCode(self);
                default:
                    break;
            }
            boolean closing = method.getName().equals("close");
            if (FAILING.contains(method.getName()) && (!closing || open.contains(this))) {
                failAtPoint(method.getName());
            }
            Object result = call(method, arguments);
            if (closing) {
                open.remove(this);
            }
            return wrapped(result);
        }

        private void failAtPoint(String call) {
            String name = type.getSimpleName() + "." + call;
            if (!points.fails(name)) {
                return;
            }
            String what = FaultPoints.MARK + ": " + name;
            switch (call) {
                case "allocate", "allocatePinned" -> throw new OutOfMemoryException(what);
                case "endCapture" -> {
                    ((GpuStream) one).abortCapture(); // usable afterwards in any case
                    throw new CaptureException(what);
                }
                case "start" -> throw new OutOfMemoryError(what);
                default -> throw new NativeException(what);
            }
        }

        private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
            Object @Nullable [] given = arguments == null ? null : arguments.clone();
            for (int i = 0; given != null && i < given.length; i++) {
                if (given[i] != null
                        && Proxy.isProxyClass(given[i].getClass())
                        && Proxy.getInvocationHandler(given[i]) instanceof Wrapper wrapper) {
                    given[i] = wrapper.one;
                }
            }
            try {
                return method.invoke(one, given);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private @Nullable Object wrapped(@Nullable Object result) {
            for (Class<?> each : WRAPPED) {
                if (each.isInstance(result)) {
                    Object wrapper = wrap(each, result);
                    open.add((Wrapper) Proxy.getInvocationHandler(wrapper));
                    return wrapper;
                }
            }
            return result;
        }
    }
}
