// What is computed along a row, for the skeletons that hold rows in registers, shared memory or both (row_warp.cuh, row_block.cuh).
//
// A rule folds values into a State, merges states in any order (so a row may be cut among lanes, warps and blocks), turns the whole row's
// state into a Scale, and applies that to each value. States are plain structs of compute-type fields, so that they can be shuffled.
// Where threads keep their values in registers, gather makes the state of a warp's: `packs` packs of V values of a lane from the first on, and
// the last one of the array if `last`. It may leave in them what apply_last goes on from, with the scale that rescale makes of the warp's
// state and the whole row's. over_slots merges n states in shared memory, up to EACH a lane; or each thread by itself, at most EACH.
#pragma once
#include "pack.cuh"

template <typename A>
struct Lowest;

template <>
struct Lowest<float> {
    static __device__ __forceinline__ float value() { return -TENON_INFINITY; }
};

template <>
struct Lowest<double> {
    static __device__ __forceinline__ double value() { return -TENON_INFINITY_F64; }
};

// e^v in three instructions for v <= 0: 2 units in the last place, and |v| / 2^24 from the rounding of the exponent.
__device__ __forceinline__ float exp_of(float v) { return fast_exp2(v * 1.4426950408889634f); }
__device__ __forceinline__ double exp_of(double v) { return exp(v); }
__device__ __forceinline__ float log_of(float v) { return logf(v); }
__device__ __forceinline__ double log_of(double v) { return log(v); }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }
__device__ __forceinline__ float reciprocal_root(float v) { return 1.0f / sqrtf(v); }
__device__ __forceinline__ double reciprocal_root(double v) { return 1.0 / sqrt(v); }

__device__ __forceinline__ float quotient(float a, float b) { return a * fast_reciprocal(b); }
__device__ __forceinline__ double quotient(double a, double b) { return a / b; }

// Whether the lane has value i of n.
template <int V>
__device__ __forceinline__ bool held(int i, int n, int packs, bool last) {
    return i < n - 1 ? i / V < packs : last;
}

template <typename A>
__device__ __forceinline__ A sum_over_warp(A v) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xffffffffu, v, lanes);
    return v;
}

template <typename A>
__device__ __forceinline__ A max_over_warp(A v) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v = larger(v, __shfl_xor_sync(0xffffffffu, v, lanes));
    return v;
}

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ int sum_over_warp(int v) { return __reduce_add_sync(0xffffffffu, v); }

// One instruction, on integers in the order of the floats; a NaN is larger or smaller than all, by its sign.
__device__ __forceinline__ float max_over_warp(float v) {
    int key = __float_as_int(v);
    key = __reduce_max_sync(0xffffffffu, key ^ (key >> 31 & 0x7fffffff));
    return __int_as_float(key ^ (key >> 31 & 0x7fffffff));
}
#endif

// Merges the states of a warp's lanes; every lane gets the whole.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_lanes(typename Rule::State s) {
    constexpr int FIELDS = sizeof(typename Rule::State) / sizeof(A);
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        typename Rule::State other;
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            reinterpret_cast<A*>(&other)[f] = __shfl_xor_sync(0xffffffffu, reinterpret_cast<A*>(&s)[f], lanes);
        }
        s = Rule::merge(s, other);
    }
    return s;
}

// Merges the states of a block's threads; every thread gets the whole. `slots` is shared, one a warp; blocks are whole warps.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_block(typename Rule::State s, typename Rule::State* slots) {
    s = Rule::over_lanes(s);
    if (blockDim.x <= 32) return s;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    __syncthreads();  // the slots may still be read from the row before
    if (lane == 0) slots[warp] = s;
    __syncthreads();
    s = lane < static_cast<int>(blockDim.x / 32) ? slots[lane] : Rule::none();
    return Rule::over_lanes(s);
}
