// Attention within a resident kernel: 16 queries of a head of a sequence, a warp 16 keys at a time, operands from L2 into registers. Scores are worked
// out once, and the largest is known before they become weights.
//
// A lane's g is its number / 4 and t the rest. Along the elements of a head a quad takes 16 bytes a lane, in queries and keys alike. The columns of the
// second product are the elements of a head in another order: column tile j has of lane g's D / 8 neighbours the j-th.
#pragma once
#include "resident.cuh"

constexpr int KEYS = 16;

// The larger, NaN where one is.
__device__ __forceinline__ float peak(float a, float b) {
#if TENON_EMULATED
    return a > b || a != a ? a : b;
#else
    return max_or_nan(a, b);
#endif
}

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
template <int D>
struct Heads {
    static constexpr int TILES = D / 8;
    static constexpr int WORDS = D / 8 * static_cast<int>(sizeof(T)) / 4;  // of a lane's neighbours

    const T* base;  // the first query of the head
    int stride;     // elements from token to token
    int keys, across;
    const T* mask;
    int mask_query, mask_key;
    bool guarded;
    int quad, own;  // a lane's g and t; opaque, since what is worked out from them would be kept in registers over all phases

    __device__ __forceinline__ Heads(const Phase& p, int batch, int heads, int head) {
        int lane = opaque(threadIdx.x) % 32;
        quad = lane / 4;
        own = lane % 4;
        across = heads * D;
        stride = 3 * across;
        keys = p.keys;
        base = p.x + static_cast<i64>(batch) * keys * stride + head * D;
        int dims = mask_dims(p);
        guarded = (dims & 16) != 0;
        mask_key = dims & 8 ? 1 : 0;
        int row = mask_key ? keys : 1;
        mask_query = dims & 4 ? row : 0;
        int matrix = dims & 4 ? row * keys : row;
        i64 whole = dims & 2 ? static_cast<i64>(matrix) * heads : matrix;
        mask = p.scale == nullptr ? nullptr : p.scale + (dims & 1 ? batch * whole : 0) + (dims & 2 ? head * static_cast<i64>(matrix) : 0);
    }

    // Whether weights of a row whose largest score is that one are NaN, and count as 0. Their sum is 0 then, and that of no other row.
    __device__ __forceinline__ bool none(float most) const { return guarded && !(fabsf(most) < TENON_INFINITY); }

    __device__ __forceinline__ float divisor(float total) const { return guarded && total == 0.0f ? 1.0f : total; }

    __device__ __forceinline__ int within(int token) const { return token < keys ? token : keys - 1; }

    // 16 bytes of a query (part 0) or key (1); zeros past the last token.
    __device__ __forceinline__ uint4 load(int part, int token, int chunk) const {
        if (token >= keys) return make_uint4(0, 0, 0, 0);
        return load_handed(reinterpret_cast<const uint4*>(base + token * stride + part * across + chunk * CHUNK + own * V));
    }

    // A lane's neighbours of a value.
    __device__ __forceinline__ void load_value(u32 (&to)[WORDS], int token) const {
        const T* from = base + token * stride + 2 * across + quad * TILES;
        bool there = token < keys;
        if constexpr (WORDS == 2) {
            uint2 v = there ? load_handed(reinterpret_cast<const uint2*>(from)) : make_uint2(0, 0);
            to[0] = v.x;
            to[1] = v.y;
        } else {
#pragma unroll
            for (int i = 0; i < WORDS / 4; i++) {
                uint4 v = there ? load_handed(reinterpret_cast<const uint4*>(from) + i) : make_uint4(0, 0, 0, 0);
                to[4 * i] = v.x;
                to[4 * i + 1] = v.y;
                to[4 * i + 2] = v.z;
                to[4 * i + 3] = v.w;
            }
        }
    }
};

// What a warp holds of 16 queries and 16 keys: scores, then weights, and the values. Source: where these are.
template <int D, typename Source>
struct Turn {
    float s[2][4];
    u32 values[4][Source::WORDS];  // of keys 2t, 2t + 1, 2t + 8, 2t + 9

    // Scores of the queries from `first` on with the keys from `key` on; -inf past the last key. The largest joins `most`.
    __device__ __forceinline__ void score(const Source& heads, float (&most)[2], const Phase& p, int first, int key) {
        int quad = heads.quad, own = heads.own;
        bool waits = (p.flags & MADE_X) != 0;
        float factor = p.factor;
        T masks[2][4];
        if (heads.mask != nullptr) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                if (i > 0 && heads.mask_query == 0) {  // all queries have the same
#pragma unroll
                    for (int n = 0; n < 4; n++) masks[n / 2][2 + n % 2] = masks[n / 2][n % 2];
                    break;
                }
                const T* row = heads.mask + heads.within(first + quad + i * 8) * heads.mask_query;
#pragma unroll
                for (int n = 0; n < 4; n++) masks[n / 2][2 * i + n % 2] = row[heads.within(key + n / 2 * 8 + own * 2 + n % 2) * heads.mask_key];
            }
        }
        uint4 q[D / CHUNK][2], k[2][D / CHUNK];
        bool missing;
#pragma unroll 1
        do {
            int at = opaque(quad), beside = opaque(own) * 2;
#pragma unroll
            for (int c = 0; c < D / CHUNK; c++) {
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    q[c][i] = heads.load(0, first + at + i * 8, c);
                    k[i][c] = heads.load(1, key + at + i * 8, c);
                }
            }
#pragma unroll
            for (int i = 0; i < 4; i++) heads.load_value(values[i], key + beside + i % 2 + i / 2 * 8);
            missing = false;
#pragma unroll
            for (int c = 0; c < D / CHUNK; c++) {
#pragma unroll
                for (int i = 0; i < 2; i++) missing |= is_missing(q[c][i]) || is_missing(k[i][c]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int w = 0; w < Source::WORDS; w++) missing |= is_missing(values[i][w]);
            }
            missing &= waits;
            if (missing) look_again();
        } while (missing);
        __syncwarp();
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) s[n][e] = 0;
#pragma unroll
            for (int c = 0; c < D / CHUNK; c++) multiply(s[n], q[c][0], q[c][1], k[n][c], T());
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float v = s[n][e] * factor;
                if (heads.mask != nullptr) v += to_compute(masks[n][e]);
                s[n][e] = key + n * 8 + own * 2 + e % 2 < heads.keys ? v : -TENON_INFINITY;
                most[e / 2] = peak(most[e / 2], s[n][e]);
            }
        }
    }

    // Weights in the place of scores; their sums, and what they make of the values.
    __device__ __forceinline__ void weigh(float (&o)[D / 8][4], float (&total)[2], const Source& heads, const float (&most)[2], int left) {
        bool none[2] = {heads.none(most[0]), heads.none(most[1])};
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                s[n][e] = n * 8 + heads.own * 2 + e % 2 < left && !none[e / 2] ? exp_of(s[n][e] - most[e / 2]) : 0.0f;
                total[e / 2] += s[n][e];
            }
        }
        mix(o, T());
    }

    template <typename E>
    __device__ __forceinline__ void mix(float (&o)[D / 8][4], E) {
        u32 a[4] = {to_pair(s[0][0], s[0][1], E()), to_pair(s[0][2], s[0][3], E()), to_pair(s[1][0], s[1][1], E()), to_pair(s[1][2], s[1][3], E())};
#pragma unroll
        for (int j = 0; j < D / 8; j++) {
            u32 b[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                u32 low = values[2 * i][j / 2], high = values[2 * i + 1][j / 2];
                b[i] = j % 2 == 0 ? (low & 0xffffu) | high << 16 : low >> 16 | (high & 0xffff0000u);
            }
            mma_16816(o[j], a, b, E());
        }
    }

    __device__ __forceinline__ void mix(float (&o)[D / 8][4], float) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
            u32 a[4];
#pragma unroll
            for (int e = 0; e < 4; e++) a[e] = __float_as_uint(to_tf32(s[n][(e & 1) * 2 + e / 2]));
#pragma unroll
            for (int j = 0; j < D / 8; j++) {
                u32 b[2] = {tf32_bits(values[2 * n][j]), tf32_bits(values[2 * n + 1][j])};
                mma_1688_tf32(o[j], a, b);
            }
        }
    }
};

__device__ __forceinline__ float most_of_quad(float v) {
    v = peak(v, __shfl_xor_sync(0xffffffffu, v, 1));
    return peak(v, __shfl_xor_sync(0xffffffffu, v, 2));
}

__device__ __forceinline__ float sum_of_quad(float v) {
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

// The heads of a product's row tile, a warp a head, into its rows. A tile is a sequence of at most 16 tokens.
template <int D>
__device__ __forceinline__ void attend_rows(const Phase& p, const Block& block) {
    int warp = opaque(threadIdx.x) / 32, heads = p.k / D, wide = wide_row(p.k);
#pragma unroll 1
    for (int h = warp; h < heads; h += WARPS) {
        Heads<D> all(p, block.tile, heads, h);
        Turn<D, Heads<D>> turn;
        float most[2] = {-TENON_INFINITY, -TENON_INFINITY}, total[2] = {};
        float o[D / 8][4] = {};
        turn.score(all, most, p, 0, 0);
#pragma unroll
        for (int i = 0; i < 2; i++) most[i] = most_of_quad(most[i]);
        turn.weigh(o, total, all, most, p.keys);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float share = 1.0f / all.divisor(sum_of_quad(total[i]));
            Pack<T, D / 4> pack;  // columns 2t and 2t + 1: neighbours in the head
#pragma unroll
            for (int n = 0; n < D / 4; n++) pack.at[n] = as_operand(o[n % (D / 8)][2 * i + n / (D / 8)] * share, T());
            store_pack<T, D / 4>(block.rows + (all.quad + i * 8) * wide + h * D, all.own, pack);
        }
    }
}

// A phase of its own: a block takes 16 queries of a head, a warp 16 of at most 256 keys.
template <int D>
__device__ __forceinline__ void attend(const Phase& p, const Block& block) {
    int warp = opaque(threadIdx.x) / 32, heads = p.n;
    int tiles = (p.keys + TILE - 1) / TILE, items = p.rows / p.keys * heads * tiles;
    int active = tiles;
    float* peaks = block.cells;             // [warps, 16]
    float* totals = peaks + WARPS * TILE;   // [warps, 16]
    float* sums = totals + WARPS * TILE;    // [active warps, 16, D]
#pragma unroll 1
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        int tile = item % tiles, head = item / tiles % heads, batch = item / tiles / heads;
        Heads<D> all(p, batch, heads, head);
        Turn<D, Heads<D>> turn;
        float most[2] = {-TENON_INFINITY, -TENON_INFINITY}, total[2] = {};
        float o[D / 8][4] = {};
        if (warp < active) turn.score(all, most, p, tile * TILE, warp * KEYS);
        __syncthreads();  // all have read the cells
#pragma unroll
        for (int i = 0; i < 2; i++) {
            most[i] = most_of_quad(most[i]);
            if (all.own == 0) peaks[warp * TILE + all.quad + i * 8] = most[i];
        }
        __syncthreads();
        for (int other = 0; other < active; other++) {
#pragma unroll
            for (int i = 0; i < 2; i++) most[i] = peak(most[i], peaks[other * TILE + all.quad + i * 8]);
        }
        if (warp < active) {
            turn.weigh(o, total, all, most, p.keys - warp * KEYS);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int row = all.quad + i * 8;
                total[i] = sum_of_quad(total[i]);
                if (all.own == 0) totals[warp * TILE + row] = total[i];
                Pack<float, D / 4> pack;
#pragma unroll
                for (int n = 0; n < D / 4; n++) pack.at[n] = o[n % (D / 8)][2 * i + n / (D / 8)];
                store_pack<float, D / 4>(sums + (warp * TILE + row) * D, all.own, pack);
            }
        }
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x * PAIR; i < TILE * D; i += THREADS * PAIR) {
            int row = i / D, token = tile * TILE + row;
            if (token >= p.keys) continue;
            float sum[PAIR] = {}, whole = 0;
#pragma unroll 1
            for (int other = 0; other < active; other++) {
#pragma unroll
                for (int e = 0; e < PAIR; e++) sum[e] += sums[other * TILE * D + i + e];
                whole += totals[other * TILE + row];
            }
            float share = all.divisor(whole);
#pragma unroll
            for (int e = 0; e < PAIR; e++) sum[e] /= share;
            store_handed(reinterpret_cast<u32*>(static_cast<T*>(p.y) + (static_cast<i64>(batch * p.keys + token) * heads + head) * D + i % D), pack_word(sum, T()));
        }
    }
}
#endif
