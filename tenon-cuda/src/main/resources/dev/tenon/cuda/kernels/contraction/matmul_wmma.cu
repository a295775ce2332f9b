// y = residual + fn(a b + bias) on tensor cores, as matmul.cu has it: matrices a [m,k], b [k,n], y [m,n], bias [n], any of `batches` of
// them, counted in up to 4 dims whose strides are a0 … b3. Sums in f32, of float operands rounded to TF32.
//
// Launch: (TILE_M / WARP_M) (TILE_N / WARP_N) warps, blocks in x alone, any number: they walk over the tiles of all batches and of all
// splits of k. Eight tiles of rows follow each other before the next columns, so that blocks at work share both operands in L2.
// With splits > 1 each block keeps its sums in `partial`, [splits, tiles] of TILE_M TILE_N floats; the last of a tile to arrive, by
// `counters` (one a tile, 0 before and after), adds them in the order of k: results do not depend on who is last.
// Dynamic shared memory: STAGES (TILE_M + TILE_N) 128 bytes, or TILE_M (TILE_N + 8) floats if that is more (mma_tile.cuh).
// packed: bit 0 where lines of a in memory are whole 16-byte chunks, bit 1 of b, bit 2 of y. Others are read element by element.
//
// Variants: TENON_T one of float (sm_80), f16 (sm_75), bf16 (sm_80); whether a and b lie along k; the shape of tiles.
#include "pack.cuh"
#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
#include "mma_tile.cuh"
#endif

typedef TENON_T T;

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
constexpr int STAGES = TENON_STAGES;
#else
constexpr int STAGES = 2;
#endif
constexpr int THREADS = (TENON_TILE_M / TENON_WARP_M) * (TENON_TILE_N / TENON_WARP_N) * 32;
constexpr i64 ROWS_TOGETHER = 8;

// a / b of numbers that are not negative, at the price of 32 bits where those suffice.
__device__ __forceinline__ i64 quotient(i64 a, i64 b) {
    return (a | b) >> 32 == 0 ? static_cast<i64>(static_cast<u32>(a) / static_cast<u32>(b)) : a / b;
}

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(matmul_wmma)(
    const T* a, const T* b, const T* bias, const T* residual, T* y, i64 m, i64 n, i64 k, i64 batches, i64 s1, i64 s2, i64 s3, i64 a0,
    i64 a1, i64 a2, i64 a3, i64 b0, i64 b1, i64 b2, i64 b3, i32 fn, float p0, float p1, i32 packed, i32 splits, float4* partial,
    u32* counters) {
#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
    typedef MmaTile<T, TENON_ALONG_A, TENON_ALONG_B, TENON_TILE_M, TENON_TILE_N, TENON_WARP_M, TENON_WARP_N, STAGES, TENON_PACKED, TENON_LAG>
        Tile;
    TENON_DYNAMIC_SHARED(uint4, dynamic);
    uint4* shared = Tile::space(dynamic);
    __shared__ bool last;
    i64 rows = (m + TENON_TILE_M - 1) / TENON_TILE_M;
    i64 columns = (n + TENON_TILE_N - 1) / TENON_TILE_N;
    i64 tiles = rows * columns * batches;
    i64 each = (k + Tile::STEP - 1) / Tile::STEP * Tile::STEP;
    if (splits > 1) each = quotient(each / Tile::STEP + splits - 1, splits) * Tile::STEP;
    release_successor();
    for (i64 unit = blockIdx.x; unit < tiles * splits; unit += gridDim.x) {
        i64 split = splits > 1 ? quotient(unit, tiles) : 0;
        i64 tile = unit - split * tiles;
        i64 batch = batches > 1 ? quotient(tile, rows * columns) : 0;
        i64 within = tile - batch * (rows * columns);
        i64 together = ROWS_TOGETHER * columns;
        i64 first = rows > ROWS_TOGETHER ? quotient(within, together) * ROWS_TOGETHER : 0;
        i64 height = rows - first < ROWS_TOGETHER ? rows - first : ROWS_TOGETHER;
        i64 column = quotient(within - first * columns, height);
        i64 row0 = (within - column * height - first * (columns - 1)) * TENON_TILE_M;
        i64 column0 = column * TENON_TILE_N;
        const T* left_matrix = a;
        const T* right_matrix = b;
        if (batches > 1) {
            i64 i3 = batch % s3;
            i64 i2 = batch / s3 % s2;
            i64 i1 = batch / s3 / s2 % s1;
            i64 i0 = batch / s3 / s2 / s1;
            left_matrix += i0 * a0 + i1 * a1 + i2 * a2 + i3 * a3;
            right_matrix += i0 * b0 + i1 * b1 + i2 * b2 + i3 * b3;
        }
        i64 k0 = split * each < k ? split * each : k;
        i64 k_end = k0 + each < k ? k0 + each : k;
        typename Tile::Left left;
        typename Tile::Right right;
        left.start(left_matrix, m, k, row0, k0, k_end, packed & 1);
        right.start(right_matrix, n, k, column0, k0, k_end, packed & 2);
        Tile sums;
        sums.clear();
        await_predecessor();
        sums.accumulate(left, right, shared);
        if (splits > 1) {
            constexpr i64 SHARE = TENON_TILE_M * TENON_TILE_N / 4;
            sums.keep(partial + (tile * splits + split) * SHARE);
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) last = atomicAdd(counters + tile, 1u) + 1 == static_cast<u32>(splits);
            __syncthreads();
            if (!last) continue;
            __threadfence();
            if (threadIdx.x == 0) counters[tile] = 0;
            sums.gather(partial + tile * splits * SHARE, splits);
        }
        i64 offset = batch * m * n;
        MmaEpilogue<T> epilogue = {y + offset, bias, residual ? residual + offset : residual, n, fn, p0, p1, (packed & 4) != 0};
        int height_left = static_cast<int>(m - row0 < TENON_TILE_M ? m - row0 : TENON_TILE_M);
        int width_left = static_cast<int>(n - column0 < TENON_TILE_N ? n - column0 : TENON_TILE_N);
        sums.finish(shared, epilogue, row0, column0, height_left, width_left);
    }
#endif
}
TENON_ENTRY(matmul_wmma)
