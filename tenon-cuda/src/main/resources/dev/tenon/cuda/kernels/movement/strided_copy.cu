// y[walk] = x[walk]: elements, or runs of them as wider ones, between places a fixed distance apart: transposes that leave the innermost axis,
// slices, broadcasts, the parts of a concatenation. Distances of x may be negative or 0.
//
// Launch: 256 threads, any number of blocks, 4 elements a thread; x and y where the walk starts, on boundaries of an element, not overlapping.
// Variants: TENON_T an unsigned integer as wide as the elements, or uint4.
#include "walk.cuh"

typedef TENON_T T;

constexpr int AHEAD = 4;  // elements of a thread on their way
constexpr int THREADS = 256;

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(strided_copy)(const void* x, void* y, i64 elements, Walk2 walk) {
    release_successor();
    await_predecessor();
    bool small = elements <= 0x7fffffff;
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    i64 first = static_cast<i64>(blockIdx.x) * (AHEAD * THREADS) + threadIdx.x;
    for (; first < elements; first += static_cast<i64>(gridDim.x) * (AHEAD * THREADS)) {
        T some[AHEAD];
        i64 places[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + THREADS * a < elements) {
                i64 at[2];
                locate(walk, first + THREADS * a, small, at);
                some[a] = from[at[0]];
                places[a] = at[1];
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + THREADS * a < elements) to[places[a]] = some[a];
        }
    }
}
TENON_ENTRY(strided_copy)
