// y[o, p, g, c] = x[o, g, c, p], or 0 for the channels past those of x: brings channels next to each other, in whole 16-byte chunks.
//
//   conv_pack        through 32×32 tiles in shared memory, so that both sides are walked along memory
//   conv_pack_wide   the same where inner is a multiple of 4: tiles of 32×128, four elements at a time on both sides
//   conv_pack_few    where inner is at most 32, as in weights: 64 channels with all of their inner elements at a time
//   conv_pack_chunk  a thread a chunk: for one group whose channels are one chunk
//
// Launch: 256 threads; conv_pack and conv_pack_wide a grid (tiles of inner and packed, at most 65535 of the outer dims and groups),
// conv_pack_few (stretches of 64 packed, as before), conv_pack_chunk any number of
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
    TENON_NAME(conv_pack_wide)(const T* x, T* y, i64 outer, i64 groups, i64 channels, i64 packed, i64 inner) {
    constexpr int WIDE = 128;
    constexpr int FOUR = 4;
    __shared__ T tile[TILE][WIDE + 1];
    release_successor();
    await_predecessor();
    i64 across = (packed + TILE - 1) / TILE;
    i64 p0 = blockIdx.x / across * WIDE;
    i64 c0 = blockIdx.x % across * TILE;
    int lane = threadIdx.x % TILE;
    int warp = threadIdx.x / TILE;
    for (i64 unit = blockIdx.y; unit < outer * groups; unit += gridDim.y) {
        i64 o = unit / groups;
        i64 g = unit - o * groups;
        Pack<T, FOUR> read[TILE / ROWS];
#pragma unroll
        for (int i = 0; i < TILE / ROWS; i++) {
            i64 c = c0 + warp + i * ROWS;
            bool inside = c < channels && p0 + FOUR * lane < inner;
            read[i] = inside ? load_pack<T, FOUR>(x + (unit * channels + c) * inner + p0, lane) : Pack<T, FOUR>{};
        }
        int turn = lane / 8;  // in another order per eight lanes: all write to different banks
#pragma unroll
        for (int i = 0; i < TILE / ROWS; i++) {
#pragma unroll
            for (int j = 0; j < FOUR; j++) {
                int at = (j + turn) % FOUR;
                T first = at & 1 ? read[i].at[1] : read[i].at[0];
                T second = at & 1 ? read[i].at[3] : read[i].at[2];
                tile[warp + i * ROWS][FOUR * lane + at] = at & 2 ? second : first;
            }
        }
        __syncthreads();
        int c = lane % 8 * FOUR;
#pragma unroll
        for (int i = 0; i < WIDE / TILE; i++) {
            int p = warp * FOUR + lane / 8 + i * TILE;
            if (p0 + p >= inner || c0 + c >= packed) continue;
            Pack<T, FOUR> pack;
#pragma unroll
            for (int e = 0; e < FOUR; e++) pack.at[e] = tile[c + e][p];
            store_pack<T, FOUR>(y + ((o * inner + p0 + p) * groups + g) * packed + c0, lane % 8, pack);
        }
        __syncthreads();
    }
}
TENON_ENTRY(conv_pack_wide)

extern "C" __global__ void __launch_bounds__(256)
    TENON_NAME(conv_pack_few)(const T* x, T* y, i64 outer, i64 groups, i64 channels, i64 packed, i64 inner) {
    constexpr int CHANNELS = 64;
    constexpr int MOST = 32;
    __shared__ T tile[CHANNELS * (MOST + 1)];
    release_successor();
    await_predecessor();
    int cells = static_cast<int>(inner);
    int pitch = cells | 1;  // odd, so that lanes read from different banks
    i64 c0 = static_cast<i64>(blockIdx.x) * CHANNELS;
    int there = channels - c0 < CHANNELS ? static_cast<int>(channels - c0) : CHANNELS;
    int written = packed - c0 < CHANNELS ? static_cast<int>(packed - c0) : CHANNELS;
    for (i64 unit = blockIdx.y; unit < outer * groups; unit += gridDim.y) {
        i64 o = unit / groups;
        i64 g = unit - o * groups;
        const T* from = x + (unit * channels + c0) * inner;
#pragma unroll 4
        for (int i = threadIdx.x; i < CHANNELS * cells; i += 256) {
            int c = i / cells;
            tile[c * pitch + i - c * cells] = c < there ? from[i] : T(0);
        }
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < CHANNELS * cells; i += 256) {
            int p = i / CHANNELS;
            int c = i - p * CHANNELS;
            if (c < written) y[((o * inner + p) * groups + g) * packed + c0 + c] = tile[c * pitch + p];
        }
        __syncthreads();
    }
}
TENON_ENTRY(conv_pack_few)

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
