// Attention by tiles of queries and of keys on tensor cores: what attention_mma.cu and its form for sequences of their own lengths share. Launch,
// shared memory and variants are in attention_mma.cu.
#pragma once
#include "attention_rows.cuh"
#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
#include "attention_fragments.cuh"
#endif

typedef TENON_T T;
constexpr int D = TENON_D;
constexpr int WARPS = TENON_WARPS;
constexpr int THREADS = 32 * WARPS;
constexpr int ROWS = TENON_ROWS;
constexpr int QUERIES = 16 * WARPS * ROWS;
constexpr int KEYS = TENON_KEYS;
constexpr int BLOCKS = TENON_BLOCKS;  // of a multiprocessor, by registers
constexpr bool KEPT = D * ROWS * static_cast<int>(sizeof(T)) <= 256;

#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
typedef Fragments<T, D, ROWS, KEPT> Frag;
constexpr int STRIDE = Frag::STRIDE;
// Totals of weights by a product with ones: eight instructions instead of 64, where registers are left for them.
constexpr bool SUMMED = sizeof(T) == 2 && D <= 64;

// COUNT rows of a head from `from` on; what lies beyond the last row or element is 0.
template <int COUNT>
__device__ __forceinline__ void fetch(T (*to)[STRIDE], const Heads<const T>& of, i64 b, i64 h, i64 from, i64 rows, int d, bool packed) {
    constexpr int PACK = Widest<T>::value;
    constexpr int PACKS = D / PACK;
    constexpr int DOWN = THREADS / PACKS;
    const T* base = of.row(b, from, h);
    int left = static_cast<int>(rows - from < COUNT ? rows - from : COUNT);
    if (!TENON_RAGGED && packed && THREADS % PACKS == 0 && COUNT % DOWN == 0) {  // a thread keeps its column
        int row = threadIdx.x / PACKS;
        int c = threadIdx.x % PACKS * PACK;
        const T* source = base + row * of.token + c;
        i64 step = DOWN * of.token;
        T* target = &to[row][c];
        if (left == COUNT && d == D) {
#pragma unroll
            for (int i = 0; i < COUNT / DOWN; i++) {
                copy_async_16(target + i * DOWN * STRIDE, source);
                source += step;
            }
            return;
        }
        left = c < d ? left - row : 0;
#pragma unroll
        for (int i = 0; i < COUNT / DOWN; i++) {
            bool there = i * DOWN < left;
            copy_async_16_if(target + i * DOWN * STRIDE, there ? source : of.at, there);
            source += step;
        }
    } else if (packed) {
#pragma unroll 1
        for (int i = threadIdx.x; i < COUNT * PACKS; i += THREADS) {
            int r = i / PACKS;
            int c = i % PACKS * PACK;
            bool there = r < left && c < d;
            copy_async_16_if(&to[r][c], there ? of.below(base, from, r, h) + c : of.at, there);
        }
    } else {
#pragma unroll 1
        for (int i = threadIdx.x; i < COUNT * D; i += THREADS) {
            int r = i / D;
            int c = i % D;
            to[r][c] = r < left && c < d ? of.below(base, from, r, h)[c] : From<T>::of(0.0f);
        }
    }
}

struct Problem {
    Heads<const T> qs;
    Heads<const T> ks;
    Heads<const T> vs;
    Heads<T> ys;
    int d;
    int dv;
    float scale;
    bool plain;
    bool packed;
};

// A row's results one by one, of which this lane has two of each 8. Whether one is NaN.
template <typename F>
__device__ __forceinline__ bool store_each(T* to, bool there, int dv, F result) {
    bool odd = false;
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int c = n * 8 + threadIdx.x % 4 * 2 + e;
            if (!there || c >= dv) continue;
            float one = result(n, e);
            odd = odd || one != one;
            to[c] = From<T>::of(one);
        }
    }
    return odd;
}

// Stores a warp's rows; those whose sums are NaN again by their definition.
__device__ __forceinline__ void store(const Problem& at, const Seen<T, float>& seen, float (&o)[ROWS][D / 8][4], const Running<ROWS>& running,
                                      i64 b, i64 h, i64 key_head, i64 first) {
    int lane = threadIdx.x % 32;
    bool odd = false;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            i64 row = first + r * 16 + i * 8 + lane / 4;
            float total = seen.divisor(running.total[r][i]);
            bool none = seen.keys == 0 || (total == 0.0f && !at.plain);
            float share = none ? 0.0f : 1.0f / total;
            auto result = [&](int n, int e) { return none ? 0.0f : o[r][n][2 * i + e] * share; };
            T* to = at.ys.row(b, row, h);
            bool there = row < seen.queries;
            bool found;
            if constexpr (sizeof(T) == 2) {
                found = at.packed ? store_packed<D>(to, there, at.dv, result) : store_each(to, there, at.dv, result);
            } else {
                found = store_each(to, there, at.dv, result);
            }
            odd = odd || found;
        }
    }
    if (at.plain || !__any_sync(0xffffffffu, odd)) return;
    __syncwarp();
#pragma unroll 1
    for (i64 row = first; row < first + 16 * ROWS && row < seen.queries; row++) {
        attend_row(at.qs, at.ks, at.vs, at.ys, seen, b, h, key_head, row, at.d, at.dv, at.scale);
    }
}

// A block's tile of queries, and its head.
struct Turn {
    u32 tile;
    u32 head;
};

// Causal tiles that see most first, those of some heads together: blocks that run at the same time share keys and values in the second cache. As many
// heads as have 32 MB of them, but eight at least: where heads come one group after another the last group's longest tiles end late.
__device__ __forceinline__ Turn turn(const Seen<T, float>& seen, const Problem& at, int group) {
    u32 tiles = gridDim.x;
    u32 heads = gridDim.y;
    if (!seen.causal) return {blockIdx.x, blockIdx.y};
    if (TENON_RAGGED) return {tiles - 1 - blockIdx.x, blockIdx.y};
    i64 fit = (i64(32) << 20) * group / (seen.keys * (at.d + at.dv) * static_cast<i64>(sizeof(T)) + 1);
    u32 most = fit < 8 ? 8 : fit < heads ? static_cast<u32>(fit) : heads;
    u32 groups = (heads + most - 1) / most;
    u32 each = (heads + groups - 1) / groups;
    u32 rank = blockIdx.y * tiles + blockIdx.x;
    u32 from = rank / (tiles * each) * each;
    u32 within = rank - from * tiles;
    u32 here = heads - from < each ? heads - from : each;
    return {tiles - 1 - within / here, from + within % here};
}

__device__ __forceinline__ void attend(const Problem& at, const Seen<T, float>& seen, i64 batches, int group) {
    TENON_DYNAMIC_SHARED(T, dynamic);
    T(*const own)[STRIDE] = reinterpret_cast<T(*)[STRIDE]>(dynamic);
    T(*const keys)[STRIDE] = own + QUERIES;  // of this tile and the next, as values and masks
    T(*const values)[STRIDE] = keys + 2 * KEYS;
    float(*const masks)[KEYS] = reinterpret_cast<float(*)[KEYS]>(values + 2 * KEYS);
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    Turn block = turn(seen, at, group);
    i64 h = block.head;
    i64 key_head = block.head / static_cast<u32>(group);
    i64 first = static_cast<i64>(block.tile) * QUERIES;
    i64 last = first + QUERIES - 1 < seen.queries - 1 ? first + QUERIES - 1 : seen.queries - 1;
    i64 warp_first = first + warp * 16 * ROWS;
    i64 warp_last = warp_first + 16 * ROWS - 1 < last ? warp_first + 16 * ROWS - 1 : last;
    Scores<T> scores(seen, at.scale);
    bool staged = seen.kind == MASK_ADDED && seen.mask_query == 0;
    i64 start = seen.first(first) / KEYS * KEYS;
    auto tiles_to = [&](i64 key) { return key > start ? static_cast<int>((key - start + KEYS - 1) / KEYS) : 0; };
    int tiles = tiles_to(seen.end(last));
    // of which this warp sees those before `mine`, and all its rows see those in [whole, edge)
    int mine = warp_first <= last ? tiles_to(seen.end(warp_last)) : 0;
    int whole = tiles_to(Span(seen, warp_last).low);
    i64 high = Span(seen, warp_first).high + 1 - start;
    int edge = high > 0 ? static_cast<int>(high / KEYS) : 0;
    for (i64 b = TENON_RAGGED ? 0 : blockIdx.z; b < batches; b += gridDim.z) {
        auto fetch_tile = [&](int tile, int stage) {
            i64 key = start + static_cast<i64>(tile) * KEYS;
            fetch<KEYS>(keys + stage * KEYS, at.ks, b, key_head, key, seen.keys, at.d, at.packed);
            if (staged && threadIdx.x < KEYS) masks[stage][threadIdx.x] = mask_of_key(seen, b, h, key + threadIdx.x);
            fetch<KEYS>(values + stage * KEYS, at.vs, b, key_head, key, seen.keys, at.dv, at.packed);
        };
        __syncthreads();
        fetch<QUERIES>(own, at.qs, b, h, first, seen.queries, at.d, at.packed);
        if (tiles > 0) fetch_tile(0, 0);
        copy_async_commit();
        Frag frag;
        float o[ROWS][D / 8][4] = {};
        Running<ROWS> running;
        running.clear();
        float sums[SUMMED ? ROWS : 1][4] = {};
        copy_async_wait<0>();
        __syncthreads();
        frag.keep(own[warp * 16 * ROWS], lane);
#pragma unroll 1
        for (int tile = 0; tile < tiles; tile++) {
            int stage = tile & 1;
            if (tile + 1 < tiles) fetch_tile(tile + 1, stage ^ 1);
            copy_async_commit();
            if (tile < mine) {
                float s[ROWS][KEYS / 8][4] = {};
                frag.template scores<KEYS>(s, own[warp * 16 * ROWS], keys[stage * KEYS], lane);
                bool plain = scores.raw && tile >= whole && tile < edge;
#pragma unroll
                for (int r = 0; r < ROWS && !plain; r++) {
                    i64 heads[2] = {h, h};
                    i64 rows[2] = {warp_first + r * 16 + lane / 4, warp_first + r * 16 + lane / 4 + 8};
                    to_scores<KEYS / 8>(s[r], scores, staged ? masks[stage] : nullptr, b, heads, rows, start + static_cast<i64>(tile) * KEYS,
                                        tile >= whole && tile < edge);
                }
                float kept[ROWS][2];
                if (running.rise(s, kept, scores.factor)) {
#pragma unroll
                    for (int r = 0; r < ROWS; r++) {
#pragma unroll
                        for (int n = 0; n < D / 8; n++) {
#pragma unroll
                            for (int e = 0; e < 4; e++) o[r][n][e] *= kept[r][e / 2];
                        }
#pragma unroll
                        for (int e = 0; SUMMED && e < 4; e++) sums[SUMMED ? r : 0][e] *= kept[r][e / 2];
                    }
                }
                running.template to_weights<!SUMMED>(s, scores.factor);  // behind the branch, so that it overlaps with the products
#pragma unroll
                for (int r = 0; SUMMED && r < ROWS; r++) Frag::template total<KEYS>(sums[SUMMED ? r : 0], s[r]);
                frag.template mix<KEYS>(o, s, values[stage * KEYS], lane);
            }
            copy_async_wait<0>();
            __syncthreads();  // the next tile is there, and all are done with this one
        }
        if (SUMMED) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
#pragma unroll
                for (int i = 0; i < 2; i++) running.total[r][i] = sums[SUMMED ? r : 0][2 * i];
            }
        } else {
            running.finish();
        }
        store(at, seen, o, running, b, h, key_head, warp_first);
    }
}
#endif
