// Attention within a kernel of clusters: 16 queries of a head by one block. Of a sequence that is longer than a tile, keys and values come from the
// blocks of other clusters that have the same head, as words that are looked at until they are there.
#pragma once
#include "clustered.cuh"

#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
// Where a tile's queries, keys and values are; used as Heads of resident_attention.cuh is.
struct Tile : Masked {
    static constexpr int WORDS = Heads<HEAD>::WORDS;

    const T* mine;    // [3, 16, WIDE_HEAD] in shared memory
    const T* handed;  // keys of the sequence [keys, HEAD], or null
    i64 values;       // elements from keys to values there
    int first;        // of the tile's tokens in the sequence
    bool waits;

    __device__ __forceinline__ Tile(const Layer& layer, const Encoder& e, const T* qkv, const T* from, int tile, int head)
        : Masked(layer.mask, layer.mask_dims, layer.factor, e.keys, tile * TILE / e.keys, e.heads, head) {
        int start = tile * TILE / e.keys * e.keys;
        mine = qkv;
        handed = from == nullptr ? nullptr : from + static_cast<i64>(start) * HEAD;
        values = static_cast<i64>(e.rows) * HEAD;
        first = tile * TILE - start;
        waits = handed != nullptr;
    }

    __device__ __forceinline__ uint4 load(int part, int token, int chunk) const {
        if (part == 0 || handed == nullptr) return *reinterpret_cast<const uint4*>(mine + (part * TILE + token - first) * WIDE_HEAD + chunk * CHUNK + own * V);
        if (token >= keys) return make_uint4(0, 0, 0, 0);
        return load_handed(reinterpret_cast<const uint4*>(handed + token * HEAD + chunk * CHUNK + own * V));
    }

    __device__ __forceinline__ void load_value(u32 (&to)[WORDS], int token) const {
        bool there = token < keys;
        const T* from = handed == nullptr ? mine + (2 * TILE + token - first) * WIDE_HEAD : handed + values + token * HEAD;
        from += quad * (HEAD / 8);
        if constexpr (WORDS == 2) {
            uint2 v = make_uint2(0, 0);
            if (handed == nullptr) {
                v = *reinterpret_cast<const uint2*>(from);
            } else if (there) {
                v = load_handed(reinterpret_cast<const uint2*>(from));
            }
            to[0] = v.x;
            to[1] = v.y;
        } else {
#pragma unroll
            for (int i = 0; i < WORDS / 4; i++) {
                uint4 v = make_uint4(0, 0, 0, 0);
                if (handed == nullptr) {
                    v = reinterpret_cast<const uint4*>(from)[i];
                } else if (there) {
                    v = load_handed(reinterpret_cast<const uint4*>(from) + i);
                }
                to[4 * i] = v.x;
                to[4 * i + 1] = v.y;
                to[4 * i + 2] = v.z;
                to[4 * i + 3] = v.w;
            }
        }
    }
};

// Into `mixed` [16, WIDE_HEAD], as operands: what the tile's queries of a head see. All warps of the block.
__device__ __forceinline__ void attend_tile(const Layer& layer, const Encoder& e, const T* qkv, const T* handed, T* mixed, float* cells, int tile, int head) {
    int warp = opaque(threadIdx.x) / 32;
    int active = handed == nullptr ? 1 : (e.keys + KEYS - 1) / KEYS;
    Tile all(layer, e, qkv, handed, tile, head);
    Turn<HEAD, Tile> turn;
    float most[2] = {-TENON_INFINITY, -TENON_INFINITY}, total[2] = {};
    float o[HEAD / 8][4] = {};
    if (warp < active) {
        if (handed != nullptr) {  // words are NOT_YET or there
            if (threadIdx.x % 32 == 0) wait_until(e.counters, gridDim.x);
            __syncwarp();
        }
        turn.score(all, most, all.first, handed == nullptr ? all.first : warp * KEYS);
#pragma unroll
        for (int i = 0; i < 2; i++) most[i] = most_of_quad(most[i]);
    }
    if (active == 1) {
        if (warp > 0) return;
        turn.weigh(o, total, all, most, e.keys);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float share = 1.0f / all.divisor(sum_of_quad(total[i]));
            Pack<T, HEAD / 4> pack;  // columns 2t and 2t + 1: neighbours in the head
#pragma unroll
            for (int n = 0; n < HEAD / 4; n++) pack.at[n] = as_operand(o[n % (HEAD / 8)][2 * i + n / (HEAD / 8)] * share, T());
            store_pack<T, HEAD / 4>(mixed + (all.quad + i * 8) * WIDE_HEAD, all.own, pack);
        }
        return;
    }
    float* peaks = cells;                  // [warps, 16]
    float* totals = peaks + WARPS * TILE;  // [warps, 16]
    float* sums = totals + WARPS * TILE;   // [active warps, 16, HEAD]
    if (warp < active) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (all.own == 0) peaks[warp * TILE + all.quad + i * 8] = most[i];
        }
    }
    __syncthreads();
    if (warp < active) {
#pragma unroll 1
        for (int other = 0; other < active; other++) {
#pragma unroll
            for (int i = 0; i < 2; i++) most[i] = peak(most[i], peaks[other * TILE + all.quad + i * 8]);
        }
        turn.weigh(o, total, all, most, e.keys - warp * KEYS);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int row = all.quad + i * 8;
            total[i] = sum_of_quad(total[i]);
            if (all.own == 0) totals[warp * TILE + row] = total[i];
            Pack<float, HEAD / 4> pack;
#pragma unroll
            for (int n = 0; n < HEAD / 4; n++) pack.at[n] = o[n % (HEAD / 8)][2 * i + n / (HEAD / 8)];
            store_pack<float, HEAD / 4>(sums + (warp * TILE + row) * HEAD, all.own, pack);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < TILE * HEAD; i += THREADS) {
        int row = i / HEAD;
        float sum = 0, whole = 0;
#pragma unroll 4
        for (int other = 0; other < active; other++) {
            sum += sums[other * TILE * HEAD + i];
            whole += totals[other * TILE + row];
        }
        mixed[row * WIDE_HEAD + i % HEAD] = as_operand(sum / all.divisor(whole), T());
    }
}
#endif
