// A tile's sums after its last product, halves rounded: stored beside the products of the next tile, 32 columns a step, or 64 of the widest, whose
// steps have time for two.
#pragma once
#include "pack.cuh"
#include "wgmma.cuh"

// Two columns of a row, as they are kept.
template <typename T>
struct KeptPair {
    u32 both;

    __device__ __forceinline__ void keep(float2 sums) { both = to_pair(sums.x, sums.y, T()); }

    __device__ __forceinline__ float2 get() const {
        const T* each = reinterpret_cast<const T*>(&both);
        return {to_compute(each[0]), to_compute(each[1])};
    }
};

template <>
struct KeptPair<bf16> {
    u32 both;

    __device__ __forceinline__ void keep(float2 sums) { both = to_pair(sums.x, sums.y, bf16()); }
    __device__ __forceinline__ float2 get() const { return {__uint_as_float(both << 16), __uint_as_float(both & 0xffff0000u)}; }
};

template <>
struct KeptPair<float> {
    float2 both;

    __device__ __forceinline__ void keep(float2 sums) { both = sums; }
    __device__ __forceinline__ float2 get() const { return both; }
};

#if __CUDA_ARCH_FEAT_SM90_ALL
// Bytes of shared memory through which a warp's results pass on their way out: 16 rows of 32 columns.
template <typename T>
constexpr int PASSAGE = 16 * 32 * sizeof(T);

// The passage of a warp: chunks of 16 bytes are swapped in it, so that no bank is asked for two at a time. Results go in from the layout of mma, 8
// rows at a time (`half` 0 or 1), and come out as lines of 64 or 128 bytes.
template <typename H>
struct Passage {
    u32 shared;

    // All lanes have read what passed before.
    __device__ __forceinline__ void enter() const { __syncwarp(); }

    __device__ __forceinline__ void put(int half, const KeptPair<H> (&own)[4]) const {
        int lane = static_cast<int>(threadIdx.x) % 32;
        u32 to = shared + half * 512 + lane % 8 * 64 + (lane / 8 ^ lane % 8 / 2) * 16;
        store_matrices(to, own[0].both, own[1].both, own[2].both, own[3].both);
    }

    // `row`: the warp's first; rows from row_end on and columns from n on are not stored.
    __device__ __forceinline__ void leave(H* y, int row, int row_end, int n, int column) const {
        int lane = static_cast<int>(threadIdx.x) % 32;
        int at = column + lane % 4 * 8;
        __syncwarp();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            u32 words[4];
            load_shared_4(words, shared + half * 512 + lane / 4 * 64 + (lane % 4 ^ lane / 8) * 16);
            int r = row + lane / 4 + 8 * half;
            if (r < row_end && at < n) store_16(y + static_cast<i64>(r) * n + at, words);
        }
    }
};

template <>
struct Passage<float> {
    u32 shared;

    __device__ __forceinline__ void enter() const { __syncwarp(); }

    __device__ __forceinline__ void put(int half, const KeptPair<float> (&own)[4]) const {
        int lane = static_cast<int>(threadIdx.x) % 32;
        u32 to = shared + half * 1024 + lane / 4 * 128 + lane % 2 * 8;
#pragma unroll
        for (int j = 0; j < 4; j++) store_shared_2(to + ((j * 2 + lane % 4 / 2) ^ lane / 4 % 4 * 2) * 16, own[j].both);
    }

    __device__ __forceinline__ void leave(float* y, int row, int row_end, int n, int column) const {
        int lane = static_cast<int>(threadIdx.x) % 32;
        int at = column + lane % 8 * 4;
        __syncwarp();
#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
            u32 words[4];
            load_shared_4(words, shared + quarter * 512 + lane / 8 * 128 + (lane % 8 ^ lane / 8 * 2) * 16);
            int r = row + lane / 8 + 4 * quarter;
            if (r < row_end && at < n) store_16(y + static_cast<i64>(r) * n + at, words);
        }
    }
};

template <typename T, int COLUMNS>
struct KeptTile {
    static constexpr int UNITS = COLUMNS / 32;
    static constexpr int UNITS_A_STEP = COLUMNS == 256 ? 2 : 1;
    static constexpr int STEPS = UNITS / UNITS_A_STEP;  // that it takes at least to store all

    KeptPair<T> pairs[COLUMNS / 8][2] = {};
    int row = 0;  // the warp's first
    int row_end;  // rows from there on are not stored
    int column0;  // the tile's first
    Passage<T> passage;

    // Keeps nothing yet: columns from n on are not stored. `passages`: of the block's warps that multiply, `warp` of them this one.
    __device__ __forceinline__ KeptTile(int row_end, int n, u32 passages, int warp) : row_end(row_end), column0(n), passage{passages + warp * PASSAGE<T>} {}

    // The sums of a warpgroup's 64 rows from row0 on; two(j, i): the two of lines 8 i of a warp and columns 8 j.
    template <typename Two>
    __device__ __forceinline__ void keep(int row0, int first_column, Two two) {
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
#pragma unroll
            for (int i = 0; i < 2; i++) pairs[j][i].keep(two(j, i));
        }
        row = row0 + static_cast<int>(threadIdx.x) / 32 % 4 * 16;
        column0 = first_column;
    }

    // Of UNITS steps where they are `spread`, else of STEPS.
    template <typename Finish>
    __device__ __forceinline__ void store_step(T* y, int n, int step, bool spread, Finish finish) const {
        store(y, n, step, finish);
        if (UNITS_A_STEP > 1 && !spread) store(y, n, step + STEPS, finish);
    }

    template <typename Finish>
    __device__ __forceinline__ void store_all(T* y, int n, Finish finish) const {
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) store(y, n, unit, finish);
    }

    // The same by one copy of the code for all columns, for code that is run once takes as long as it takes to fetch: through SPACE bytes of shared memory
    // that are the warpgroup's alone.
    static constexpr int SPACE = 64 * COLUMNS * sizeof(T);

    template <typename Finish>
    __device__ __forceinline__ void store_all(u32 space, T* y, int n, Finish finish) const {
        constexpr int WORDS = sizeof(KeptPair<T>) / 4;
        constexpr int LANES = 128 * 16;  // bytes of 16 for each thread
        u32 own = space + threadIdx.x % 128 * 16;
#pragma unroll
        for (int k = 0; k < 2 * UNITS; k++) {
            u32 words[4 * WORDS];
#pragma unroll
            for (int w = 0; w < 4 * WORDS; w++) words[w] = reinterpret_cast<const u32*>(&pairs[k / 2 * 4 + w / WORDS][k % 2].both)[w % WORDS];
#pragma unroll
            for (int w = 0; w < 4 * WORDS; w += 4) store_shared_4(own + (k * WORDS + w / 4) * LANES, words[w], words[w + 1], words[w + 2], words[w + 3]);
        }
#pragma unroll 1
        for (int unit = 0; unit < UNITS; unit++) {
            if (column0 + unit * 32 >= n) break;
            KeptPair<T> here[4][2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int w = 0; w < 4 * WORDS; w += 4) {
                    u32 words[4];
                    load_shared_4(words, own + ((unit * 2 + i) * WORDS + w / 4) * LANES);
#pragma unroll
                    for (int e = 0; e < 4; e++) reinterpret_cast<u32*>(&here[(w + e) / WORDS][i].both)[(w + e) % WORDS] = words[e];
                }
            }
            store(y, n, unit, here, finish);
        }
    }

private:
    // Stores 32 columns of a warp's 16 rows, each pair as finish makes it. The branch is the same for all lanes, and more than a short cut: without
    // it the compiler spreads what finishes over the products before it, which then wait for it.
    template <typename Finish>
    __device__ __forceinline__ void store(T* y, int n, int unit, Finish finish) const {
        if (column0 + unit * 32 >= n) return;
        KeptPair<T> here[4][2];
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int i = 0; i < 2; i++) here[j][i] = pairs[unit * 4 + j][i];
        }
        store(y, n, unit, here, finish);
    }

    template <typename Finish>
    __device__ __forceinline__ void store(T* y, int n, int unit, const KeptPair<T> (&here)[4][2], Finish finish) const {
        passage.enter();
#pragma unroll
        for (int i = 0; i < 2; i++) {
            KeptPair<T> own[4];
#pragma unroll
            for (int j = 0; j < 4; j++) own[j] = finish(here[j][i]);
            passage.put(i, own);
        }
        passage.leave(y, row, row_end, n, column0 + unit * 32);
    }
};
#endif
