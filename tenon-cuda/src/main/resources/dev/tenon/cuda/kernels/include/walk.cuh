// Where the elements of several operands lie that are read under one shape: at most 8 dims, outermost first, and for each operand the
// distance of neighbours along each (0 where it is repeated). Filled by WalkStruct.java.
#pragma once
#include "pack.cuh"

constexpr int WALK_DIMS = 8;

template <int N>
struct Walk {
    i64 dims;
    i64 sizes[WALK_DIMS];
    i64 strides[N][WALK_DIMS];

    __device__ __forceinline__ i64 inner() const { return dims == 0 ? 1 : sizes[dims - 1]; }
    __device__ __forceinline__ i64 inner_stride(int operand) const { return dims == 0 ? 0 : strides[operand][dims - 1]; }
};

typedef Walk<1> Walk1;
typedef Walk<2> Walk2;
typedef Walk<3> Walk3;
typedef Walk<8> Walk8;

// The operands' elements at a row-major position; I is u32 where all positions fit, for divisions of half the price and less.
template <int N, typename I>
__device__ __forceinline__ void locate_in(const Walk<N>& walk, I position, i64 (&at)[N]) {
#pragma unroll
    for (int v = 0; v < N; v++) at[v] = 0;
    for (int d = static_cast<int>(walk.dims) - 1; d > 0; d--) {
        I size = static_cast<I>(walk.sizes[d]);
        I rest = position / size;
        i64 index = static_cast<i64>(position - rest * size);
#pragma unroll
        for (int v = 0; v < N; v++) at[v] += index * walk.strides[v][d];
        position = rest;
    }
    if (walk.dims > 0) {
#pragma unroll
        for (int v = 0; v < N; v++) at[v] += static_cast<i64>(position) * walk.strides[v][0];
    }
}

template <int N>
__device__ __forceinline__ void locate(const Walk<N>& walk, i64 position, bool small, i64 (&at)[N]) {
    if (small) {
        locate_in<N, u32>(walk, static_cast<u32>(position), at);
    } else {
        locate_in<N, u64>(walk, static_cast<u64>(position), at);
    }
}

__device__ __forceinline__ i64 global_thread() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 global_threads() { return static_cast<i64>(gridDim.x) * blockDim.x; }
