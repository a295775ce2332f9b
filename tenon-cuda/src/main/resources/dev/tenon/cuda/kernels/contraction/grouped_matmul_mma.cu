// y[r] = x[r] w[g] for the rows r of each group g, as grouped_matmul.cu has it, on tensor cores (mma_tile.cuh); of float rounded to TF32.
//
// Launch: the threads of a tile, any number of blocks, which walk over the tiles; the device alone knows how many there are (groups.cuh).
// Dynamic shared memory as in matmul_wmma.cu. packed: bit 0 where k is whole 16-byte chunks, bit 1 where n is.
// faults, step: a count that does not fit is reported by its group, a wrong sum s as -1 - s.
//
// Variants: TENON_T one of float (sm_80), f16 (sm_75), bf16 (sm_80); the shape of tiles.
#include "groups.cuh"
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

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(grouped_matmul_mma)(
    const T* x, const T* w, const void* counts, T* y, i64 rows, i64 groups, i64 n, i64 k, i32 wide, i32 packed, void* faults, i32 step) {
#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
    typedef MmaTile<T, true, false, TENON_TILE_M, TENON_TILE_N, TENON_WARP_M, TENON_WARP_N, STAGES, TENON_PACKED, TENON_LAG> Tile;
    TENON_DYNAMIC_SHARED(uint4, dynamic);
    uint4* shared = Tile::space(dynamic);
    release_successor();
    await_predecessor();
    Groups of = {counts, wide, groups, rows};
    if (blockIdx.x == 0 && threadIdx.x < 32) of.check(faults, step);
    i64 columns = (n + TENON_TILE_N - 1) / TENON_TILE_N;
    GroupWalk<TENON_TILE_M> walk;
    for (i64 tile = blockIdx.x; walk.go_to(tile, columns, of); tile += gridDim.x) {
        if (walk.row >= walk.height) continue;
        i64 column0 = walk.column_tile * TENON_TILE_N;
        typename Tile::Left left;
        typename Tile::Right right;
        left.start(x + walk.row0 * k, walk.height, k, walk.row, 0, k, packed & 1);
        right.start(w + walk.group * k * n, n, k, column0, 0, k, packed & 2);
        Tile sums;
        sums.clear();
        sums.accumulate(left, right, shared);
        MmaEpilogue<T> epilogue = {y + walk.row0 * n, nullptr, nullptr, n, 0, 0.0f, 0.0f, (packed & 2) != 0};
        int high = static_cast<int>(walk.height - walk.row < TENON_TILE_M ? walk.height - walk.row : TENON_TILE_M);
        int wide_left = static_cast<int>(n - column0 < TENON_TILE_N ? n - column0 : TENON_TILE_N);
        sums.store_sums(shared, epilogue, walk.row, column0, high, wide_left);
    }
#endif
}
TENON_ENTRY(grouped_matmul_mma)
