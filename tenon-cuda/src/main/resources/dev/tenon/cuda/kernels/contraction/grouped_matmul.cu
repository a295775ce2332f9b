// y[r] = x[r] w[g] for the rows r of each group g: x [rows, k], w [groups, k, n], counts [groups], which sum to rows, y [rows, n]; the rows of
// a group follow each other. The plain form, in tiles of 64×64 (plain_tile.cuh).
//
// Launch: 256 threads, any number of blocks, which walk over the tiles; the device alone knows how many there are (groups.cuh).
// packed: k and n are multiples of 4. faults, step: a count that does not fit is reported by its group, a wrong sum s as -1 - s.
//
// Variants: TENON_T one of float, double, f16, bf16; sums are in float, of double in double.
#include "groups.cuh"
#include "plain_tile.cuh"

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(grouped_matmul)(
    const T* x, const T* w, const void* counts, T* y, i64 rows, i64 groups, i64 n, i64 k, i32 wide, i32 packed, void* faults, i32 step) {
    __shared__ Pack<A, 4> space[2 * STEP * ROW / 4];
    A(*tile_a)[ROW] = reinterpret_cast<A(*)[ROW]>(space);
    A(*tile_b)[ROW] = tile_a + STEP;
    release_successor();
    await_predecessor();
    Groups of = {counts, wide, groups, rows};
    if (blockIdx.x == 0 && threadIdx.x < 32) of.check(faults, step);
    i64 columns = (n + TILE - 1) / TILE;
    GroupWalk<TILE> walk;
    for (i64 tile = blockIdx.x; walk.go_to(tile, columns, of); tile += gridDim.x) {
        if (walk.row >= walk.height) continue;
        const T* left = x + walk.row0 * k;
        const T* right = w + walk.group * k * n;
        T* to = y + walk.row0 * n;
        i64 column0 = walk.column_tile * TILE;
        if (packed) {
            tile_of<4>(left, right, nullptr, nullptr, to, walk.height, n, k, true, false, walk.row, column0, 0, A(0), A(0), tile_a, tile_b);
        } else {
            tile_of<1>(left, right, nullptr, nullptr, to, walk.height, n, k, true, false, walk.row, column0, 0, A(0), A(0), tile_a, tile_b);
        }
    }
}
TENON_ENTRY(grouped_matmul)
