// A tile's sums after its last product, halves rounded: stored beside the products of the next tile, 32 columns a step, or 64 of the widest, whose
// steps have time for two.
#pragma once
#include "pack.cuh"

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
struct KeptPair<float> {
    float2 both;

    __device__ __forceinline__ void keep(float2 sums) { both = sums; }
    __device__ __forceinline__ float2 get() const { return both; }
};

template <typename T, int COLUMNS>
struct KeptTile {
    static constexpr int UNITS = COLUMNS / 32;
    static constexpr int UNITS_A_STEP = COLUMNS == 256 ? 2 : 1;
    static constexpr int STEPS = UNITS / UNITS_A_STEP;  // that it takes to store all

    KeptPair<T> pairs[COLUMNS / 8][2] = {};
    int row = 0;  // this lane's first, the other is 8 after it
    int row_end;  // rows from there on are not stored
    int column0;  // the tile's first

    // Keeps nothing yet: columns from n on are not stored.
    __device__ __forceinline__ KeptTile(int row_end, int n) : row_end(row_end), column0(n) {}

    // The sums of a warpgroup's 64 rows from row0 on; two(j, i): the two of lines 8 i of a warp and columns 8 j.
    template <typename Two>
    __device__ __forceinline__ void keep(int row0, int first_column, Two two) {
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
#pragma unroll
            for (int i = 0; i < 2; i++) pairs[j][i].keep(two(j, i));
        }
        row = row0 + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
        column0 = first_column;
    }

    template <typename Finish>
    __device__ __forceinline__ void store_step(T* y, int n, int step, Finish finish) const {
#pragma unroll
        for (int unit = 0; unit < UNITS_A_STEP; unit++) store(y, n, step * UNITS_A_STEP + unit, finish);
    }

    template <typename Finish>
    __device__ __forceinline__ void store_all(T* y, int n, Finish finish) const {
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) store(y, n, unit, finish);
    }

private:
    // Stores 32 columns of a warp's 16 rows, each pair as finish makes it. The branch is the same for all lanes, and more than a short cut: without
    // it the compiler spreads what finishes over the products before it, which then wait for it.
    template <typename Finish>
    __device__ __forceinline__ void store(T* y, int n, int unit, Finish finish) const {
        if (column0 + unit * 32 >= n) return;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            KeptPair<T> own[4];
#pragma unroll
            for (int j = 0; j < 4; j++) own[j] = finish(pairs[unit * 4 + j][i]);
            int r = row + i * 8;
            store_row(y + static_cast<i64>(r) * n, r < row_end, n, column0 + unit * 32, own);
        }
    }

    // Of the four lanes that have a row.
    static __device__ __forceinline__ void store_row(T* y, bool there, int n, int column, const KeptPair<T> (&own)[4]) {
        int lane = static_cast<int>(threadIdx.x) % 4;
        if constexpr (sizeof(T) == 2) {
            u32 words[4] = {own[0].both, own[1].both, own[2].both, own[3].both};
            transpose_4(words);
            int at = column + lane * 8;
            if (there && at < n) store_16(y + at, words);
        } else {
            // lanes by two: the first takes four columns of one tile of 8, the second those of the next
            bool odd = lane & 1;
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                float2 give = odd ? own[j].both : own[j + 1].both;
                float2 keep = odd ? own[j + 1].both : own[j].both;
                float2 got = {__shfl_xor_sync(0xffffffffu, give.x, 1), __shfl_xor_sync(0xffffffffu, give.y, 1)};
                float2 low = odd ? got : keep;
                float2 high = odd ? keep : got;
                u32 words[4] = {__float_as_uint(low.x), __float_as_uint(low.y), __float_as_uint(high.x), __float_as_uint(high.y)};
                int at = column + j * 8 + (odd ? 8 : 0) + lane / 2 * 4;
                if (there && at < n) store_16(y + at, words);
            }
        }
    }
};
