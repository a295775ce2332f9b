// A tile's sums after its last product, rounded, two columns a word: stored 32 columns at a time between the products of the next tile.
#pragma once
#include "pack.cuh"

template <typename T, int COLUMNS>
struct KeptTile {
    static constexpr int UNITS = COLUMNS / 32;

    u32 words[COLUMNS / 8][2] = {};
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
            for (int i = 0; i < 2; i++) {
                float2 sums = two(j, i);
                words[j][i] = to_pair(sums.x, sums.y, T());
            }
        }
        row = row0 + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
        column0 = first_column;
    }

    // Finishes and stores 32 columns of a warp's 16 rows. The branch is the same for all lanes, and more than a short cut: without it the compiler
    // spreads what finishes over the products before it, which then wait for it.
    template <typename Finish>
    __device__ __forceinline__ void store(T* y, int n, int unit, Finish finish) const {
        if (column0 + unit * 32 >= n) return;
        int column = column0 + unit * 32 + static_cast<int>(threadIdx.x) % 4 * 8;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            u32 own[4];
#pragma unroll
            for (int j = 0; j < 4; j++) own[j] = finish(words[unit * 4 + j][i]);
            transpose_4(own);
            int r = row + i * 8;
            if (r < row_end && column < n) store_16(y + static_cast<i64>(r) * n + column, own);
        }
    }
};
