// y[batch][r][c] = x[batch][c][r]: two axes change places, one of which is innermost in x, the other in y. A tile passes through shared
// memory, so that both sides are read and written along rows; the batch is a walk over the other axes.
//
//   transpose        tiles of 32 × 32 elements, an element an access; block (32, 8)
//   transpose_packs  tiles of 64 × 64, of 4 and 8 bytes 32 × 32; 16 bytes an access: sizes, strides and places are multiples of that; 256
//                    threads, of 4 bytes 128; grid (tiles of columns · 4, tiles of rows / 4, batches). Small blocks hide each other's barriers:
//                    f32 in tiles of 64 × 64 takes 18 % longer (H200)
//   transpose_narrow  2 or 3 rows of x, such as the channels of pictures: a thread 16 bytes of each of them, or an element
//
// Launch: grid (tiles of columns, tiles of rows, batches), each no more than its limit: kernels walk on by themselves. Static shared memory.
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

// A tile of x: lines of SIDE elements, LINES of them; the other way round in y.
constexpr int PACK = 16 / sizeof(T);
constexpr int SIDE = sizeof(T) < 4 ? 64 : 32;
constexpr int LINES = SIDE;
constexpr int THREADS = sizeof(T) == 4 ? 128 : 256;
constexpr int LINE_PACKS = SIDE / PACK;
constexpr int ROW_PACKS = LINES / PACK;
constexpr int EACH = SIDE * LINES / PACK / THREADS;                    // packs of a thread
constexpr int PITCH = SIDE + (sizeof(T) < 4 ? 4 / sizeof(T) : 1);  // an odd number of words, where elements are words or less
constexpr int TOGETHER = 4;                                        // tiles of rows whose blocks follow each other, so that lines of x are read at once

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(transpose_packs)(const void* x, void* y, i64 batches, Walk2 batch, i64 rows, i64 cols, i64 stride_x, i64 stride_y) {
    __shared__ T tile[LINES][PITCH];  // of x
    release_successor();
    await_predecessor();
    bool small = batches <= 0x7fffffff;
    i64 wide = (cols + LINES - 1) / LINES * TOGETHER;
    for (i64 b = blockIdx.z; b < batches; b += gridDim.z) {
        i64 at[2];
        locate(batch, b, small, at);
        const T* from = static_cast<const T*>(x) + at[0];
        T* to = static_cast<T*>(y) + at[1];
        for (i64 high = blockIdx.y; high * SIDE * TOGETHER < rows; high += gridDim.y) {
            for (i64 place = blockIdx.x; place < wide; place += gridDim.x) {
                i64 r0 = (high * TOGETHER + place % TOGETHER) * SIDE, c0 = place / TOGETHER * LINES;
                Pack<T, PACK> some[EACH];
#pragma unroll
                for (int e = 0; e < EACH; e++) {
                    int pack = threadIdx.x + THREADS * e;
                    i64 c = c0 + pack / LINE_PACKS, r = r0 + pack % LINE_PACKS * PACK;
                    if (r < rows && c < cols) some[e] = *reinterpret_cast<const Pack<T, PACK>*>(from + c * stride_x + r);
                }
#pragma unroll
                for (int e = 0; e < EACH; e++) {
                    int pack = threadIdx.x + THREADS * e;
#pragma unroll
                    for (int i = 0; i < PACK; i++) tile[pack / LINE_PACKS][pack % LINE_PACKS * PACK + i] = some[e].at[i];
                }
                __syncthreads();
#pragma unroll
                for (int e = 0; e < EACH; e++) {
                    int pack = threadIdx.x + THREADS * e;
                    i64 r = r0 + pack / ROW_PACKS, c = c0 + pack % ROW_PACKS * PACK;
                    if (r < rows && c < cols) {
                        Pack<T, PACK> turned;
#pragma unroll
                        for (int i = 0; i < PACK; i++) turned.at[i] = tile[pack % ROW_PACKS * PACK + i][pack / ROW_PACKS];
                        *reinterpret_cast<Pack<T, PACK>*>(to + r * stride_y + c) = turned;
                    }
                }
                __syncthreads();
            }
        }
    }
}
TENON_ENTRY(transpose_packs)
