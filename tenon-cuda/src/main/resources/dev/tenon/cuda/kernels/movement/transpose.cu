// y[batch][r][c] = x[batch][c][r]: two axes change places, one of which is innermost in x, the other in y. A tile of 32 × 32 elements passes
// through shared memory, so that both sides are read and written along rows; the batch is a walk over the other axes.
//
//   transpose         any sizes
//   transpose_narrow  2 or 3 rows of x, such as the channels of pictures: a thread 16 bytes of each of them, or an element
//
// Launch: block (32, 8), grid (tiles of columns, tiles of rows, batches), each no more than its limit: kernels walk on by themselves.
// transpose_narrow: 256 threads, any number of blocks, no shared memory.
// Variants: TENON_T an unsigned integer as wide as the elements.
#include "pack.cuh"
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

template <int W, int V>
__device__ __forceinline__ void narrow(const T* x, T* y, i64 batches, const Walk2& batch, i64 count, i64 stride_x) {
    bool small = batches <= 0x7fffffff;
    i64 packs = count / V;
    for (i64 piece = global_thread(); piece < batches * packs; piece += global_threads()) {
        i64 b = piece / packs;
        i64 at[2];
        locate(batch, b, small, at);
        const T* from = x + at[0] + (piece - b * packs) * V;
        T* to = y + at[1] + (piece - b * packs) * V * W;
        Pack<T, V> rows[W];
#pragma unroll
        for (int r = 0; r < W; r++) rows[r] = load_pack<T, V>(from + r * stride_x, 0);
        Pack<T, V> out[W];
#pragma unroll
        for (int i = 0; i < W * V; i++) out[i / V].at[i % V] = rows[i % W].at[i / W];
#pragma unroll
        for (int r = 0; r < W; r++) store_pack<T, V>(to, r, out[r]);
    }
}

// y[batch][c][r] for c below count and r below width, which lies innermost; stride_x: of x along r.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(transpose_narrow)(
    const void* x, void* y, i64 batches, Walk2 batch, i64 count, i64 width, i64 stride_x, i32 packed) {
    constexpr int V = 16 / sizeof(T);
    release_successor();
    await_predecessor();
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    if (width == 2) {
        if (packed) narrow<2, V>(from, to, batches, batch, count, stride_x);
        else narrow<2, 1>(from, to, batches, batch, count, stride_x);
    } else {
        if (packed) narrow<3, V>(from, to, batches, batch, count, stride_x);
        else narrow<3, 1>(from, to, batches, batch, count, stride_x);
    }
}
TENON_ENTRY(transpose_narrow)
