// z[m, n] = sum over i of x[m, i] w[n, i]: what the inputs of all steps add to the gates of all directions of a recurrent layer, in A.
//
// Launch: 256 threads, grid (ceil(cols / 64), any): tiles of 64 by 64, 4 by 4 a thread; shared memory: 16 deep of both operands.
// x [rows, depth] in type T, w [cols, depth], z [rows, cols] in A, row-major. Variants: TENON_T float, double, f16, bf16.
#include "pack.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int TILE = 64;
constexpr int DEPTH = 16;

__device__ __forceinline__ void load_turned(A (&tile)[DEPTH][TILE + 4], const T* p, i64 first, i64 rows, i64 k, i64 depth) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
        int r = i / DEPTH, at = i % DEPTH;
        tile[at][r] = first + r < rows && k + at < depth ? to_compute(p[(first + r) * depth + k + at]) : A(0);
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(recurrent_inputs)(const T* x, const T* w, A* z, i64 rows, i64 cols, i64 depth) {
    __shared__ __align__(16) A left[DEPTH][TILE + 4];
    __shared__ __align__(16) A right[DEPTH][TILE + 4];
    release_successor();
    await_predecessor();
    i64 column = static_cast<i64>(blockIdx.x) * TILE;
    int r = threadIdx.x / 16 * 4, c = threadIdx.x % 16 * 4;
    for (i64 row = static_cast<i64>(blockIdx.y) * TILE; row < rows; row += static_cast<i64>(gridDim.y) * TILE) {
        A sums[4][4] = {};
        for (i64 k = 0; k < depth; k += DEPTH) {
            load_turned(left, x, row, rows, k, depth);
            load_turned(right, w, column, cols, k, depth);
            __syncthreads();
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                Pack<A, 4> a = *reinterpret_cast<const Pack<A, 4>*>(&left[d][r]), b = *reinterpret_cast<const Pack<A, 4>*>(&right[d][c]);
#pragma unroll
                for (int i = 0; i < 4; i++) {
#pragma unroll
                    for (int j = 0; j < 4; j++) sums[i][j] += a.at[i] * b.at[j];
                }
            }
            __syncthreads();
        }
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                if (row + r + i < rows && column + c + j < cols) z[(row + r + i) * cols + column + c + j] = sums[i][j];
            }
        }
    }
}
TENON_ENTRY(recurrent_inputs)
