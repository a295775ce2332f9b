// y = fn(a b + bias) for sums of at most 64 STEPS elements, by products of warpgroups (sm_90a): a block keeps its 128 rows of a in shared
// memory and goes over its tiles of 128 columns, whose parts of b pass through a ring. The copy engine fetches, asked by one thread of the first
// warpgroup. Of the four others two make every second tile each, so that one pair finishes and stores results while the other multiplies.
// Sums in f32; bias in f32, the function, then one rounding.
//
// a [m,k], y [m,n], rows on 16-byte boundaries; b [n,k] (ALONG_B) or [k,n], likewise; bias [n] may be null. fn takes p0 and p1.
//
// Launch: 640 threads, ceil(m / 128) groups blocks: `groups` blocks share a tile of rows, at most one a tile of columns. Dynamic shared memory:
// 1024 bytes; 16384 STEPS for rows of a; 16384 STAGES for the ring; 512 for each tile of columns of a block.
// left: boxes of 128 rows of a, 64 elements each. right: boxes of b, of 128 rows of 64 elements, or of 64 rows of 64 elements.
// Variants: TENON_T one of f16, bf16; TENON_FN a function; TENON_STEPS; TENON_ALONG_B. Compiled for sm_90a alone.
#include "short_fn.cuh"
#include "wgmma.cuh"

typedef TENON_T T;
constexpr int STEPS = TENON_STEPS;
constexpr bool ALONG_B = TENON_ALONG_B;
constexpr int STAGES = 7;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int THREADS = 5 * GROUP;
constexpr int PART = 128 * 128;  // bytes of 128 rows, or 128 columns, of 64 elements
constexpr int HALF = PART / 2;   // of 64 columns

#if __CUDA_ARCH_FEAT_SM90_ALL
struct Problem {
    const T* bias;
    T* y;
    i64 m;
    i64 n;
    float p0;
    float p1;
    i64 row0;
    int tile0;  // of columns
    int tile1;
};

// Shared memory: addresses.
struct Shared {
    u32 rows;
    u32 ring;
    const float* bias;
    u32 barriers;

    static constexpr int BARRIERS = STEPS + 2 * STAGES;

    __device__ __forceinline__ u32 rows_full(int step) const { return barriers + 8 * step; }
    __device__ __forceinline__ u32 full(int stage) const { return barriers + 8 * (STEPS + stage); }
    __device__ __forceinline__ u32 free(int stage) const { return barriers + 8 * (STEPS + STAGES + stage); }
};

using Place = RingPlace<STAGES>;

__device__ __forceinline__ void fetch_part(const TensorMap& right, const Shared& shared, Place& place, int tile, int step) {
    await_phase(shared.free(place.stage), place.parity ^ 1);
    u32 barrier = shared.full(place.stage);
    u32 to = shared.ring + place.stage * PART;
    expect_bytes(barrier, PART);
    if (ALONG_B) {
        copy_box(to, right, step * 64, tile * COLUMNS, barrier);
    } else {
        copy_box(to, right, tile * COLUMNS, step * 64, barrier);
        copy_box(to + HALF, right, tile * COLUMNS + 64, step * 64, barrier);
    }
    place.skip(1);
}

__device__ __forceinline__ void fetch(const Problem& at, const TensorMap& left, const TensorMap& right, const Shared& shared) {
    Place place;
    for (int step = 0; step < STEPS; step++) {
        expect_bytes(shared.rows_full(step), PART);
        copy_box(shared.rows + step * PART, left, step * 64, static_cast<i32>(at.row0), shared.rows_full(step));
        fetch_part(right, shared, place, at.tile0, step);
    }
    for (int tile = at.tile0 + 1; tile < at.tile1; tile++) {
        for (int step = 0; step < STEPS; step++) fetch_part(right, shared, place, tile, step);
    }
}

// Descriptors (shared_operand) differ in their first word alone: units of 16 bytes may be added to it.
__device__ __forceinline__ u32 operand_at(u32 address) { return address >> 4 | HALF >> 4 << 16; }
__device__ __forceinline__ u64 operand(u32 low) { return static_cast<u64>(1024u >> 4 | 1u << 30) << 32 | low; }

// Finishes and stores a warp's 16 rows of a tile; `row` is this lane's first, the other is 8 after it.
__device__ __forceinline__ void store(const Problem& at, const Shared& shared, const float (&sums)[COLUMNS / 8][4], i64 row, int tile) {
    int lane = threadIdx.x % 32;
    const float* add = shared.bias + (tile - at.tile0) * COLUMNS + lane % 4 * 2;
    i64 column = static_cast<i64>(tile) * COLUMNS + lane % 4 * 8;
#pragma unroll
    for (int unit = 0; unit < COLUMNS / 32; unit++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            u32 words[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 two = *reinterpret_cast<const float2*>(add + unit * 32 + j * 8);
                words[j] = to_pair(ShortFn<T, TENON_FN>::of(sums[unit * 4 + j][2 * i] + two.x, at.p0, at.p1),
                                   ShortFn<T, TENON_FN>::of(sums[unit * 4 + j][2 * i + 1] + two.y, at.p0, at.p1), T());
            }
            transpose_4(words);
            i64 r = row + i * 8;
            i64 c = column + unit * 32;
            if (r < at.m && c < at.n) store_16(at.y + r * at.n + c, words);
        }
    }
}

__device__ __forceinline__ void consume(const Problem& at, const Shared& shared) {
    int number = __shfl_sync(0xffffffffu, threadIdx.x / GROUP - 1, 0);  // the same for all, which the compiler cannot know
    int own = number % 2;                                               // of a pair
    u32 left = operand_at(shared.rows + own * (PART / 2));
    u32 right = operand_at(shared.ring);
    i64 row = at.row0 + own * 64 + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    bool teller = threadIdx.x % GROUP == 0;
    float sums[COLUMNS / 8][4];
    Place place;
    if (number >= 2) place.skip(STEPS);
    bool begun = false;
#pragma unroll 1
    for (int tile = at.tile0 + number / 2; tile < at.tile1; tile += 2) {
        u32 before = 0;
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            if (!begun) await_phase(shared.rows_full(step), 0);
            await_phase(shared.full(place.stage), place.parity);
            u32 b = right + place.stage * (PART / 16);
            begin_products();
#pragma unroll
            for (int k = 0; k < 64; k += 16) {
                u64 a_at = operand(left + step * (PART / 16) + k / 8);
                u64 b_at = operand(b + (ALONG_B ? k / 8 : k * 8));
                if (step == 0 && k == 0) {
                    fresh_warpgroup_product<ALONG_B>(sums, a_at, b_at, T());
                } else {
                    warpgroup_product<true, ALONG_B>(sums, a_at, b_at, T());
                }
            }
            end_products();
            if (step > 0) {
                await_products<1>();
                if (teller) arrive(shared.free(before));
            }
            before = place.stage;
            place.skip(1);
        }
        begun = true;
        await_products<0>();
        if (teller) arrive(shared.free(before));
        place.skip(STEPS);
        store(at, shared, sums, row, tile);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(matmul_rows)(TensorMap const __grid_constant__ left, TensorMap const __grid_constant__ right, const T* bias, T* y, i64 m, i64 n,
                            i32 groups, float p0, float p1) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[Shared::BARRIERS];
    u8* space = reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024);
    float* shifts = reinterpret_cast<float*>(space + (STEPS + STAGES) * PART);
    u32 rows = shared_address(space);
    Shared shared = {rows, rows + STEPS * PART, shifts, shared_address(barriers)};
    int tiles = static_cast<int>((n + COLUMNS - 1) / COLUMNS);
    int group = static_cast<int>(blockIdx.x % groups);
    Problem at = {bias, y, m, n, p0, p1, static_cast<i64>(blockIdx.x / groups) * ROWS, tiles * group / groups, tiles * (group + 1) / groups};
    if (threadIdx.x == 0) {
        for (int i = 0; i < STEPS; i++) start_barrier(shared.rows_full(i), 1);
        for (int i = 0; i < STAGES; i++) {
            start_barrier(shared.full(i), 1);
            start_barrier(shared.free(i), 2);
        }
        show_to_tensor_cores();
    }
    release_successor();
    await_predecessor();
    for (int i = threadIdx.x; i < (at.tile1 - at.tile0) * COLUMNS; i += THREADS) {
        i64 column = static_cast<i64>(at.tile0) * COLUMNS + i;
        shifts[i] = bias && column < n ? to_compute(bias[column]) : 0.0f;
    }
    __syncthreads();
    if (threadIdx.x < GROUP) {
        give_registers<24>();
        if (threadIdx.x == 0) fetch(at, left, right, shared);
    } else {
        take_registers<112>();
        consume(at, shared);
    }
#endif
}
TENON_ENTRY(matmul_rows)
