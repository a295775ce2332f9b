// The online softmax of a warp's rows, in the layout of tensor cores: ROWS times 16 queries, of which a lane has the columns 2t and 2t + 1
// of each 8 of the rows g and g + 8.
#pragma once
#include "attention.cuh"

template <int ROWS>
struct Running {
    float top[ROWS][2];    // scores times the factor, -LARGEST before the first
    float total[ROWS][2];  // this lane's part

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                top[r][i] = -LARGEST;
                total[r][i] = 0;
            }
        }
    }

    // How far scores may rise above a row's top before it moves, in powers of 2: weights up to this power are exact in all types, and a top that
    // stays leaves the sums of earlier weights as they are.
    static constexpr float SLACK = 8.0f;

    // Tops up to these scores. Whether tops of this warp moved; then `kept` is what sums of earlier weights are multiplied by.
    template <int N>
    __device__ __forceinline__ bool rise(const float (&s)[ROWS][N][4], float (&kept)[ROWS][2], float factor) {
        float most[ROWS][2];
        bool higher = false;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                // four chains, so that a warp alone need not wait for each
                constexpr int CHAINS = N % 4 == 0 ? 4 : 1;
                float tops[CHAINS];
#pragma unroll
                for (int c = 0; c < CHAINS; c++) tops[c] = fmaxf(s[r][c][2 * i], s[r][c][2 * i + 1]);
#pragma unroll
                for (int n = CHAINS; n < N; n++) tops[n % CHAINS] = fmaxf(tops[n % CHAINS], fmaxf(s[r][n][2 * i], s[r][n][2 * i + 1]));
                most[r][i] = CHAINS == 1 ? tops[0] : fmaxf(fmaxf(tops[0], tops[1 % CHAINS]), fmaxf(tops[2 % CHAINS], tops[3 % CHAINS]));
                higher = higher || most[r][i] * factor > top[r][i] + SLACK;
            }
        }
        bool moved = __any_sync(0xffffffffu, higher);
        if (moved) move(most, kept, factor);
        return moved;
    }

    // Scores to weights, after rise(). SUM: adds them to totals.
    template <bool SUM, int N>
    __device__ __forceinline__ void to_weights(float (&s)[ROWS][N][4], float factor) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    s[r][n][e] = fast_exp2(s[r][n][e] * factor - top[r][e / 2]);
                    if (SUM) total[r][e / 2] += s[r][n][e];
                }
            }
        }
    }

    // Both.
    template <int N>
    __device__ __forceinline__ bool weigh(float (&s)[ROWS][N][4], float (&kept)[ROWS][2], float factor) {
        bool moved = rise(s, kept, factor);
        to_weights<true>(s, factor);
        return moved;
    }

    // Totals of whole rows.
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                total[r][i] += __shfl_xor_sync(0xffffffffu, total[r][i], 1);
                total[r][i] += __shfl_xor_sync(0xffffffffu, total[r][i], 2);
            }
        }
    }

private:
    __device__ __forceinline__ void move(const float (&most)[ROWS][2], float (&kept)[ROWS][2], float factor) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float highest = fmaxf(most[r][i], __shfl_xor_sync(0xffffffffu, most[r][i], 1));
                highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
                highest = fmaxf(highest * factor, top[r][i]);
                kept[r][i] = fast_exp2(top[r][i] - highest);
                top[r][i] = highest;
                total[r][i] *= kept[r][i];
            }
        }
    }
};

// A row's results as 16-bit values, of which this lane has two of each 8, in stores of 16 bytes, which neighbouring lanes put together. Whether one
// is NaN. All lanes of a warp call; the row is there for all four lanes of it or for none.
template <int D, typename T, typename F>
__device__ __forceinline__ bool store_packed(T* to, bool there, int dv, F result) {
    bool odd = false;
    u32 words[D / 32][4];
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        float low = result(n, 0);
        float high = result(n, 1);
        odd = odd || low != low || high != high;
        words[n / 4][n % 4] = to_pair(low, high, T());
    }
#pragma unroll
    for (int i = 0; i < D / 32; i++) transpose_4(words[i]);
    if (!there) return false;
#pragma unroll
    for (int i = 0; i < D / 32; i++) {
        int c = (i * 4 + threadIdx.x % 4) * 8;
        if (c < dv) store_16(to + c, words[i]);
    }
    return odd;
}

// What is added to the scores of a tile of keys where all queries of a head see the same: the mask, in powers of 2.
template <typename T>
__device__ __forceinline__ float mask_of_key(const Seen<T, float>& seen, i64 b, i64 h, i64 key) {
    if (key >= seen.keys || seen.kind != MASK_ADDED) return 0.0f;
    return in_powers_of_2(to_compute(static_cast<const T*>(seen.mask)[b * seen.mask_batch + h * seen.mask_head + key * seen.mask_key]));
}

// What is added to the scores of a key where all queries of a head see the same, of either kind of mask, in powers of 2.
template <typename T>
__device__ __forceinline__ float added(const Seen<T, float>& seen, i64 b, i64 h, i64 key) {
    if (key >= seen.keys) return -TENON_INFINITY;
    if (seen.kind != MASK_BOOLEAN) return mask_of_key(seen, b, h, key);
    i64 element = b * seen.mask_batch + h * seen.mask_head + key * seen.mask_key;
    return static_cast<const u8*>(seen.mask)[element] != 0 ? 0.0f : -TENON_INFINITY;
}

// Products to scores of two rows, `query` of head h and `query_8` of h_8, for N times 8 keys from `key` on. `staged` are masks of the tile's
// keys, null where there is no mask or queries differ in it. whole: both rows see all keys of the tile, apart from a mask.
template <int N, typename T>
__device__ __forceinline__ void to_scores(float (&s)[N][4], const Scores<T>& scores, const float* staged, i64 b, const i64 (&heads)[2],
                                          const i64 (&rows)[2], i64 key, bool whole) {
    const Seen<T, float>& seen = scores.seen;
    int column = threadIdx.x % 4 * 2;
    if (!scores.raw) {
        if (seen.cap > 0.0f) {  // once, not for each score
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int e = 0; e < 4; e++) s[n][e] = scores.capped_score(s[n][e]);
            }
        } else if (!staged) {
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int e = 0; e < 4; e++) s[n][e] *= scores.scale;
            }
        }
        float scale = seen.cap > 0.0f ? 1.0f : scores.scale;
#pragma unroll
        for (int n = 0; staged && n < N; n++) {
            Pack<float, 2> added = *reinterpret_cast<const Pack<float, 2>*>(staged + n * 8 + column);
#pragma unroll
            for (int e = 0; e < 4; e++) s[n][e] = s[n][e] * scale + added.at[e % 2];
        }
    }
#if TENON_RAGGED
    if (seen.slopes) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float slope = seen.slopes[heads[i]] * LOG2E;
            int distance = static_cast<int>(key + column - seen.position(rows[i]));
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int e = 0; e < 2; e++) s[n][2 * i + e] += slope * static_cast<float>(distance + n * 8 + e);
            }
        }
    }
#endif
    bool each = seen.kind != MASK_NONE && !staged;
    if (whole && !each) return;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        i64 query = rows[i] < seen.queries ? rows[i] : seen.queries - 1;
        Span span(seen, query);
        int from = span.from(key, N * 8) - column;
        int to = span.to(key, N * 8) - column;
        if (each) {
            i64 at = b * seen.mask_batch + heads[i] * seen.mask_head + query * seen.mask_query + (key + column) * seen.mask_key;
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    int c = n * 8 + e;
                    if (c < from || to < c) continue;
                    float& v = s[n][2 * i + e];
                    i64 element = at + c * seen.mask_key;
                    if (seen.kind == MASK_ADDED) {
                        v += in_powers_of_2(to_compute(static_cast<const T*>(seen.mask)[element]));
                    } else if (static_cast<const u8*>(seen.mask)[element] == 0) {
                        v = -TENON_INFINITY;
                    }
                }
            }
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
#pragma unroll
            for (int e = 0; e < 2; e++) s[n][2 * i + e] = n * 8 + e <= to ? s[n][2 * i + e] : -TENON_INFINITY;
        }
        if (seen.window == 0) continue;
#pragma unroll
        for (int n = 0; n < N; n++) {
#pragma unroll
            for (int e = 0; e < 2; e++) s[n][2 * i + e] = n * 8 + e >= from ? s[n][2 * i + e] : -TENON_INFINITY;
        }
    }
}
