// y[o, p, g, c] = x[o, g, c, p], or 0 for the channels past those of x: brings channels next to each other, in whole 16-byte chunks.
//
//   conv_pack        through 32×32 tiles in shared memory, so that both sides are walked along memory
//   conv_pack_chunk  a thread a chunk: for one group whose channels are one chunk
//
// Launch: 256 threads; conv_pack a grid (tiles of inner and packed, at most 65535 of the outer dims and groups), conv_pack_chunk any number of
// blocks. x [outer, groups, channels, inner], y [outer, inner, groups, packed]. Variants: TENON_T u16 or u32, elements as bits.
#include "walk.cuh"

typedef TENON_T T;

constexpr int TILE = 32;
constexpr int ROWS = 8;

extern "C" __global__ void __launch_bounds__(256)
    TENON_NAME(conv_pack)(const T* x, T* y, i64 outer, i64 groups, i64 channels, i64 packed, i64 inner) {
    __shared__ T tile[TILE][TILE + 4 / sizeof(T)];
    release_successor();
    await_predecessor();
    i64 across = (packed + TILE - 1) / TILE;
    i64 p0 = blockIdx.x / across * TILE;
    i64 c0 = blockIdx.x % across * TILE;
    int lane = threadIdx.x % TILE;
    int row = threadIdx.x / TILE;
    for (i64 unit = blockIdx.y; unit < outer * groups; unit += gridDim.y) {
        i64 o = unit / groups;
        i64 g = unit - o * groups;
#pragma unroll
        for (int i = row; i < TILE; i += ROWS) {
            bool inside = c0 + i < channels && p0 + lane < inner;
            tile[i][lane] = inside ? x[(unit * channels + c0 + i) * inner + p0 + lane] : T(0);
        }
        __syncthreads();
#pragma unroll
        for (int i = row; i < TILE; i += ROWS) {
            if (p0 + i < inner && c0 + lane < packed) y[((o * inner + p0 + i) * groups + g) * packed + c0 + lane] = tile[lane][i];
        }
        __syncthreads();
    }
}
TENON_ENTRY(conv_pack)

extern "C" __global__ void __launch_bounds__(256)
    TENON_NAME(conv_pack_chunk)(const T* x, T* y, i64 outer, i64 groups, i64 channels, i64 packed, i64 inner) {
    constexpr int PACK = Widest<T>::value;
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < outer * inner; at += global_threads()) {
        i64 o = at / inner;
        const T* from = x + o * channels * inner + (at - o * inner);
        Pack<T, PACK> pack;
#pragma unroll
        for (int c = 0; c < PACK; c++) pack.at[c] = c < channels ? from[c * inner] : T(0);
        store_pack<T, PACK>(y, at, pack);
    }
}
TENON_ENTRY(conv_pack_chunk)
