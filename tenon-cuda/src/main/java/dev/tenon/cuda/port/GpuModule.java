package dev.tenon.cuda.port;

/** A loaded image. Thread-safe. */
public interface GpuModule extends AutoCloseable {
    /**
     * @throws dev.tenon.core.error.NativeException when there is no such function, naming those there are where the
     *     platform tells
     */
    GpuFunction function(String name);

    /** Unloads the image; its functions must not run any more. Idempotent. */
    @Override
    void close();
}
