// y = softmax(scale · q kᵀ, masked) v by products of warpgroups (sm_90a), for at most 128 keys and heads of at most D elements: a block has all keys and
// values of a head in shared memory and 128 of its queries, 64 a warpgroup, and makes all scores of a query before it weighs them. The copy engine
// fetches the next head meanwhile. Nothing is causal; masks differ by key alone. Sums in f32. Rows as in attention.cu; those whose sums are NaN are made
// again by their definition.
// Values in TF32 are turned in shared memory, for products of TF32 read both operands along their depth. In the turned tile keys lie in the order in
// which lanes have their weights, and elements so that a lane's results are 16 bytes of a row.
//
// Launch: 256 threads, any number of blocks: they walk over the tiles of queries of all heads, fewer than 2^31. Dynamic shared memory: 1024 bytes and
// two of 384 rows of D elements, of float 128 rows more.
// Rows of q, k, v and y start on 16-byte boundaries, d and dv are multiples of 16 bytes. maps: of q, k and v, [batch, head, token, element], boxes of
// 128 tokens and 128 bytes of a head, or the 64 that 32 halves have; float as TF32.
// Variants: TENON_T one of f16, bf16, float (TF32); TENON_D one of 32, 64. Compiled for sm_90a alone.
#include "whole_heads.cuh"

typedef TENON_T T;
constexpr int D = TENON_D;
constexpr int QUERIES = 128;
constexpr int STAGES = 2;
constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int THREADS = 2 * GROUP;
constexpr bool TURNED = sizeof(T) == 4;
constexpr int BYTES = D * static_cast<int>(sizeof(T));  // of a row
constexpr int LINE = BYTES < 128 ? BYTES : 128;         // of a row in a box
constexpr int BOX = KEYS * LINE;
constexpr int TILE = KEYS * BYTES;
constexpr int STAGE = 3 * TILE;
constexpr int DEEP = 32;                                // bytes of a row that are multiplied together
constexpr int KEYS_A_LINE = 32;                         // of turned values
constexpr int TURNED_BOX = D * KEYS_A_LINE * 4;         // bytes of them
constexpr int BLOCKS = TURNED ? 1 : 2;                  // of a multiprocessor

#if __CUDA_ARCH_FEAT_SM90_ALL
struct Problem {
    Heads<const T> qs;
    Heads<const T> ks;
    Heads<const T> vs;
    Heads<T> ys;
    int group;
    int d;
    int dv;
    float scale;
    bool plain;
    u32 heads;
    u32 items;
};

struct Maps {
    const TensorMap& q;
    const TensorMap& k;
    const TensorMap& v;
};

// A head of a batch, and the first of its queries.
struct Work {
    i64 b;
    i64 h;
    i64 first;

    __device__ __forceinline__ Work(const Problem& at, const Seen<T, float>& seen, u32 item) {
        u32 tiles = static_cast<u32>((seen.queries + QUERIES - 1) / QUERIES);
        u32 unit = item / tiles;
        first = static_cast<i64>(item - unit * tiles) * QUERIES;
        b = unit / at.heads;
        h = unit % at.heads;
    }
};

// 128 rows of a head, what lies beyond the last row or element as 0.
__device__ __forceinline__ void fetch(u32 to, const TensorMap& map, i64 row, i64 h, i64 b, u32 barrier) {
#pragma unroll
    for (int i = 0; i < BYTES / LINE; i++) {
        copy_box(to + i * BOX, map, i * (LINE / sizeof(T)), static_cast<i32>(row), static_cast<i32>(h), static_cast<i32>(b), barrier);
    }
}

// By one thread; values have a barrier of their own.
__device__ __forceinline__ void fetch(const Problem& at, const Maps& maps, const Work& work, u32 stage, u32 barriers) {
    i64 key_head = work.h / at.group;
    expect_bytes(barriers, 2 * TILE);
    fetch(stage, maps.q, work.first, work.h, work.b, barriers);
    fetch(stage + TILE, maps.k, 0, key_head, work.b, barriers);
    expect_bytes(barriers + 8, TILE);
    fetch(stage + 2 * TILE, maps.v, 0, key_head, work.b, barriers + 8);
}

// Operands whose atoms of 8 lines follow each other; one that is read across its depth has as many elements as a line.
template <int BYTES_OF_LINE = LINE>
__device__ __forceinline__ u64 operand(u32 address) {
    constexpr u32 SWAPPED = BYTES_OF_LINE == 128 ? 1 : 2;  // chunks of lines of 128 or 64 bytes
    return static_cast<u64>(8 * BYTES_OF_LINE >> 4 | SWAPPED << 30) << 32 | address >> 4;
}

__device__ __forceinline__ void multiply(float (&s)[KEYS / 8][4], u32 queries, u32 keys) {
    begin_products();
#pragma unroll
    for (int i = 0; i < BYTES / DEEP; i++) {
        u32 offset = i * DEEP / LINE * BOX + i * DEEP % LINE;
        if (i == 0) {
            fresh_warpgroup_product(s, operand(queries), operand(keys), T());
        } else {
            warpgroup_product<true, true>(s, operand(queries + offset), operand(keys + offset), T());
        }
    }
    end_products();
}

// Values to their turned tile: 4 keys that a line has side by side and 4 elements at a time.
__device__ __forceinline__ void turn(u32 turned, u32 values) {
    constexpr int CHUNKS = D / 4;
    constexpr int FOURS = THREADS / CHUNKS;  // of keys, at a time
    int chunk = static_cast<int>(threadIdx.x) % CHUNKS;
    u32 from = values + chunk / 8 * BOX;
#pragma unroll
    for (int i = 0; i < KEYS / 4; i += FOURS) {
        int four = static_cast<int>(threadIdx.x) / CHUNKS + i;  // the even or the odd keys of 8
        u32 v[4][4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int key = four / 2 * 8 + 2 * j + four % 2;
            load_shared_4(v[j], from + key * LINE + (chunk % 8 ^ key % 8) * 16);
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = e * CHUNKS + chunk;
            u32 to = turned + four / 8 * TURNED_BOX + row * 4 * KEYS_A_LINE + (four % 8 ^ row % 8) * 16;
            store_shared_4(to, v[0][e], v[1][e], v[2][e], v[3][e]);
        }
    }
    show_to_tensor_cores();
}

__device__ __forceinline__ u32 rounded(float v) { return __float_as_uint(to_tf32(v)); }

// o += weights · values.
template <typename H>
__device__ __forceinline__ void mix(float (&o)[D / 8][4], const float (&s)[KEYS / 8][4], u32 values, H) {
    u32 weights[KEYS / 16][4];
#pragma unroll
    for (int i = 0; i < KEYS / 16; i++) {
        weights[i][0] = to_pair(s[2 * i][0], s[2 * i][1], H());
        weights[i][1] = to_pair(s[2 * i][2], s[2 * i][3], H());
        weights[i][2] = to_pair(s[2 * i + 1][0], s[2 * i + 1][1], H());
        weights[i][3] = to_pair(s[2 * i + 1][2], s[2 * i + 1][3], H());
    }
    begin_products();
#pragma unroll
    for (int i = 0; i < KEYS / 16; i++) warpgroup_product(o, weights[i], operand(values + i * 16 * LINE), H());
    end_products();
}

// The same with turned values.
__device__ __forceinline__ void mix(float (&o)[D / 8][4], const float (&s)[KEYS / 8][4], u32 values, float) {
    u32 weights[KEYS / 8][4];
#pragma unroll
    for (int i = 0; i < KEYS / 8; i++) {
        weights[i][0] = rounded(s[i][0]);
        weights[i][1] = rounded(s[i][2]);
        weights[i][2] = rounded(s[i][1]);
        weights[i][3] = rounded(s[i][3]);
    }
    begin_products();
#pragma unroll
    for (int i = 0; i < KEYS / 8; i++) {
        u32 offset = i * 8 / KEYS_A_LINE * TURNED_BOX + i * DEEP % (4 * KEYS_A_LINE);
        warpgroup_product(o, weights[i], operand<4 * KEYS_A_LINE>(values + offset), 0.0f);
    }
    end_products();
}

// A lane's results of a row, times `share`.
template <typename H>
__device__ __forceinline__ void store_row(H* to, int dv, const float (&o)[D / 8][4], int i, float share) {
    store_halves(to, dv, o, i, share);
}

// The same of turned values.
__device__ __forceinline__ void store_row(float* to, int dv, const float (&o)[D / 8][4], int i, float share) {
#pragma unroll
    for (int four = 0; four < D / 16; four++) {
        int c = four / 2 * 32 + static_cast<int>(threadIdx.x) % 4 * 8 + four % 2 * 4;
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; e++) v[e] = o[e * (D / 32) + four / 2][2 * i + four % 2] * share;
        if (c < dv) *reinterpret_cast<float4*>(to + c) = make_float4(v[0], v[1], v[2], v[3]);
    }
}

// Stores a warp's 16 rows from `first` on; those whose sums are NaN again by their definition.
__device__ __forceinline__ void store(const Problem& at, const Seen<T, float>& seen, const float (&o)[D / 8][4], float2 sums, const Work& work, i64 first) {
    bool odd = false;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        i64 row = first + i * 8 + threadIdx.x % 32 / 4;
        float total = seen.divisor(i == 0 ? sums.x : sums.y);
        float share = total == 0.0f && !at.plain ? 0.0f : fast_reciprocal(total);
        bool there = row < seen.queries;
        if (!at.plain) {
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float v = o[n][2 * i + e] * share;
                    odd = odd || (there && v != v);
                }
            }
        }
        store_row(at.ys.row(work.b, there ? row : first, work.h), there ? at.dv : 0, o, i, share);
    }
    if (at.plain || !__any_sync(0xffffffffu, odd)) return;
    __syncwarp();
    Problem here = at;  // copies, so that the originals need not lie in memory
    Seen<T, float> rules = seen;
#pragma unroll 1
    for (i64 row = first; row < first + 16 && row < seen.queries; row++) {
        attend_row(here.qs, here.ks, here.vs, here.ys, rules, work.b, work.h, work.h / at.group, row, at.d, at.dv, at.scale);
    }
}

__device__ __forceinline__ void attend(const Problem& at, const Seen<T, float>& seen, const Maps& maps, u32 space, u32 barriers, float (&masks)[STAGES][KEYS]) {
    int own = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / GROUP, 0);  // the same for all, which the compiler cannot know
    int key = static_cast<int>(threadIdx.x) % KEYS;
    int within = static_cast<int>(threadIdx.x) / 32 * 16;
    float scale = at.scale * LOG2E;
    u32 turned = space + STAGES * STAGE;
    u32 turns = 0;
    u32 item = blockIdx.x;
    float more = 0.0f;
    if (item < at.items) {
        Work work(at, seen, item);
        if (threadIdx.x == 0) fetch(at, maps, work, space, barriers);
        more = added(seen, work.b, work.h, key);
    }
    for (; item < at.items; item += gridDim.x, turns++) {
        u32 stage = turns % STAGES;
        u32 from = space + stage * STAGE;
        u32 full = barriers + stage * 16;
        u32 parity = turns / STAGES & 1;
        masks[stage][key] = more;
        bool masked = __syncthreads_or(more != 0.0f || at.scale <= 0.0f);  // else products are scores; and all have read the stage before
        bool last = item + gridDim.x >= at.items;
        Work next(at, seen, last ? item : item + gridDim.x);
        u32 other = (turns + 1) % STAGES;
        if (threadIdx.x == 0 && !last) fetch(at, maps, next, space + other * STAGE, barriers + other * 16);
        float s[KEYS / 8][4];
        await_phase(full, parity);
        multiply(s, from + own * 64 * LINE, from + TILE);
        more = added(seen, next.b, next.h, key);  // here, where the wait for it costs nothing
        if (TURNED) {
            await_phase(full + 8, parity);
            turn(turned, from + 2 * TILE);
        }
        await_products<0>();
        if (masked) mask_scores(s, scale, masks[stage]);
        float factor = masked ? 1.0f : scale;
        float2 sums = {weigh_row(s, 0, factor), weigh_row(s, 1, factor)};
        float o[D / 8][4] = {};
        if (TURNED) {
            __syncthreads();
        } else {
            await_phase(full + 8, parity);
        }
        mix(o, s, TURNED ? turned : from + 2 * TILE, T());
        await_products<0>();
        Work work(at, seen, item);
        if (work.first + within < seen.queries) store(at, seen, o, sums, work, work.first + within);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    TENON_NAME(attention_short_wgmma)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                                      i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch,
                                      i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind,
                                      i32 causal, i64 window, float scale, float cap, i32 formula, i32 heads, TensorMap const __grid_constant__ q_map,
                                      TensorMap const __grid_constant__ k_map, TensorMap const __grid_constant__ v_map) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[2 * STAGES];  // of queries and keys, and of values
    __shared__ alignas(8) float masks[STAGES][KEYS];
    u32 space = (shared_address(dynamic) + 1023) / 1024 * 1024;
    Problem at = {{q, q_batch, q_token, q_head}, {k, k_batch, k_token, k_head}, {v, v_batch, v_token, v_head}, {y, y_batch, y_token, y_head},
                  group, d, dv, scale, formula == PLAIN, static_cast<u32>(heads),
                  static_cast<u32>(heads * batches * ((queries + QUERIES - 1) / QUERIES))};
    Seen<T, float> seen = {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, formula == GUARDED};
    if (threadIdx.x == 0) {
        prefetch_map(q_map);
        prefetch_map(k_map);
        prefetch_map(v_map);
        for (int i = 0; i < 2 * STAGES; i++) start_barrier(shared_address(barriers + i), 1);
        show_barriers();
    }
    release_successor();
    await_predecessor();
    attend(at, seen, {q_map, k_map, v_map}, space, shared_address(barriers), masks);
#endif
}
TENON_ENTRY(attention_short_wgmma)
