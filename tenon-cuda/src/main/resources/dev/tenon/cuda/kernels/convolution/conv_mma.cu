// Convolution as a matrix product on tensor cores whose left operand is gathered on its way into shared memory: rows are positions of all
// images, columns output channels of a group, and k runs over the cells of the window and within a cell over the channels.
//
//   y[b, first + step u, o] = residual + fn(bias[o] + sum of w[o, cell(i), c] x[b, origin + move u + turn i, c of o's group])
//
// over the cells i in the counted box; places outside of x are 0, and a sum that comes out NaN is made again without them. A transposed
// convolution is one such launch for each remainder of positions by strides. x [b, input, groups, channels] and w [groups outputs, cells,
// channels] have channels in whole 16-byte chunks, filled up with zeros; y lies by the strides it is given.
//
// Launch: grid (tiles of the result, a group's columns fastest; groups, at most 65535; parts of k), threads and dynamic shared memory as the
// tile says (ConvTiles.java): for steps or sums, and 16 bytes a cell and one. With several parts of k the last block of a tile to arrive adds up the sums of all, in order, from the
// workspace; two counters a tile are 0 before and after.
// Variants: TENON_T one of float (TF32, sm_80), f16 (sm_75), bf16 (sm_80); TENON_F16 whether it is f16.
#include "conv_tile.cuh"

#if TENON_HAS_MMA
template <int TILE_M, int TILE_N, int WARP_M, int WARP_N, int STAGES>
__device__ __forceinline__ void convolve(
    const T* x, const T* w, T* y, float4* partials, u32* counters, const ConvTile& s, const ConvEpilogue<T>& epilogue) {
    typedef Tile<TILE_M, TILE_N, WARP_M, WARP_N, STAGES> Work;
    TENON_DYNAMIC_SHARED(uint4, shared);
    __shared__ Row rows[TILE_M];
    __shared__ float2 biases[TILE_N / 2];
    release_successor();
    int tiles_n = static_cast<int>((s.outputs + TILE_N - 1) / TILE_N);
    int tile_m = static_cast<int>(blockIdx.x) / tiles_n;
    i64 row0 = static_cast<i64>(tile_m) * TILE_M;
    i64 column0 = static_cast<i64>(static_cast<int>(blockIdx.x) - tile_m * tiles_n) * TILE_N;
    int columns = static_cast<int>(s.outputs - column0 < TILE_N ? s.outputs - column0 : TILE_N);
    i64 chunks = s.cells[0] * s.cells[1] * s.cells[2] * s.chunks;
    i64 steps = (chunks + CHUNKS - 1) / CHUNKS;
    i64 each = s.splits == 1 ? steps : (steps + s.splits - 1) / s.splits;
    i64 begin = blockIdx.z * each;
    i64 mine = steps - begin < each ? steps - begin : each;
    for (int i = threadIdx.x; i < TILE_M; i += Work::THREADS) rows[i] = Row::of(s, static_cast<int>(row0) + i);
    Cell* cells = reinterpret_cast<Cell*>(shared + Work::SPACE);
    for (int i = threadIdx.x; i <= s.cells[0] * s.cells[1] * s.cells[2]; i += Work::THREADS) cells[i] = Cell::of(s, i);
    await_predecessor();
    for (i64 group = blockIdx.y; group < s.groups; group += gridDim.y) {
        i64 channel0 = group * s.outputs + column0;
        for (int i = threadIdx.x; i < TILE_N; i += Work::THREADS) {
            reinterpret_cast<float*>(biases)[i] = epilogue.bias && i < columns ? to_compute(epilogue.bias[channel0 + i]) : 0.0f;
        }
        __syncthreads();
        typename Work::Copier copier;
        copier.x = reinterpret_cast<const uint4*>(x);
        copier.w = reinterpret_cast<const uint4*>(w);
        copier.cells = cells;
        copier.start(s, rows, column0, group, begin * CHUNKS);
        Work work;
        work.clear();
        work.accumulate(copier, shared, static_cast<int>(mine));
        bool whole = true;
        if (s.splits > 1) {
            i64 tile = group * gridDim.x + blockIdx.x;
            whole = work.gather(
                partials + tile * s.splits * (TILE_M * TILE_N / 4), counters + 2 * tile, static_cast<int>(blockIdx.z), static_cast<int>(s.splits));
        }
        if (whole) {
            work.finish(
                reinterpret_cast<float*>(shared), reinterpret_cast<const float*>(biases), rows, y, epilogue, s, cells, x, w, channel0,
                group, columns);
        }
        __syncthreads();
    }
}

#define CONVOLVE(M, N, WARP_M, WARP_N, STAGES) \
    convolve<M, N, WARP_M, WARP_N, STAGES>(x, w, y, static_cast<float4*>(partials), counters, tile, {bias, residual, fn, p0, p1})
#else
#define CONVOLVE(M, N, WARP_M, WARP_N, STAGES)
#endif

#define KERNEL(name, M, N, WARP_M, WARP_N, STAGES, BLOCKS)                                                                         \
    extern "C" __global__ void __launch_bounds__(M / WARP_M * (N / WARP_N) * 32, BLOCKS) TENON_NAME(name)(                         \
        const T* x, const T* w, const T* bias, const T* residual, T* y, void* partials, u32* counters, ConvTile tile, i32 fn,      \
        float p0, float p1) {                                                                                                      \
        CONVOLVE(M, N, WARP_M, WARP_N, STAGES);                                                                                    \
    }                                                                                                                              \
    TENON_ENTRY(name)

KERNEL(conv_mma_128x128, 128, 128, 64, 32, 3, 2)
KERNEL(conv_mma_128x64, 128, 64, 32, 32, 3, 2)
KERNEL(conv_mma_64x64, 64, 64, 32, 32, 4, 3)
KERNEL(conv_mma_128x32, 128, 32, 32, 32, 3, 4)
