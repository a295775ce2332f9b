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
// Shared: two tiles of 16×68. bias and residual may be null; fn 0 leaves the sum as it is. k = 0 is an empty sum.
//
// Variants: TENON_T one of float, double, f16, bf16; sums are in float, of double in double.
#include "plain_tile.cuh"

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
