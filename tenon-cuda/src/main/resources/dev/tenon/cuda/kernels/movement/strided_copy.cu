// y[walk] = x[walk]: elements, or runs of them as wider ones, between places a fixed distance apart: transposes that leave the innermost axis,
// slices, broadcasts, the parts of a concatenation. Distances of x may be negative or 0.
//
// Launch: 256 threads, any number of blocks; x and y where the walk starts, on boundaries of an element, not overlapping.
// Variants: TENON_T an unsigned integer as wide as the elements, or uint4.
#include "walk.cuh"

typedef TENON_T T;

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(strided_copy)(const void* x, void* y, i64 elements, Walk2 walk) {
    release_successor();
    await_predecessor();
    bool small = elements <= 0x7fffffff;
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    for (i64 i = global_thread(); i < elements; i += global_threads()) {
        i64 at[2];
        locate(walk, i, small, at);
        to[at[1]] = from[at[0]];
    }
}
TENON_ENTRY(strided_copy)
