// y[m, n] = sum over k of x[m, k] scale[n, k / block] (q[n, k] - zero[n, k / block]), q of 8 or 4 bits, unpacked in registers.
//
// A warp has four rows of q, 8 warps a block along x of the grid, and 8 rows of x at a time (scaled_matmul_row: 1), along y. Lanes have four
// neighbours each where rows and blocks are multiples of four, else one: `fours`.
// x [rows, depth], q [cols, depth], scale and zero [cols, blocks]; zero may be null. `form`: 0 i8, 1 u8, 2 i4, 3 u4, two a byte, the lower half
// first, across rows. x on a boundary of four elements, q of four bytes.
// Variants: TENON_T float, double, f16, bf16.
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int COLUMNS = 4;

__device__ __forceinline__ i32 signed_at(u32 bits, i32 form) {
    switch (form) {
        case 0: return static_cast<i8>(bits);
        case 2: return static_cast<i32>(bits << 28) >> 28;
        default: return static_cast<i32>(bits);
    }
}

__device__ __forceinline__ i32 integer_at(const u8* q, i64 at, i32 form) {
    return form < 2 ? signed_at(q[at], form) : signed_at(q[at / 2] >> at % 2 * 4 & 15, form);
}

// V neighbours; four begin on a boundary of four.
template <int V>
__device__ __forceinline__ void integers_at(i32 (&v)[V], const u8* q, i64 at, i32 form) {
    if (V == 1) {
        v[0] = integer_at(q, at, form);
        return;
    }
    u32 bits = form < 2 ? *reinterpret_cast<const u32*>(q + at) : *reinterpret_cast<const u16*>(q + at / 2);
#pragma unroll
    for (int i = 0; i < V; i++) v[i] = form < 2 ? signed_at(bits >> 8 * i & 255, form) : signed_at(bits >> 4 * i & 15, form);
}

struct Weight {
    const u8* q;
    const T* scale;
    const u8* zero;
    i64 cols, depth, block, blocks;
    i32 form;
};

template <int N, int V>
__device__ __forceinline__ void multiply(const T* x, const Weight& w, T* y, i64 rows, i64 row, i64 column) {
    int lane = threadIdx.x % 32;
    A sums[N][COLUMNS] = {};
    for (i64 k = lane * V; k < w.depth; k += 32 * V) {
        A v[N][V];
#pragma unroll
        for (int n = 0; n < N; n++) {
            i64 at = row + n < rows ? row + n : rows - 1;
            Pack<T, V> some = *reinterpret_cast<const Pack<T, V>*>(x + at * w.depth + k);
#pragma unroll
            for (int i = 0; i < V; i++) v[n][i] = to_compute(some.at[i]);
        }
        i64 block = k / w.block;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            i64 at = column + c < w.cols ? column + c : w.cols - 1;
            i64 scaled = at * w.blocks + block;
            i32 q[V];
            integers_at<V>(q, w.q, at * w.depth + k, w.form);
            i32 zero = w.zero ? integer_at(w.zero, scaled, w.form) : 0;
            A scale = to_compute(w.scale[scaled]);
#pragma unroll
            for (int n = 0; n < N; n++) {
                A dot = 0;
#pragma unroll
                for (int i = 0; i < V; i++) dot += static_cast<A>(q[i] - zero) * v[n][i];
                sums[n][c] += scale * dot;
            }
        }
    }
#pragma unroll
    for (int n = 0; n < N; n++) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            for (int lanes = 16; lanes > 0; lanes /= 2) sums[n][c] += __shfl_xor_sync(0xffffffffu, sums[n][c], lanes);
            if (lane == n * COLUMNS + c && row + n < rows && column + c < w.cols) y[(row + n) * w.cols + column + c] = narrowed<T>(sums[n][c]);
        }
    }
}

template <int N>
__device__ __forceinline__ void multiply_all(const T* x, const Weight& w, T* y, i64 rows, i32 fours) {
    release_successor();
    await_predecessor();
    i64 column = global_thread() / 32 * COLUMNS;
    if (column >= w.cols) return;
    for (i64 row = static_cast<i64>(blockIdx.y) * N; row < rows; row += static_cast<i64>(gridDim.y) * N) {
        if (fours) {
            multiply<N, 4>(x, w, y, rows, row, column);
        } else {
            multiply<N, 1>(x, w, y, rows, row, column);
        }
    }
}

#define KERNEL(name, N)                                                                                                              \
    extern "C" __global__ void __launch_bounds__(256) TENON_NAME(name)(const T* x, const u8* q, const T* scale, const u8* zero, T* y, i64 rows, i64 cols, i64 depth, i64 block, i64 blocks, i32 form, i32 fours) { \
        multiply_all<N>(x, Weight{q, scale, zero, cols, depth, block, blocks, form}, y, rows, fours);                                \
    }                                                                                                                                \
    TENON_ENTRY(name)

KERNEL(scaled_matmul, 8)
KERNEL(scaled_matmul_row, 1)
