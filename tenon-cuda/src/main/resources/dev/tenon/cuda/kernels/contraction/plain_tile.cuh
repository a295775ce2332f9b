// A tile of 64×64 results of a matrix product without tensor cores: 256 threads, 4×4 results each, summed in A, the type that T is computed
// in; the next 16 of k are on their way while these are multiplied. T is TENON_T. Shared: two tiles of 16×68.
#pragma once
#include "pack.cuh"
#include "unary_fn.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int TILE = 64;
constexpr int STEP = 16;
constexpr int ROW = TILE + 4;  // 16-byte accesses stay aligned, and a warp's stores fall on two rows of banks at most

// 4 elements of a tile of `outer` by k, from row `outer0` and column k0 on; ALONG_K where k is what lies along memory.
template <int V>
__device__ __forceinline__ void fetch(const T* matrix, bool along_k, i64 outer, i64 k, i64 outer0, i64 k0, A (&v)[4]) {
    i64 line = along_k ? outer0 + threadIdx.x / 4 : k0 + threadIdx.x / 16;
    i64 at = along_k ? k0 + threadIdx.x % 4 * 4 : outer0 + threadIdx.x % 16 * 4;
    i64 lines = along_k ? outer : k;
    i64 length = along_k ? k : outer;
    const T* from = matrix + line * length + at;
    if (V == 4) {
        if (line < lines && at < length) {
            Pack<T, 4> pack = *reinterpret_cast<const Pack<T, 4>*>(from);
#pragma unroll
            for (int i = 0; i < 4; i++) v[i] = to_compute(pack.at[i]);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) v[i] = 0;
        }
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = line < lines && at + i < length ? to_compute(from[i]) : A(0);
    }
}

__device__ __forceinline__ void keep(A (*tile)[ROW], bool along_k, const A (&v)[4]) {
    int line = threadIdx.x / (along_k ? 4 : 16);
    int at = threadIdx.x % (along_k ? 4 : 16) * 4;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (along_k) {
            tile[at + i][line] = v[i];
        } else {
            tile[line][at + i] = v[i];
        }
    }
}

template <int V>
__device__ __forceinline__ void finish(
    T* y, const T* bias, const T* residual, i64 row, i64 column, i64 n, const A (&sums)[4], i32 fn, A p0, A p1) {
    if (V == 4 && column < n) {
        Pack<T, 4> out;
        Pack<T, 4> added;
        if (residual) added = *reinterpret_cast<const Pack<T, 4>*>(residual + row * n + column);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            A v = bias ? sums[j] + to_compute(bias[column + j]) : sums[j];
            if (fn) v = unary_fn_call(fn, v, p0, p1);
            if (residual) v += to_compute(added.at[j]);
            out.at[j] = From<T>::of(v);
        }
        *reinterpret_cast<Pack<T, 4>*>(y + row * n + column) = out;
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (column + j < n) {
                A v = bias ? sums[j] + to_compute(bias[column + j]) : sums[j];
                if (fn) v = unary_fn_call(fn, v, p0, p1);
                if (residual) v += to_compute(residual[row * n + column + j]);
                y[row * n + column + j] = From<T>::of(v);
            }
        }
    }
}

template <int V>
__device__ __forceinline__ void tile_of(
    const T* a, const T* b, const T* bias, const T* residual, T* y, i64 m, i64 n, i64 k, bool along_a, bool along_b,
    i64 row0, i64 column0, i32 fn, A p0, A p1, A (*tile_a)[ROW], A (*tile_b)[ROW]) {
    A sums[4][4] = {};
    A next_a[4], next_b[4];
    int row = threadIdx.x / 16 * 4;
    int column = threadIdx.x % 16 * 4;
    fetch<V>(a, along_a, m, k, row0, 0, next_a);
    fetch<V>(b, along_b, n, k, column0, 0, next_b);
    for (i64 k0 = 0; k0 < k; k0 += STEP) {
        keep(tile_a, along_a, next_a);
        keep(tile_b, along_b, next_b);
        __syncthreads();
        fetch<V>(a, along_a, m, k, row0, k0 + STEP, next_a);
        fetch<V>(b, along_b, n, k, column0, k0 + STEP, next_b);
#pragma unroll
        for (int i = 0; i < STEP; i++) {
            Pack<A, 4> left = *reinterpret_cast<const Pack<A, 4>*>(&tile_a[i][row]);
            Pack<A, 4> right = *reinterpret_cast<const Pack<A, 4>*>(&tile_b[i][column]);
#pragma unroll
            for (int p = 0; p < 4; p++) {
#pragma unroll
                for (int q = 0; q < 4; q++) sums[p][q] += left.at[p] * right.at[q];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 4; p++) {
        if (row0 + row + p < m) finish<V>(y, bias, residual, row0 + row + p, column0 + column, n, sums[p], fn, p0, p1);
    }
}
