package dev.tenon.cuda.port;

/**
 * What a device says of itself.
 *
 * @param ordinal its number within the platform
 * @param name what the maker calls it
 * @param architecture compute capability
 * @param multiprocessors number of streaming multiprocessors
 * @param memoryBytes global memory in all
 * @param sharedBytesPerBlock most shared memory of a block without asking
 * @param sharedBytesPerBlockOptIn most shared memory of a block that asks ({@link GpuFunction#allowSharedBytes})
 * @param sharedBytesPerMultiprocessor shared memory of a multiprocessor
 * @param registersPerMultiprocessor 32-bit registers of a multiprocessor
 * @param threadsPerMultiprocessor most resident threads of a multiprocessor
 * @param l2Bytes size of the L2 cache
 * @param cooperativeLaunch whether a grid may synchronise
 */
public record DeviceProperties(
        int ordinal,
        String name,
        Architecture architecture,
        int multiprocessors,
        long memoryBytes,
        int sharedBytesPerBlock,
        int sharedBytesPerBlockOptIn,
        int sharedBytesPerMultiprocessor,
        int registersPerMultiprocessor,
        int threadsPerMultiprocessor,
        int l2Bytes,
        boolean cooperativeLaunch) {}
