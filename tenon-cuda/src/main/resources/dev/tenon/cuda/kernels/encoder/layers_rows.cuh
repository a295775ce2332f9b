// What blocks of layers.cu make of sums: queries, keys and values, what these see, what others read, and norms of rows.
#pragma once
#include "layers.cuh"

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// What the tile's queries of a head see, to `mixed`. All warps of the block.
__device__ __forceinline__ void attend_tile(const Tile& tile, float* cells) {
    int warp = threadIdx.x / 32;
    int active = tile.handed == nullptr ? 1 : (tile.keys + KEYS - 1) / KEYS;
    TileTurn turn;
    float most[2] = {}, total[2] = {};
    float o[HEAD / 8][4] = {};
    if (active == 1 && warp > 0) return;
    if (warp < active) turn.look(tile, most, warp * KEYS);
    if (active == 1) {
        turn.weigh(o, total, tile, most, KEYS);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float share = 1.0f / tile.divisor(sum_of_quad(total[i]));
            int row = tile.quad + i * 8;
            if (row >= tile.rows) continue;
#pragma unroll
            for (int n = 0; n < HEAD / 4; n += 4) {  // columns 2t and 2t + 1: neighbours in the head
                float v[4];
#pragma unroll
                for (int e = 0; e < 4; e++) v[e] = o[(n + e) % (HEAD / 8)][2 * i + (n + e) / (HEAD / 8)] * share;
                hand_on<4>(tile.mixed + row * tile.stride + tile.own * (HEAD / 4) + n, v);
            }
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
        if (row >= tile.rows) continue;
        float v[2] = {}, whole = 0;
#pragma unroll 4
        for (int other = 0; other < active; other++) {
            float2 part = *reinterpret_cast<const float2*>(sums + other * TILE * HEAD + i * 2);
            v[0] += part.x, v[1] += part.y;
            whole += totals[other * TILE + row];
        }
        float share = 1.0f / tile.divisor(whole);
        v[0] *= share, v[1] *= share;
        hand_on<2>(tile.mixed + row * tile.stride + i * 2 % HEAD, v);
    }
}

// Sums of a head's columns become queries, keys and values; those that others need go out.
__device__ __forceinline__ void finish_heads(const Encoder& e, const Place& place, const float* cells, const T* bias, T* own, T* handed) {
#pragma unroll 1
    for (int i = threadIdx.x; i < 3 * HEAD * TILE / 4; i += MEMBERS) {
        int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * 4, part = column / HEAD, within = column % HEAD;
        float v[4];
        add_parts<4>(v, cells, CREW / GROUPS, i);
        Pack<T, 4> add = load_pack<T, 4>(bias, column / 4);
#pragma unroll
        for (int c = 0; c < 4; c++) v[c] = row < place.rows ? v[c] + to_compute(add.at[c]) : 0.0f;
        auto words = pack_four(v, T());
        if (handed != nullptr && part > 0) {
            if (row < place.rows) store_handed(reinterpret_cast<decltype(words)*>(handed + ((part - 1) * static_cast<i64>(e.rows) + place.first + row) * HEAD + within), words);
        } else {
            *reinterpret_cast<decltype(words)*>(own + (part * TILE + row) * WIDE_HEAD + within) = words;
        }
    }
}

// Sums become what the second product of the feed-forward reads.
__device__ __forceinline__ void finish_up(const Layer& layer, const Encoder& e, const Place& place, const float* cells, const T* bias, T* middle) {
    int share = e.inner / BLOCKS, fn = layer.fn;
#pragma unroll 1
    for (int i = threadIdx.x; i < share * TILE / 4; i += MEMBERS) {
        int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * 4;
        float v[4];
        add_parts<4>(v, cells, CREW / GROUPS, i);
        Pack<T, 4> add = load_pack<T, 4>(bias, column / 4);
#pragma unroll
        for (int c = 0; c < 4; c++) v[c] += to_compute(add.at[c]);
        if (fn == FN_GELU) {
#pragma unroll
            for (int c = 0; c < 4; c++) v[c] = ShortFn<T, FN_GELU>::of(v[c], 0, 0);
        } else if (fn != 0) {
#pragma unroll 1
            for (int c = 0; c < 4; c++) v[c] = unary_fn_call(fn, v[c], layer.alpha, 0.0f);
        }
        if (row < place.rows) hand_on<4>(middle + static_cast<i64>(place.first + row) * e.inner + place.rank * share + column, v);
    }
}

// Sums, bias and residual become what the next norm reads.
__device__ __forceinline__ void finish_sums(const Encoder& e, const Place& place, const float* cells, int splits, const T* bias, T* to) {
#pragma unroll 1
    for (int i = threadIdx.x; i < place.share * TILE / 2; i += MEMBERS) {
        int row = i % 64 / 4, column = i / 64 * COLUMNS + i % 4 * 2;
        float v[2];
        add_parts<2>(v, cells, splits, i);
        Pack<T, 2> add = load_pack<T, 2>(bias, column / 2);
        float2 residual = *reinterpret_cast<const float2*>(place.kept + row * place.share + column);
        v[0] += to_compute(add.at[0]) + residual.x;
        v[1] += to_compute(add.at[1]) + residual.y;
        if (row >= place.rows) continue;
        T* at = to + static_cast<i64>(place.first + row) * e.hidden + place.rank * place.share + column;
        auto words = pack_two(v, T());
        store_handed(reinterpret_cast<decltype(words)*>(at), words);
    }
}

// What makes a norm; scale is null where rows are taken as they are.
struct Norm {
    const T *x, *scale, *shift;
    float epsilon;
    bool waits;  // x is what blocks hand to one another
    void* y;     // the result of this launch, or null
};

// The norms of a tile's rows, to shared memory; two rows a warp. The block's own columns are kept.
__device__ __forceinline__ void norm_tile(const Encoder& e, const Place& place, const Norm& norm) {
    typedef typename Access<T>::type Words;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, packs = e.hidden / FOUR;
    const Words* from = reinterpret_cast<const Words*>(norm.x + static_cast<i64>(place.first + warp) * e.hidden) + lane;
    bool there[2] = {warp < place.rows, warp + CREW < place.rows};
    Words own[2][NORM_PACKS];
    bool missing;
#pragma unroll 1
    do {
        missing = false;
#pragma unroll
        for (int r = 0; r < 2; r++) {
#pragma unroll
            for (int c = 0; c < NORM_PACKS; c++) {
                if (32 * c >= packs) break;
                own[r][c] = {};
                if (there[r] && lane + 32 * c < packs) own[r][c] = load_handed(from + r * CREW * packs + 32 * c);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
#pragma unroll
            for (int c = 0; c < NORM_PACKS; c++) {
                if (32 * c >= packs) break;
                missing |= is_missing(own[r][c]);
            }
        }
        missing &= norm.waits;
        if (missing) look_again();
    } while (missing);
    __syncwarp();
    float mean[2] = {}, by[2] = {1, 1};
    if (norm.scale != nullptr) {
        float share = fast_reciprocal(static_cast<float>(e.hidden)), squares[2] = {};
#pragma unroll
        for (int r = 0; r < 2; r++) {
#pragma unroll
            for (int c = 0; c < NORM_PACKS; c++) {
                if (32 * c >= packs) break;
                Pack<T, FOUR> pack = *reinterpret_cast<Pack<T, FOUR>*>(&own[r][c]);
#pragma unroll
                for (int i = 0; i < FOUR; i++) mean[r] += to_compute(pack.at[i]);
            }
        }
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
#pragma unroll
            for (int r = 0; r < 2; r++) mean[r] += __shfl_xor_sync(0xffffffffu, mean[r], apart);
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            mean[r] *= share;
#pragma unroll
            for (int c = 0; c < NORM_PACKS; c++) {
                if (32 * c >= packs) break;
                Pack<T, FOUR> pack = *reinterpret_cast<Pack<T, FOUR>*>(&own[r][c]);
#pragma unroll
                for (int i = 0; i < FOUR; i++) {
                    float off = lane + 32 * c < packs ? to_compute(pack.at[i]) - mean[r] : 0.0f;
                    squares[r] = fmaf(off, off, squares[r]);
                }
            }
        }
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
#pragma unroll
            for (int r = 0; r < 2; r++) squares[r] += __shfl_xor_sync(0xffffffffu, squares[r], apart);
        }
#pragma unroll
        for (int r = 0; r < 2; r++) by[r] = fast_reciprocal(sqrtf(squares[r] * share + norm.epsilon));
    }
    int wide = wide_row(e.hidden), begin = place.rank * place.share;
#pragma unroll
    for (int c = 0; c < NORM_PACKS; c++) {
        if (32 * c >= packs) break;
        int at = lane + 32 * c, column = at * FOUR;
        if (at >= packs) continue;
        Pack<T, FOUR> factors = {}, addends = {};
        if (norm.scale != nullptr) {
            factors = load_pack<T, FOUR>(norm.scale, at);
            addends = load_pack<T, FOUR>(norm.shift, at);
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            int row = warp + r * CREW;
            Pack<T, FOUR> pack = *reinterpret_cast<Pack<T, FOUR>*>(&own[r][c]);
            float v[FOUR];
#pragma unroll
            for (int i = 0; i < FOUR; i++) {
                v[i] = to_compute(pack.at[i]);
                if (norm.scale != nullptr) v[i] = fmaf((v[i] - mean[r]) * by[r], to_compute(factors.at[i]), to_compute(addends.at[i]));
                if (!there[r]) v[i] = 0;
            }
            Words words = pack_four(v, T());
            if (norm.y != nullptr) {
                if (row != place.rank || !there[r]) continue;
                i64 to = static_cast<i64>(place.first + row) * e.hidden;
                if (e.wide) {
                    *reinterpret_cast<float4*>(static_cast<float*>(norm.y) + to + column) = make_float4(v[0], v[1], v[2], v[3]);
                } else {
                    *reinterpret_cast<Words*>(static_cast<T*>(norm.y) + to + column) = words;
                }
                continue;
            }
            *reinterpret_cast<Words*>(place.row_tile + row * wide + column) = as_operands(words, T());
            if (column >= begin && column < begin + place.share) {
                *reinterpret_cast<float4*>(place.kept + row * place.share + column - begin) = make_float4(v[0], v[1], v[2], v[3]);
            }
        }
    }
}
#endif
