// y = residual + fn(a b + bias) for matrices a [m,k], b [k,n], y [m,n], bias [n]; any of `batches` of them, which need not lie evenly.
//
//   matmul     element by element
//   matmul_v4  4 elements an access: what lies along memory in a, b and y (k or m, n or k, n) is a multiple of 4, addresses of 4 elements
//
// Batches are counted in up to 4 dims, the innermost of size s3; matrix (i0, i1, i2, i3) of a starts at i0 a0 + i1 a1 + i2 a2 + i3 a3
// elements, 0 where it is repeated; b likewise. Those of y and residual follow each other.
//
// Launch: 256 threads, blocks in x alone, any number: they walk over the 64×64 tiles of all batches, a tile's rows fastest, so that
// neighbours share the columns of b. A thread sums 4×4 elements in A; the next 16 of k are on their way while these are multiplied.
// Shared: two tiles of 16×68. bias and residual may be null; fn 0 is none. k = 0 is an empty sum.
//
// Variants: TENON_T one of float, double, f16, bf16; sums are in float, of double in double.
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

#define KERNEL(name, V)                                                                                                \
    extern "C" __global__ void __launch_bounds__(256) TENON_NAME(name)(                                                \
        const T* a, const T* b, const T* bias, const T* residual, T* y, i64 m, i64 n, i64 k, i64 batches,              \
        i32 transpose_a, i32 transpose_b, i64 s1, i64 s2, i64 s3, i64 a0, i64 a1, i64 a2, i64 a3, i64 b0, i64 b1,      \
        i64 b2, i64 b3, i32 fn, A p0, A p1) {                                                                          \
        __shared__ Pack<A, 4> space[2 * STEP * ROW / 4];                                                               \
        A(*tile_a)[ROW] = reinterpret_cast<A(*)[ROW]>(space);                                                          \
        A(*tile_b)[ROW] = tile_a + STEP;                                                                               \
        i64 rows = (m + TILE - 1) / TILE;                                                                              \
        i64 columns = (n + TILE - 1) / TILE;                                                                           \
        await_predecessor();                                                                                           \
        for (i64 tile = blockIdx.x; tile < rows * columns * batches; tile += gridDim.x) {                              \
            i64 batch = tile / (rows * columns);                                                                       \
            i64 within = tile - batch * (rows * columns);                                                              \
            i64 rest = batch;                                                                                          \
            i64 i3 = rest % s3;                                                                                        \
            rest /= s3;                                                                                                \
            i64 i2 = rest % s2;                                                                                        \
            rest /= s2;                                                                                                \
            i64 i1 = rest % s1;                                                                                        \
            i64 i0 = rest / s1;                                                                                        \
            tile_of<V>(                                                                                                \
                a + i0 * a0 + i1 * a1 + i2 * a2 + i3 * a3, b + i0 * b0 + i1 * b1 + i2 * b2 + i3 * b3, bias,            \
                residual ? residual + batch * m * n : residual, y + batch * m * n, m, n, k, !transpose_a,              \
                transpose_b != 0, within % rows * TILE, within / rows * TILE, fn, p0, p1, tile_a, tile_b);             \
        }                                                                                                              \
    }                                                                                                                  \
    TENON_ENTRY(name)

KERNEL(matmul, 1)
KERNEL(matmul_v4, 4)
