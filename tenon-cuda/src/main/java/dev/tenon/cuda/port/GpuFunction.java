package dev.tenon.cuda.port;

/** An entry of a module. Thread-safe; lives as long as its module. */
public interface GpuFunction {
    String name();

    Resources resources();

    /**
     * Lets launches ask for this much dynamic shared memory, beyond the default limit. Never lowers what was allowed
     * before.
     */
    void allowSharedBytes(int bytes);

    /** Blocks of this size that one multiprocessor holds at a time. */
    int blocksPerMultiprocessor(int blockThreads, int sharedBytes);

    /**
     * What the compiler gave the function.
     *
     * @param registers a thread
     * @param localBytes a thread: spills and arrays
     * @param sharedBytes a block, static
     * @param maxThreads most threads of a block
     */
    record Resources(int registers, int localBytes, int sharedBytes, int maxThreads) {}
}
