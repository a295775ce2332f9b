package dev.tenon.cuda.port;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.OutOfMemoryException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A device that loads anything and runs nothing, and a compiler that makes nothing and lets a test watch: for what
 * happens between the two.
 */
public final class FakeGpu {
    public static final DeviceProperties DEVICE = new DeviceProperties(
            0, "none", new Architecture(9, 0), 132, 80L << 30, 49152, 232448, 233472, 65536, 2048, 50 << 20, true);

    private FakeGpu() {}

    private interface Answer {
        Object to(String method, Object[] arguments);
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                FakeGpu.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == arguments[0];
                    case "toString" -> "a " + type.getSimpleName();
                    default -> answer.to(method.getName(), arguments);
                }));
    }

    /** @param unloaded counts the modules that were closed */
    public static GpuContext context(AtomicInteger unloaded) {
        return proxy(GpuContext.class, (method, arguments) -> switch (method) {
            case "device" -> DEVICE;
            case "healthy" -> true;
            case "load" -> module(unloaded);
            case "start" -> {
                ((Thread) arguments[0]).start();
                yield null;
            }
            default -> null;
        });
    }

    private static GpuModule module(AtomicInteger unloaded) {
        return proxy(GpuModule.class, (method, arguments) -> {
            if (method.equals("close")) {
                unloaded.incrementAndGet();
                return null;
            }
            String name = (String) arguments[0];
            return proxy(GpuFunction.class, (called, _) -> called.equals("name") ? name : null);
        });
    }

    /** Counts what is allocated of so much memory. Used by one thread at a time. */
    public static final class Memory {
        private long most = Long.MAX_VALUE;
        private long live;
        private int allocations;
        private boolean stuck;

        /** All of it is free. */
        public Memory() {}

        public GpuContext context() {
            return proxy(GpuContext.class, (method, arguments) -> switch (method) {
                case "device" -> DEVICE;
                case "allocate" -> allocate((long) arguments[0]);
                case "newStream" -> proxy(GpuStream.class, (_, _) -> null);
                case "start" -> {
                    ((Thread) arguments[0]).start();
                    yield null;
                }
                default -> throw new AssertionError(method);
            });
        }

        private DeviceBuffer allocate(long bytes) {
            if (bytes > most - live) {
                throw new OutOfMemoryException(bytes + " bytes", bytes);
            }
            live += bytes;
            allocations++;
            return proxy(DeviceBuffer.class, (method, _) -> switch (method) {
                case "bytes" -> bytes;
                case "address" -> 0L;
                case "close" -> {
                    if (stuck) {
                        throw new NativeException("free: stuck");
                    }
                    live -= bytes;
                    yield null;
                }
                default -> throw new AssertionError(method);
            });
        }

        /** From now on the device has so many bytes. */
        public void holds(long bytes) {
            most = bytes;
        }

        public void failToFree(boolean fail) {
            stuck = fail;
        }

        /** Bytes that are allocated now. */
        public long live() {
            return live;
        }

        public int allocations() {
            return allocations;
        }
    }

    /** @param compile sees each source, and may wait or throw */
    public static KernelCompiler compiler(Consumer<KernelSource> compile) {
        return new KernelCompiler() {
            @Override
            public String name() {
                return "fake";
            }

            @Override
            public String unavailable() {
                return "";
            }

            @Override
            public String fingerprint() {
                return "fake";
            }

            @Override
            public List<Architecture> architectures() {
                return List.of(DEVICE.architecture());
            }

            @Override
            public ModuleImage compile(KernelSource source, Architecture architecture) {
                compile.accept(source);
                return new ModuleImage(source.name(), ModuleImage.Format.CUBIN, MemorySegment.NULL, null, "");
            }
        };
    }

    /** The two as a platform. */
    public static GpuPlatform platform(KernelCompiler compiler) {
        GpuDriver driver = proxy(GpuDriver.class, (method, _) -> switch (method) {
            case "open" -> context(new AtomicInteger());
            case "devices" -> List.of(DEVICE);
            default -> "";
        });
        return new GpuPlatform() {
            @Override
            public String name() {
                return "fake";
            }

            @Override
            public GpuDriver driver() {
                return driver;
            }

            @Override
            public KernelCompiler compiler() {
                return compiler;
            }
        };
    }
}
