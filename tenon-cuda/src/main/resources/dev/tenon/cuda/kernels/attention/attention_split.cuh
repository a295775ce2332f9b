// Attention of few queries with keys in shares: what attention_decode.cu and its form for sequences of their own lengths share. Launch, shared
// memory and variants are in attention_decode.cu.
#pragma once
#include "attention_rows.cuh"
#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
#include "attention_fragments.cuh"
#endif

typedef TENON_T T;
constexpr int D = TENON_D;
constexpr int WARPS = TENON_WARPS;
constexpr int STAGES = TENON_STAGES;
constexpr int THREADS = 32 * WARPS;
constexpr int ROWS = 16;
constexpr int KEYS = 16;
constexpr int PART = ROWS * (D + 2);  // sums, then tops in powers of 2, then totals
constexpr bool KEPT = D * static_cast<int>(sizeof(T)) <= 256;

#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
typedef Fragments<T, D, 1, KEPT> Frag;
constexpr int STRIDE = Frag::STRIDE;
constexpr int PACK = Widest<T>::value;

struct Decode {
    Heads<const T> qs;
    Heads<const T> ks;
    Heads<const T> vs;
    Heads<T> ys;
    int group;
    int queries;
    int d;
    int dv;
    float scale;
    bool plain;
    bool packed;
#if TENON_RAGGED
    int tiles;  // of a key head: as many as the longest sequence has
#endif
};

// A warp copies 16 rows of keys or values; what lies beyond the last row or element is 0.
__device__ __forceinline__ void fetch(T (*to)[STRIDE], const Heads<const T>& of, i64 b, i64 h, i64 from, i64 end, int d, bool packed) {
    constexpr int PACKS = D / PACK;
    int lane = threadIdx.x % 32;
    const T* base = of.row(b, from, h);
    int left = static_cast<int>(end - from < KEYS ? end - from : KEYS);
    if (packed) {
#if TENON_RAGGED
#pragma unroll 1  // a row of a page takes a division and its number
#else
#pragma unroll
#endif
        for (int i = lane; i < KEYS * PACKS; i += 32) {
            int r = i / PACKS;
            int c = i % PACKS * PACK;
            bool there = r < left && c < d;
            copy_async_16_if(&to[r][c], there ? of.below(base, from, r, h) + c : of.at, there);
        }
    } else {
#pragma unroll 1
        for (int i = lane; i < KEYS * D; i += 32) {
            int r = i / D;
            int c = i % D;
            to[r][c] = r < left && c < d ? of.below(base, from, r, h)[c] : From<T>::of(0.0f);
        }
    }
}

// Weights of parts, relative to the largest top of their row, into shared memory, [row][part]; the rows' totals and tops behind them.
__device__ __forceinline__ void weigh_parts(const float* parts, int count, int rows, float* weights) {
    int lane = threadIdx.x % 32;
    for (int row = threadIdx.x / 32; row < rows; row += WARPS) {
        const float* tops = parts + ROWS * D + row;
        float top = -TENON_INFINITY;
        for (int i = lane; i < count; i += 32) top = fmaxf(top, tops[static_cast<i64>(i) * PART]);
        for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
        float base = top == -TENON_INFINITY ? 0.0f : top;
        float total = 0;
        for (int i = lane; i < count; i += 32) {
            float weight = fast_exp2(tops[static_cast<i64>(i) * PART] - base);
            weights[row * count + i] = weight;
            total += weight * tops[static_cast<i64>(i) * PART + ROWS];
        }
        for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
        if (lane == 0) {
            weights[ROWS * count + row] = total;
            weights[ROWS * count + ROWS + row] = top;
        }
    }
    __syncthreads();
}

// Four columns of a row from all parts.
__device__ __forceinline__ Pack<float, 4> sum_parts(const float* parts, int count, int row, int column, const float* weights) {
    Pack<float, 4> sum = {};
    const float* from = parts + row * D + column;
#pragma unroll 8
    for (int i = 0; i < count; i++) {
        Pack<float, 4> one = *reinterpret_cast<const Pack<float, 4>*>(from + static_cast<i64>(i) * PART);
        float weight = weights[row * count + i];
#pragma unroll
        for (int e = 0; e < 4; e++) sum.at[e] += weight * one.at[e];
    }
    return sum;
}

// Stores the rows of a tile from their parts; those whose sums are NaN again by their definition.
__device__ __forceinline__ void store(const Decode& at, const Seen<T, float>& seen, const float* parts, int count, float* weights, i64 b,
                                      int key_head, int row0, int rows) {
    bool odd = false;
    weigh_parts(parts, count, rows, weights);
    for (int i = threadIdx.x; i < rows * (D / 4); i += THREADS) {
        int row = i / (D / 4);
        int column = i % (D / 4) * 4;
        if (column >= at.dv) continue;
        Pack<float, 4> sum = sum_parts(parts, count, row, column, weights);
        float total = seen.divisor(weights[ROWS * count + row]);
        i64 h = static_cast<i64>(key_head) * at.group + (row0 + row) / at.queries;
        T* to = at.ys.row(b, (row0 + row) % at.queries, h) + column;
        bool none = seen.keys == 0 || (total == 0.0f && !at.plain);
        float share = 1.0f / total;
        Pack<T, 4> out;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            float v = none ? 0.0f : sum.at[e] * share;
            odd = odd || (v != v && column + e < at.dv);
            out.at[e] = From<T>::of(v);
        }
        if (at.packed) {
            *reinterpret_cast<Pack<T, 4>*>(to) = out;
        } else {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                if (column + e < at.dv) to[e] = out.at[e];
            }
        }
    }
    if (!__syncthreads_or(odd && !at.plain)) return;
    for (int row = threadIdx.x / 32; row < rows; row += WARPS) {
        i64 h = static_cast<i64>(key_head) * at.group + (row0 + row) / at.queries;
        attend_row(at.qs, at.ks, at.vs, at.ys, seen, b, h, key_head, (row0 + row) % at.queries, at.d, at.dv, at.scale);
    }
}

// The sums of a warp over its share of the keys [begin, end).
__device__ __forceinline__ void attend(const Decode& at, const Seen<T, float>& seen, T (*own)[STRIDE], T (*ring)[STRIDE], float* part, i64 b,
                                       int key_head, int row0, int all_rows, i64 begin, i64 end) {
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    T(*const mine)[STRIDE] = ring + warp * STAGES * 2 * KEYS;
    i64 key = begin + warp * KEYS;
    i64 next = key;
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (next < end) {
            fetch(mine + i * 2 * KEYS, at.ks, b, key_head, next, end, at.d, at.packed);
            fetch(mine + i * 2 * KEYS + KEYS, at.vs, b, key_head, next, end, at.dv, at.packed);
        }
        copy_async_commit();
        next += WARPS * KEYS;
    }
    i64 heads[2];
    i64 queries[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int row = row0 + lane / 4 + i * 8;
        row = row < all_rows ? row : all_rows - 1;
        heads[i] = static_cast<i64>(key_head) * at.group + row / at.queries;
        queries[i] = row % at.queries;
    }
    Span highest(seen, 0);
    Span lowest(seen, seen.queries - 1);
    Scores<T> scores(seen, at.scale);
    Frag frag;
    frag.keep(own[0], lane);
    float o[1][D / 8][4] = {};
    Running<1> running;
    running.clear();
    int slot = 0;
    int last = STAGES - 1;
#pragma unroll 1
    for (; key < end; key += WARPS * KEYS) {
        if (next < end) {
            fetch(mine + last * 2 * KEYS, at.ks, b, key_head, next, end, at.d, at.packed);
            fetch(mine + last * 2 * KEYS + KEYS, at.vs, b, key_head, next, end, at.dv, at.packed);
        }
        copy_async_commit();
        next += WARPS * KEYS;
        copy_async_wait<STAGES - 1>();
        __syncwarp();
        const T(*const keys)[STRIDE] = mine + slot * 2 * KEYS;
        float s[1][KEYS / 8][4] = {};
        frag.template scores<KEYS>(s, own[0], keys[0], lane);
        bool whole = key >= lowest.low && key + KEYS - 1 <= highest.high;
        to_scores<KEYS / 8>(s[0], scores, nullptr, b, heads, queries, key, whole);
        float kept[1][2];
        bool moved = running.weigh(s, kept, scores.factor);
#pragma unroll
        for (int n = 0; moved && n < D / 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) o[0][n][e] *= kept[0][e / 2];
        }
        frag.template mix<KEYS>(o, s, keys[KEYS], lane);
        __syncwarp();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        last = last + 1 == STAGES ? 0 : last + 1;
    }
    copy_async_wait<0>();
    running.finish();
    __syncthreads();  // parts lie where keys and values were
    float* to = part + warp * PART;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int row = lane / 4 + i * 8;
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
            *reinterpret_cast<Pack<float, 2>*>(to + row * D + n * 8 + lane % 4 * 2) = {{o[0][n][2 * i], o[0][n][2 * i + 1]}};
        }
        if (lane % 4 == 0) {
            to[ROWS * D + row] = running.top[0][i];
            to[ROWS * D + ROWS + row] = running.total[0][i];
        }
    }
    __syncthreads();
}

__device__ __forceinline__ void decode(const Decode& at, const Seen<T, float>& seen, i64 batches, float* partial, u32* counters) {
    TENON_DYNAMIC_SHARED(T, dynamic);
    T(*const own)[STRIDE] = reinterpret_cast<T(*)[STRIDE]>(dynamic);
    T(*const ring)[STRIDE] = own + ROWS;
    float* parts = reinterpret_cast<float*>(ring);
    __shared__ bool last;
    release_successor();
    await_predecessor();
    int splits = gridDim.x;
    int all_rows = at.group * at.queries;
#if TENON_RAGGED
    int tiles = at.tiles;
#else
    int tiles = (all_rows + ROWS - 1) / ROWS;
#endif
    int key_head = static_cast<int>(blockIdx.y) / tiles;
    int row0 = static_cast<int>(blockIdx.y) % tiles * ROWS;
    if (TENON_RAGGED && row0 >= all_rows) return;
    int rows = all_rows - row0 < ROWS ? all_rows - row0 : ROWS;
    i64 first = seen.first(0) / KEYS * KEYS;
    i64 end = seen.end(seen.queries - 1);
    i64 chunks = end > first ? (end - first + WARPS * KEYS - 1) / (WARPS * KEYS) : 0;
    i64 each = (chunks >> 31 == 0 ? (static_cast<u32>(chunks) + splits - 1) / static_cast<u32>(splits) : (chunks + splits - 1) / splits) * (WARPS * KEYS);
    i64 begin = first + blockIdx.x * each;
    i64 stop = begin + each < end ? begin + each : end;
    for (i64 b = TENON_RAGGED ? 0 : blockIdx.z; b < batches; b += gridDim.z) {
        __syncthreads();
        for (int i = threadIdx.x; i < ROWS * (D / PACK); i += THREADS) {
            int r = i / (D / PACK);
            int c = i % (D / PACK) * PACK;
            int row = row0 + r;
            const T* from = at.qs.row(b, row % at.queries, static_cast<i64>(key_head) * at.group + row / at.queries) + c;
            Pack<T, PACK> pack;
            if (at.packed && r < rows && c < at.d) {
                pack = *reinterpret_cast<const Pack<T, PACK>*>(from);
            } else {
#pragma unroll
                for (int e = 0; e < PACK; e++) pack.at[e] = r < rows && c + e < at.d ? from[e] : From<T>::of(0.0f);
            }
            *reinterpret_cast<Pack<T, PACK>*>(&own[r][c]) = pack;
        }
        __syncthreads();
        attend(at, seen, own, ring, parts, b, key_head, row0, all_rows, begin, stop);
        if (splits == 1) {
            store(at, seen, parts, WARPS, parts + WARPS * PART, b, key_head, row0, rows);
            continue;
        }
        i64 tile = b * gridDim.y + blockIdx.y;
        float* to = partial + (tile * splits + blockIdx.x) * PART;
        float* weights = parts + WARPS * PART;
        weigh_parts(parts, WARPS, rows, weights);
        for (int i = threadIdx.x; i < rows * (D / 4); i += THREADS) {
            int row = i / (D / 4);
            int column = i % (D / 4) * 4;
            *reinterpret_cast<Pack<float, 4>*>(to + row * D + column) = sum_parts(parts, WARPS, row, column, weights);
        }
        for (int row = threadIdx.x; row < rows; row += THREADS) {
            to[ROWS * D + row] = weights[ROWS * WARPS + ROWS + row];
            to[ROWS * D + ROWS + row] = weights[ROWS * WARPS + row];
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) last = atomicAdd(counters + tile, 1u) + 1 == static_cast<u32>(splits);
        __syncthreads();
        if (!last) continue;
        __threadfence();
        if (threadIdx.x == 0) counters[tile] = 0;
        store(at, seen, partial + tile * splits * PART, splits, parts, b, key_head, row0, rows);
    }
}
#endif
