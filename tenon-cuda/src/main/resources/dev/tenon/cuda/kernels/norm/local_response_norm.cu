// y = x / (bias + alpha / size · the sum of squares over `size` neighbouring channels)^beta, x [B, C, inner]; the window of channel c is
// c - (size - 1) / 2 to c + size / 2, cut off at the first and last channel.
//
// Launch: 256 threads, any number of blocks; a thread a result. Neighbours are read through the caches. No shared memory.
// Variants: TENON_T float, double, f16, bf16.
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

// `slope` is alpha / size.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(local_response_norm)(const void* x, void* y, i64 elements, i64 channels, i64 inner, i64 size, A slope, A beta, A bias) {
    release_successor();
    await_predecessor();
    const T* from = static_cast<const T*>(x);
    bool small = elements <= 0x7fffffff;
    for (i64 at = global_thread(); at < elements; at += global_threads()) {
        i64 line = small ? static_cast<u32>(at) / static_cast<u32>(inner) : at / inner;
        i64 channel = small ? static_cast<u32>(line) % static_cast<u32>(channels) : line % channels;
        i64 before = min(channel, (size - 1) / 2), after = min(channels - 1 - channel, size / 2);
        A squares = A(0);
        for (i64 neighbour = -before; neighbour <= after; neighbour++) {
            A v = to_compute(from[at + neighbour * inner]);
            squares += v * v;
        }
        static_cast<T*>(y)[at] = From<T>::of(to_compute(from[at]) / pow(bias + slope * squares, beta));
    }
}
TENON_ENTRY(local_response_norm)
