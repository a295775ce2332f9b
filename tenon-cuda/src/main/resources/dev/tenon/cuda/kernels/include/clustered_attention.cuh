// Attention within a kernel of clusters: 16 queries of a head by one block, a warp 16 keys. Of a sequence that is longer than a tile, keys and values come
// from the blocks of other clusters that have the same head, as words that are looked at until they are there.
#pragma once
#include "clustered.cuh"

#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
// Where a tile's queries, keys and values are, and what is added to scores.
struct Tile {
    static constexpr int WORDS = Heads<HEAD>::WORDS;

    const T* mine;       // [3, 16, WIDE_HEAD] in shared memory
    const float* masks;  // [16 or 1, line] there; -inf past the last key
    const T* handed;     // keys of the sequence [keys, HEAD], or null
    i64 values;          // elements from keys to values there
    int keys, line;      // tokens of the sequence; from a query's masks to the next, 0 where all have the same
    bool guarded;
    float factor;
    int quad, own;       // a lane's g and t

    __device__ __forceinline__ bool none(float most) const { return guarded && !(fabsf(most) < TENON_INFINITY); }

    __device__ __forceinline__ float divisor(float total) const { return guarded && total == 0.0f ? 1.0f : total; }

    __device__ __forceinline__ const uint4* query(int row, int chunk) const { return reinterpret_cast<const uint4*>(mine + row * WIDE_HEAD + chunk * CHUNK + own * V); }

    __device__ __forceinline__ uint4 key(int token, int chunk) const {
        if (handed == nullptr) return *query(TILE + token, chunk);
        if (token >= keys) return make_uint4(0, 0, 0, 0);
        return load_handed(reinterpret_cast<const uint4*>(handed + token * HEAD + chunk * CHUNK + own * V));
    }

    // A lane's neighbours of a value.
    __device__ __forceinline__ void value(u32 (&to)[WORDS], int token) const {
        if constexpr (WORDS == 2) {
            uint2 v = make_uint2(0, 0);
            if (handed == nullptr) {
                v = *reinterpret_cast<const uint2*>(mine + (2 * TILE + token) * WIDE_HEAD + quad * (HEAD / 8));
            } else if (token < keys) {
                v = load_handed(reinterpret_cast<const uint2*>(handed + values + token * HEAD + quad * (HEAD / 8)));
            }
            to[0] = v.x;
            to[1] = v.y;
        } else {
#pragma unroll
            for (int i = 0; i < WORDS / 4; i++) {
                uint4 v = make_uint4(0, 0, 0, 0);
                if (handed == nullptr) {
                    v = reinterpret_cast<const uint4*>(mine + (2 * TILE + token) * WIDE_HEAD + quad * (HEAD / 8))[i];
                } else if (token < keys) {
                    v = load_handed(reinterpret_cast<const uint4*>(handed + values + token * HEAD + quad * (HEAD / 8)) + i);
                }
                to[4 * i] = v.x;
                to[4 * i + 1] = v.y;
                to[4 * i + 2] = v.z;
                to[4 * i + 3] = v.w;
            }
        }
    }
};

struct TileTurn : Turn<HEAD, Tile> {
    // Scores of all queries with 16 keys; the largest joins `most`.
    __device__ __forceinline__ void look(const Tile& tile, float (&most)[2], int first) {
        uint4 k[2][HEAD / CHUNK];
        bool missing;
#pragma unroll 1
        do {
            missing = false;
#pragma unroll
            for (int n = 0; n < 2; n++) {
#pragma unroll
                for (int c = 0; c < HEAD / CHUNK; c++) k[n][c] = tile.key(first + tile.quad + n * 8, c);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) tile.value(values[i], first + tile.own * 2 + i % 2 + i / 2 * 8);
            if (tile.handed == nullptr) break;
#pragma unroll
            for (int n = 0; n < 2; n++) {
#pragma unroll
                for (int c = 0; c < HEAD / CHUNK; c++) missing |= is_missing(k[n][c]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int w = 0; w < Tile::WORDS; w++) missing |= is_missing(values[i][w]);
            }
            if (missing) look_again();
        } while (missing);
        __syncwarp();
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) s[n][e] = 0;
        }
#pragma unroll
        for (int c = 0; c < HEAD / CHUNK; c++) {
            uint4 low = *tile.query(tile.quad, c), high = *tile.query(tile.quad + 8, c);
#pragma unroll
            for (int n = 0; n < 2; n++) multiply(s[n], low, high, k[n][c], T());
        }
        const float* masks = tile.masks + tile.quad * tile.line + first + tile.own * 2;
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float2 add = *reinterpret_cast<const float2*>(masks + i * 8 * tile.line + n * 8);
                s[n][2 * i] = fmaf(s[n][2 * i], tile.factor, add.x);
                s[n][2 * i + 1] = fmaf(s[n][2 * i + 1], tile.factor, add.y);
                most[i] = peak(peak(most[i], s[n][2 * i]), s[n][2 * i + 1]);
            }
        }
#pragma unroll
        for (int i = 0; i < 2; i++) most[i] = most_of_quad(most[i]);
    }
};

// Into `mixed` [16, WIDE_HEAD], as operands: what the tile's queries of a head see. All warps of the block.
__device__ __forceinline__ void attend_tile(const Tile& tile, const u32* counters, T* mixed, float* cells) {
    int warp = threadIdx.x / 32;
    int active = tile.handed == nullptr ? 1 : (tile.keys + KEYS - 1) / KEYS;
    TileTurn turn;
    float most[2] = {-TENON_INFINITY, -TENON_INFINITY}, total[2] = {};
    float o[HEAD / 8][4] = {};
    if (active == 1 && warp > 0) return;
    if (warp < active) {
        if (tile.handed != nullptr) {  // words are NOT_YET or there
            if (threadIdx.x % 32 == 0) wait_until(counters, gridDim.x);
            __syncwarp();
        }
        turn.look(tile, most, warp * KEYS);
    }
    if (active == 1) {
        turn.weigh(o, total, tile, most, KEYS);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float share = 1.0f / tile.divisor(sum_of_quad(total[i]));
            Pack<T, HEAD / 4> pack;  // columns 2t and 2t + 1: neighbours in the head
#pragma unroll
            for (int n = 0; n < HEAD / 4; n++) pack.at[n] = as_operand(o[n % (HEAD / 8)][2 * i + n / (HEAD / 8)] * share, T());
            store_pack<T, HEAD / 4>(mixed + (tile.quad + i * 8) * WIDE_HEAD, tile.own, pack);
        }
        return;
    }
    float* peaks = cells;                 // [warps, 16]
    float* totals = peaks + CREW * TILE;  // [warps, 16]
    float* sums = totals + CREW * TILE;   // [active warps, 16, HEAD]
    if (warp < active && tile.own == 0) {
#pragma unroll
        for (int i = 0; i < 2; i++) peaks[warp * TILE + tile.quad + i * 8] = most[i];
    }
    __syncthreads();
    if (warp < active) {
#pragma unroll 1
        for (int other = 0; other < active; other++) {
#pragma unroll
            for (int i = 0; i < 2; i++) most[i] = peak(most[i], peaks[other * TILE + tile.quad + i * 8]);
        }
        turn.weigh(o, total, tile, most, KEYS);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int row = tile.quad + i * 8;
            total[i] = sum_of_quad(total[i]);
            if (tile.own == 0) totals[warp * TILE + row] = total[i];
            Pack<float, HEAD / 4> pack;
#pragma unroll
            for (int n = 0; n < HEAD / 4; n++) pack.at[n] = o[n % (HEAD / 8)][2 * i + n / (HEAD / 8)];
            store_pack<float, HEAD / 4>(sums + (warp * TILE + row) * HEAD, tile.own, pack);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < TILE * HEAD / 2; i += MEMBERS) {
        int row = i * 2 / HEAD;
        float x = 0, y = 0, whole = 0;
#pragma unroll 4
        for (int other = 0; other < active; other++) {
            float2 v = *reinterpret_cast<const float2*>(sums + other * TILE * HEAD + i * 2);
            x += v.x, y += v.y;
            whole += totals[other * TILE + row];
        }
        float share = 1.0f / tile.divisor(whole);
        Pack<T, 2> pack;
        pack.at[0] = as_operand(x * share, T());
        pack.at[1] = as_operand(y * share, T());
        store_pack<T, 2>(mixed + row * WIDE_HEAD, i % (HEAD / 2), pack);
    }
}
#endif
