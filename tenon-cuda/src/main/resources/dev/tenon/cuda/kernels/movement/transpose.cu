// y[batch][r][c] = x[batch][c][r]: two axes change places, one of which is innermost in x, the other in y. A tile of 32 × 32 elements passes
// through shared memory, so that both sides are read and written along rows; the batch is a walk over the other axes.
//
// Launch: block (32, 8), grid (tiles of columns, tiles of rows, batches), each no more than its limit: kernels walk on by themselves.
// Variants: TENON_T an unsigned integer as wide as the elements.
#include "walk.cuh"

typedef TENON_T T;

// rows and columns of y; stride_x: of x along y's columns; stride_y: of y along its rows.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(transpose)(const void* x, void* y, i64 batches, Walk2 batch, i64 rows, i64 cols, i64 stride_x, i64 stride_y) {
    __shared__ T tile[32][33];
    release_successor();
    await_predecessor();
    bool small = batches <= 0x7fffffff;
    for (i64 b = blockIdx.z; b < batches; b += gridDim.z) {
        i64 at[2];
        locate(batch, b, small, at);
        const T* from = static_cast<const T*>(x) + at[0];
        T* to = static_cast<T*>(y) + at[1];
        for (i64 r0 = static_cast<i64>(blockIdx.y) * 32; r0 < rows; r0 += static_cast<i64>(gridDim.y) * 32) {
            for (i64 c0 = static_cast<i64>(blockIdx.x) * 32; c0 < cols; c0 += static_cast<i64>(gridDim.x) * 32) {
                i64 r = r0 + threadIdx.x;
#pragma unroll
                for (int k = 0; k < 32; k += 8) {
                    i64 c = c0 + threadIdx.y + k;
                    if (r < rows && c < cols) tile[threadIdx.y + k][threadIdx.x] = from[c * stride_x + r];
                }
                __syncthreads();
                i64 c = c0 + threadIdx.x;
#pragma unroll
                for (int k = 0; k < 32; k += 8) {
                    i64 row = r0 + threadIdx.y + k;
                    if (row < rows && c < cols) to[row * stride_y + c] = tile[threadIdx.x][threadIdx.y + k];
                }
                __syncthreads();
            }
        }
    }
}
TENON_ENTRY(transpose)
