// y[o][j][i] = the sum or product of x[o][0..j][i], without the element itself where exclusive, from the end where reverse. Short floats are
// kept in f32 on the way; integers wrap. Scans join in a fixed order: results do not depend on timing. Long lanes that are few are cut into
// parts: a first launch leaves the total of each part in the workspace, a second begins each part with the totals before it.
//
//   cumulative_warp   inner is 1: a warp a row, 32 elements at a time; 256 threads, a block of 8 rows
//   cumulative_rows   inner is 1: 256 threads a part of a row, 1024 elements at a time; grid (parts, rows)
//   cumulative_lanes  a thread a part of a lane, neighbours in memory side by side; 256 threads, grid (lanes, parts)
//
// Where `only_totals` a launch writes totals [lane][part] and nothing else. Grids may be smaller than that.
// Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type an argument.
#include "types.cuh"
#include "walk.cuh"

#if TENON_INTEGERS
typedef i64 A;

__device__ __forceinline__ A load_term(int type, const void* p, i64 at) { return load_integer(type, p, at); }
__device__ __forceinline__ void store_term(int type, void* p, i64 at, A v) { store_integer(type, p, at, v); }
__device__ __forceinline__ A join(int product, A a, A b) {
    u64 x = static_cast<u64>(a), y = static_cast<u64>(b);
    return static_cast<A>(product ? x * y : x + y);
}
#else
typedef TENON_T T;
typedef Compute<T>::type A;

__device__ __forceinline__ A load_term(int, const void* p, i64 at) { return to_compute(static_cast<const T*>(p)[at]); }
__device__ __forceinline__ void store_term(int, void* p, i64 at, A v) { static_cast<T*>(p)[at] = From<T>::of(v); }
__device__ __forceinline__ A join(int product, A a, A b) { return product ? a * b : a + b; }
#endif

// The joined terms of the lanes of a warp up to and with this one.
__device__ __forceinline__ A scan_warp(int product, int lane, A v) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        A before = __shfl_up_sync(0xffffffffu, v, step);
        if (lane >= step) v = join(product, before, v);
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(cumulative_warp)(const void* x, void* y, i32 product, i32 type, i32 exclusive, i32 reverse, i64 rows, i64 n) {
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32;
    A none = A(product != 0);
    for (i64 row = static_cast<i64>(blockIdx.x) * 8 + threadIdx.x / 32; row < rows; row += static_cast<i64>(gridDim.x) * 8) {
        A carry = none;
        for (i64 base = 0; base < n; base += 32) {
            i64 j = base + lane;
            i64 at = row * n + (reverse ? n - 1 - j : j);
            A with = scan_warp(product, lane, j < n ? load_term(type, x, at) : none);
            A without = __shfl_up_sync(0xffffffffu, with, 1);
            if (lane == 0) without = none;
            if (j < n) store_term(type, y, at, join(product, carry, exclusive ? without : with));
            carry = join(product, carry, __shfl_sync(0xffffffffu, with, 31));
        }
    }
}
TENON_ENTRY(cumulative_warp)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(cumulative_rows)(const void* x, void* y, void* totals, i32 only_totals, i32 product, i32 type, i32 exclusive, i32 reverse, i64 rows, i64 n, i64 parts, i64 part_size) {
    __shared__ A warps[8];
    release_successor();
    await_predecessor();
    constexpr int EACH = 4;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    A none = A(product != 0);
    i64 part = blockIdx.x;
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y) {
        A* of_row = static_cast<A*>(totals) + row * parts;
        A carry = none;
        for (i64 before = 0; before < part && !only_totals; before++) carry = join(product, carry, of_row[before]);
        i64 end = (part + 1) * part_size < n ? (part + 1) * part_size : n;
        for (i64 base = part * part_size; base < end; base += 256 * EACH) {
            i64 first = base + threadIdx.x * EACH;
            A v[EACH];
            A sum = none;
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                i64 j = first + i;
                v[i] = j < end ? load_term(type, x, row * n + (reverse ? n - 1 - j : j)) : none;
                sum = join(product, sum, v[i]);
            }
            A with = scan_warp(product, lane, sum);
            A run = __shfl_up_sync(0xffffffffu, with, 1);
            if (lane == 0) run = none;
            if (lane == 31) warps[warp] = with;
            __syncthreads();
            A before = carry;
            for (int w = 0; w < 8; w++) {
                if (w == warp) before = carry;
                carry = join(product, carry, warps[w]);
            }
            run = join(product, before, run);
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                i64 j = first + i;
                A next = join(product, run, v[i]);
                if (j < end && !only_totals) store_term(type, y, row * n + (reverse ? n - 1 - j : j), exclusive ? run : next);
                run = next;
            }
            __syncthreads();
        }
        if (only_totals && threadIdx.x == 0) of_row[part] = carry;
    }
}
TENON_ENTRY(cumulative_rows)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(cumulative_lanes)(const void* x, void* y, void* totals, i32 only_totals, i32 product, i32 type, i32 exclusive, i32 reverse, i64 lanes, i64 n, i64 inner, i64 parts, i64 part_size) {
    release_successor();
    await_predecessor();
    A none = A(product != 0);
    for (i64 part = blockIdx.y; part < parts; part += gridDim.y) {
        for (i64 lane = global_thread(); lane < lanes; lane += global_threads()) {
            i64 outer = lane / inner;
            i64 base = outer * n * inner + (lane - outer * inner);
            A* of_lane = static_cast<A*>(totals) + lane * parts;
            A run = none;
            for (i64 before = 0; before < part && !only_totals; before++) run = join(product, run, of_lane[before]);
            i64 end = (part + 1) * part_size < n ? (part + 1) * part_size : n;
#pragma unroll 4
            for (i64 j = part * part_size; j < end; j++) {
                i64 at = base + (reverse ? n - 1 - j : j) * inner;
                A next = join(product, run, load_term(type, x, at));
                if (!only_totals) store_term(type, y, at, exclusive ? run : next);
                run = next;
            }
            if (only_totals) of_lane[part] = run;
        }
    }
}
TENON_ENTRY(cumulative_lanes)
