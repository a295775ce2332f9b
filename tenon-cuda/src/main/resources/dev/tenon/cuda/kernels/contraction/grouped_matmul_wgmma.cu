// y[r] = x[r] w[g] for the rows r of each group g, as grouped_matmul.cu has it, by products of warpgroups (sm_90a) in the ring of matmul_wgmma.cu:
// blocks stay and go over tiles of 128 rows of a group and COLUMNS columns. A box of x may reach into the next group: those rows are not stored.
//
// x [rows,k], w [groups,k,n], y [rows,n]: k and n multiples of 8. counts [groups].
//
// Launch: 384 threads; any number of blocks; groups at most MOST_GROUPS; steps: parts of 64 elements that cover k, at least COLUMNS / 32 + 1
// (5 for 256 columns). Dynamic shared memory: 1024 bytes and STAGES (128 + COLUMNS) 128. left: boxes of 64 rows of x, 64 elements each. right: boxes
// of a group's weight, 64 rows of 64 elements. faults, step: as grouped_matmul.cu.
// Variants: TENON_T one of f16, bf16; TENON_COLUMNS 128, 192 or 256. Compiled for sm_90a alone.
#include "groups.cuh"
#include "kept_tile.cuh"
#include "product_ring.cuh"

typedef TENON_T T;
constexpr int COLUMNS = TENON_COLUMNS;
constexpr int STAGES = COLUMNS == 256 ? 4 : COLUMNS == 192 ? 5 : 6;
constexpr int ROWS = 128;
constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int THREADS = 3 * GROUP;
constexpr int BAND = 12;  // tiles one above the other that are made at a time, at most, so that what they read stays in the L2
constexpr int MOST_GROUPS = 1024;

#if __CUDA_ARCH_FEAT_SM90_ALL
using Ring = ProductRing<T, COLUMNS, STAGES, false>;
using Kept = KeptTile<T, COLUMNS>;

// Where groups begin: rows, and tiles one above the other.
struct Table {
    int rows[MOST_GROUPS + 1];
    int tiles[MOST_GROUPS + 1];

    // By one warp.
    __device__ __forceinline__ void fill(const Groups& of) {
        int lane = threadIdx.x % 32;
        i64 before = 0;
        int high_before = 0;
        if (lane == 0) rows[0] = tiles[0] = 0;
        for (int first = 0; first < of.groups; first += 32) {
            i64 n = of.count(first + lane);
            i64 own = n < 0 ? 0 : n;
            i64 end = before + Groups::summed(own);
            int from = static_cast<int>(end - own < of.rows ? end - own : of.rows);
            int to = static_cast<int>(end < of.rows ? end : of.rows);
            int high = high_before + static_cast<int>(Groups::summed((to - from + ROWS - 1) / ROWS));
            if (first + lane < of.groups) {
                rows[first + lane + 1] = to;
                tiles[first + lane + 1] = high;
            }
            before = __shfl_sync(0xffffffffu, end, 31);
            high_before = __shfl_sync(0xffffffffu, high, 31);
        }
    }
};

// The tiles of this block, one after the other: a group's in bands.
struct Walk {
    const Table& table;
    int groups;
    int wide;  // tiles
    int at = static_cast<int>(blockIdx.x);
    int tiles;
    int group = 0;
    int row0;
    int row_end;  // of the group
    int column0;

    __device__ __forceinline__ Walk(const Table& table, int groups, int n)
        : table(table), groups(groups), wide((n + COLUMNS - 1) / COLUMNS), tiles(table.tiles[groups] * wide) {}

    __device__ __forceinline__ bool there() const { return at < tiles; }

    // Finds where the tile is, which is there.
    __device__ __forceinline__ void find() {
        int high_tile = at / wide;
        int last = groups;  // the first group that ends behind the tile lies in [group, last)
        while (last - group > 1) {
            int middle = (group + last) / 2;
            if (table.tiles[middle] <= high_tile) {
                group = middle;
            } else {
                last = middle;
            }
        }
        int first = table.tiles[group];
        int high = table.tiles[group + 1] - first;
        int bands = (high + BAND - 1) / BAND;
        int most = (high + bands - 1) / bands;
        int within = at - first * wide;
        int band = within / (most * wide);
        within -= band * most * wide;
        int rows = high - band * most < most ? high - band * most : most;
        column0 = within / rows * COLUMNS;
        row0 = table.rows[group] + (band * most + within % rows) * ROWS;
        row_end = table.rows[group + 1];
    }

    __device__ __forceinline__ void next() { at += static_cast<int>(gridDim.x); }
};

__device__ __forceinline__ void fetch(const TensorMap& left, const TensorMap& right, Walk walk, int steps, const Ring& ring) {
    Ring::Place place;
    for (; walk.there(); walk.next()) {
        walk.find();
        bool low = walk.row_end - walk.row0 <= ROWS / 2;  // the other half is what was there before, and is not stored
        for (int step = 0; step < steps; step++) {
            await_phase(ring.free(place.stage), place.parity ^ 1);
            u32 barrier = ring.full(place.stage);
            u32 to = ring.ring + place.stage * Ring::STAGE;
            expect_bytes(barrier, low ? Ring::STAGE - Ring::ATOM : Ring::STAGE);
            copy_box(to, left, step * Ring::DEPTH, walk.row0, barrier);
            if (!low) copy_box(to + Ring::ATOM, left, step * Ring::DEPTH, walk.row0 + ROWS / 2, barrier);
#pragma unroll
            for (int column = 0; column < COLUMNS; column += 64) {
                copy_box(to + Ring::LEFT + column * Ring::DEPTH * 2, right, walk.column0 + column, step * Ring::DEPTH, walk.group, barrier);
            }
            place.next();
        }
    }
}

__device__ __forceinline__ void consume(Walk walk, T* y, int n, int steps, const Ring& ring, u32 passages) {
    int own = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / GROUP - 1, 0);  // the same for all, which the compiler cannot know
    float sums[COLUMNS / 8][4];
    Kept kept(0, n, passages, (static_cast<int>(threadIdx.x) - GROUP) / 32);
    auto as_is = [](KeptPair<T> pair) { return pair; };
    Ring::Place place;
    for (; walk.there(); walk.next()) {
        ring.multiply<true>(sums, place, own);
        u32 before = place.stage;
        place.next();
        walk.find();
#pragma unroll
        for (int step = 0; step < Kept::STEPS; step++) {
            ring.multiply<false>(sums, place, own);
            kept.store_step(y, n, step, false, as_is);
            ring.pass_on(place, before);
        }
#pragma unroll 1
        for (int step = Kept::STEPS + 1; step < steps; step++) {
            ring.multiply<false>(sums, place, own);
            ring.pass_on(place, before);
        }
        ring.finish(before);
        kept.keep(walk.row0 + own * 64, walk.column0, [&](int j, int i) { return float2{sums[j][2 * i], sums[j][2 * i + 1]}; });
        kept.row_end = walk.row_end;
    }
    kept.store_all(y, n, as_is);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1) TENON_NAME(grouped_matmul_wgmma)(
    TensorMap const __grid_constant__ left, TensorMap const __grid_constant__ right, const void* counts, T* y, i64 rows, i64 groups, i64 n, i32 steps,
    i32 wide, void* faults, i32 step) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[2 * STAGES];
    __shared__ Table table;
    __shared__ alignas(128) u8 passages[2 * GROUP / 32 * PASSAGE<T>];
    u8* space = reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024);
    Ring ring = {shared_address(space), shared_address(barriers)};
    if (threadIdx.x == 0) {
        ring.start();
        show_to_tensor_cores();
    }
    release_successor();
    await_predecessor();
    Groups of = {counts, wide, groups, rows};
    if (threadIdx.x < 32) table.fill(of);
    if (blockIdx.x == 0 && threadIdx.x / 32 == 1) of.check(faults, step);
    __syncthreads();
    Walk walk(table, static_cast<int>(groups), static_cast<int>(n));
    if (threadIdx.x < GROUP) {
        give_registers<40>();
        if (threadIdx.x == 0) fetch(left, right, walk, steps, ring);
    } else {
        take_registers<232>();
        consume(walk, y, static_cast<int>(n), steps, ring, shared_address(passages));
    }
#endif
}
TENON_ENTRY(grouped_matmul_wgmma)
