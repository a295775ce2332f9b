// Rows that lie group after group, cut into tiles of ROWS rows and of columns, all found from the counts of rows on the device: tile after
// tile of a group, its rows fastest, group after group. Counts that do not fit are cut to the rows there are, and reported once.
#pragma once
#include "tenon.cuh"

struct Groups {
    const void* counts;  // i64 where wide, else i32
    int wide;
    i64 groups;
    i64 rows;  // that the counts should sum to

    // -1 for negative ones, at most rows + 1.
    __device__ __forceinline__ i64 count(i64 group) const {
        if (group >= groups) return 0;
        i64 n = wide ? static_cast<const i64*>(counts)[group] : static_cast<const i32*>(counts)[group];
        return n < 0 ? -1 : n > rows ? rows + 1 : n;
    }

    // What lanes up to this one have together.
    static __device__ __forceinline__ i64 summed(i64 v) {
#pragma unroll
        for (int lanes = 1; lanes < 32; lanes *= 2) {
            i64 other = __shfl_up_sync(0xffffffffu, v, lanes);
            if (static_cast<int>(threadIdx.x % 32) >= lanes) v += other;
        }
        return v;
    }

    // By one warp: reports the first group whose count is negative or too large, else, as -1 - sum, counts that sum to something else.
    __device__ __forceinline__ void check(void* faults, int step) const {
        int lane = threadIdx.x % 32;
        i64 before = 0;
        for (i64 first = 0; first < groups; first += 32) {
            i64 n = count(first + lane);
            i64 end = before + summed(n < 0 ? 0 : n);
            u32 bad = __ballot_sync(0xffffffffu, n < 0 || end > rows);
            if (bad != 0) {
                if (lane == __ffs(bad) - 1) report_fault(faults, step, first + lane);
                return;
            }
            before = __shfl_sync(0xffffffffu, end, 31);
        }
        if (lane == 0 && before != rows) report_fault(faults, step, -1 - before);
    }
};

// Where a walk over the tiles stands. Whole warps walk; a walk goes forwards.
template <int ROWS>
struct GroupWalk {
    i64 first = 0;        // of 32 groups
    i64 tiles_before = 0;
    i64 rows_before = 0;
    i64 group;            // that the tile is of
    i64 row0;             // its first row
    i64 height;           // its rows
    i64 row;              // the tile's first row within it
    i64 column_tile;

    // Goes to a tile; false where there are fewer.
    __device__ __forceinline__ bool go_to(i64 tile, i64 columns, const Groups& of) {
        int lane = threadIdx.x % 32;
        for (; first < of.groups; first += 32) {
            i64 n = of.count(first + lane);
            i64 own = n < 0 ? 0 : n;
            i64 high = (own + ROWS - 1) / ROWS;
            i64 rows_end = rows_before + Groups::summed(own);
            i64 tiles_end = tiles_before + Groups::summed(high * columns);
            u32 holds = __ballot_sync(0xffffffffu, tile < tiles_end);
            if (holds != 0) {
                int which = __ffs(holds) - 1;
                i64 within = tile - (tiles_end - high * columns);
                i64 start = rows_end - own;
                own = start >= of.rows ? 0 : own > of.rows - start ? of.rows - start : own;
                group = first + which;
                row0 = __shfl_sync(0xffffffffu, start, which);
                height = __shfl_sync(0xffffffffu, own, which);
                within = __shfl_sync(0xffffffffu, within, which);
                high = __shfl_sync(0xffffffffu, high, which);
                column_tile = within / high;
                row = (within - column_tile * high) * ROWS;
                return true;
            }
            rows_before = __shfl_sync(0xffffffffu, rows_end, 31);
            tiles_before = __shfl_sync(0xffffffffu, tiles_end, 31);
        }
        return false;
    }
};
