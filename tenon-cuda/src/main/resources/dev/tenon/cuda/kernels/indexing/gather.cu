// gather: y[o][j][i] = data[o][indices[j]][i]; gather_elements: y[p] = data[place of p, with its index along the axis taken from indices[p]].
// Indices below 0 count from the end; one out of range is reported and gives zeros.
//
// Launch: 256 threads, any number of blocks, a thread of gather 4 elements; values on boundaries of an element. Where runs of `inner` are long, they are told as fewer, wider
// elements, up to 16 bytes. Variants: TENON_T an unsigned integer as wide as the elements, or uint4.
#include "indices.cuh"

typedef TENON_T T;

constexpr int AHEAD = 4;  // elements of a thread on their way
constexpr int THREADS = 256;

template <typename I>
__device__ __forceinline__ void gather_all(const T* data, const void* indices, i32 wide, T* y, I elements, i64 n, I m, I inner, void* faults, i32 step) {
    i64 first = static_cast<i64>(blockIdx.x) * (AHEAD * THREADS) + threadIdx.x;
    for (; first < static_cast<i64>(elements); first += static_cast<i64>(gridDim.x) * (AHEAD * THREADS)) {
        T some[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            i64 at = first + THREADS * a;
            if (at >= static_cast<i64>(elements)) break;
            I row = static_cast<I>(at) / inner;
            I i = static_cast<I>(at) - row * inner;
            I o = row / m;
            i64 index = index_at(indices, wide, static_cast<i64>(row - o * m));
            i64 front = from_front(index, n);
            if (front < 0) {
                report_fault(faults, step, index);
                some[a] = T();
            } else {
                some[a] = data[(static_cast<i64>(o) * n + front) * static_cast<i64>(inner) + static_cast<i64>(i)];
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + THREADS * a < static_cast<i64>(elements)) y[first + THREADS * a] = some[a];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(gather)(const void* data, const void* indices, void* y, i32 wide, i64 elements, i64 n, i64 m, i64 inner, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    const T* from = static_cast<const T*>(data);
    T* to = static_cast<T*>(y);
    if (elements <= 0x7fffffff) {
        gather_all<u32>(from, indices, wide, to, static_cast<u32>(elements), n, static_cast<u32>(m), static_cast<u32>(inner), faults, step);
    } else {
        gather_all<u64>(from, indices, wide, to, static_cast<u64>(elements), n, static_cast<u64>(m), static_cast<u64>(inner), faults, step);
    }
}
TENON_ENTRY(gather)

// The walk goes over the indices; its one operand is data, with 0 along the axis.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(gather_elements)(const void* data, const void* indices, void* y, i32 wide, i64 elements, i64 n, i64 stride, Walk1 walk, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    bool small = elements <= 0x7fffffff;
    for (i64 p = global_thread(); p < elements; p += global_threads()) {
        i64 at[1];
        locate(walk, p, small, at);
        i64 index = index_at(indices, wide, p);
        i64 front = from_front(index, n);
        if (front < 0) report_fault(faults, step, index);
        static_cast<T*>(y)[p] = front < 0 ? T() : static_cast<const T*>(data)[at[0] + front * stride];
    }
}
TENON_ENTRY(gather_elements)
