// y = softmax(scale · q kᵀ, capped, masked) v by products of warpgroups (sm_90a; FlashAttention-3, arXiv:2407.08608), for heads of at most D
// elements: 128 queries a block, 64 of them a warpgroup, keys in tiles of 128. The copy engine fetches queries, keys and values ahead, asked by two
// warps of a third warpgroup. A warpgroup's next scores and the sums of its last weights are under way while it makes weights, and the two take turns.
// Sums in f32. Rows as in attention.cu; those whose sums are NaN are made again by their definition.
//
// Launch: 384 threads, any number of blocks: they walk over the tiles of queries of all heads, fewer than 2^31. Dynamic shared memory: 1024
// bytes; 16384 (D / 64) for queries, and twice that for keys and for values; 1024 for masks.
// Rows of q, k, v and y start on 16-byte boundaries, d and dv are multiples of 8. maps: of q, k and v, [batch, head, token, element], boxes of 128 tokens
// and 64 elements of a head.
// Variants: TENON_T one of f16, bf16; TENON_D one of 64, 128. Compiled for sm_90a alone.
#include "attention_rows.cuh"
#include "wgmma.cuh"

typedef TENON_T T;
constexpr int D = TENON_D;
constexpr int QUERIES = 128;
constexpr int KEYS = 128;
constexpr int STAGES = 2;  // of keys, and of values
constexpr int GROUP = 128;              // threads of a warpgroup
constexpr int COLUMNS = D / 64;         // of 128 bytes
constexpr int COLUMN = 128 * 128;       // bytes of 128 rows of one
constexpr int TILE = COLUMNS * COLUMN;  // bytes of 128 rows

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
    bool staged;  // the mask is the same for all queries of a head
    u32 heads;
    u32 units;    // heads of all batches
};

// A head of a batch and a tile of queries. Causal tiles come in pairs, the first with the last, so that all pairs have as many keys.
struct Work {
    i64 b;
    i64 h;
    i64 first;
    i64 key;  // the first tile of keys
    i64 end;
    bool any;

    // The number'th of a block; false past its last.
    __device__ __forceinline__ bool take(const Problem& at, const Seen<T, float>& seen, u32 number) {
        u32 tiles = static_cast<u32>((seen.queries + QUERIES - 1) / QUERIES);
        u32 each = seen.causal ? (tiles + 1) / 2 : tiles;
        u32 item = blockIdx.x + (seen.causal ? number / 2 : number) * gridDim.x;
        u32 unit = item / each;
        u32 tile = item - unit * each;
        any = true;
        if (seen.causal) {
            u32 other = tiles - 1 - tile;
            if (number % 2 == 0) {
                tile = other;
            } else {
                any = tile != other;
            }
        }
        b = unit / at.heads;
        h = unit % at.heads;
        first = static_cast<i64>(tile) * QUERIES;
        i64 last = first + QUERIES - 1 < seen.queries - 1 ? first + QUERIES - 1 : seen.queries - 1;
        key = seen.first(first) / KEYS * KEYS;
        end = seen.end(last);
        return unit < at.units;
    }
};

// Shared memory: bytes from its start for tiles, addresses for barriers.
struct Shared {
    u8* space;
    u32 barriers;

    static constexpr int KEY_TILES = TILE;
    static constexpr int VALUE_TILES = (1 + STAGES) * TILE;
    static constexpr int MASKS = (1 + 2 * STAGES) * TILE;
    static constexpr int BARRIERS = 2 + 4 * STAGES;

    __device__ __forceinline__ float* masks(int stage) const { return reinterpret_cast<float*>(space + MASKS) + stage * KEYS; }
    __device__ __forceinline__ u32 queries_full() const { return barriers; }
    __device__ __forceinline__ u32 queries_free() const { return barriers + 8; }
    __device__ __forceinline__ u32 keys_full(int stage) const { return barriers + 16 + 8 * stage; }
    __device__ __forceinline__ u32 keys_free(int stage) const { return barriers + 16 + 8 * (STAGES + stage); }
    __device__ __forceinline__ u32 values_full(int stage) const { return barriers + 16 + 8 * (2 * STAGES + stage); }
    __device__ __forceinline__ u32 values_free(int stage) const { return barriers + 16 + 8 * (3 * STAGES + stage); }
};

struct Maps {
    const TensorMap& q;
    const TensorMap& k;
    const TensorMap& v;
};

// 128 rows of a head from `row` on, what lies beyond the last row or element as 0; done when the barrier has their bytes.
__device__ __forceinline__ void fetch(u32 to, const TensorMap& map, i64 row, i64 h, i64 b, u32 barrier) {
    expect_bytes(barrier, TILE);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) copy_box(to + c * COLUMN, map, c * 64, static_cast<i32>(row), static_cast<i32>(h), static_cast<i32>(b), barrier);
}

// By one warp.
__device__ __forceinline__ void fetch_keys(const Problem& at, const Seen<T, float>& seen, const Shared& shared, const Maps& maps) {
    u32 space = shared_address(shared.space);
    u32 turn = 0;  // tiles so far
    Work work;
    for (u32 number = 0; work.take(at, seen, number); number++) {
        if (!work.any) continue;
        for (i64 key = work.key; key < work.end; key += KEYS) {
            int stage = turn % STAGES;
            await_phase(shared.keys_free(stage), turn / STAGES & 1 ^ 1);
            if (at.staged) {
                for (int i = threadIdx.x; i < KEYS; i += 32) shared.masks(stage)[i] = mask_of_key(seen, work.b, work.h, key + i);
            }
            if (threadIdx.x == 0) {
                fetch(space + Shared::KEY_TILES + stage * TILE, maps.k, key, work.h / at.group, work.b, shared.keys_full(stage));
            } else {
                arrive(shared.keys_full(stage));
            }
            turn++;
        }
    }
}

// By one thread.
__device__ __forceinline__ void fetch_queries_and_values(const Problem& at, const Seen<T, float>& seen, const Shared& shared, const Maps& maps) {
    u32 space = shared_address(shared.space);
    u32 turn = 0;
    u32 done = 0;
    Work work;
    for (u32 number = 0; work.take(at, seen, number); number++) {
        if (!work.any) continue;
        await_phase(shared.queries_free(), done & 1 ^ 1);
        fetch(space, maps.q, work.first, work.h, work.b, shared.queries_full());
        done++;
        for (i64 key = work.key; key < work.end; key += KEYS) {
            int stage = turn % STAGES;
            await_phase(shared.values_free(stage), turn / STAGES & 1 ^ 1);
            fetch(space + Shared::VALUE_TILES + stage * TILE, maps.v, key, work.h / at.group, work.b, shared.values_full(stage));
            turn++;
        }
    }
}

// An operand's descriptor (shared_operand) is of two words, of which the first alone changes: units of 16 bytes may be added to it.
__device__ __forceinline__ u32 operand_at(u32 address) { return address >> 4 | COLUMN >> 4 << 16; }
__device__ __forceinline__ u64 operand(u32 low) { return static_cast<u64>(1024u >> 4 | 1u << 30) << 32 | low; }

// A warpgroup's 64 queries.
struct Consumer {
    float s[KEYS / 8][4];
    float o[D / 8][4];
    u32 weights[KEYS / 16][4];
    Running<1> running;
    float kept[1][2];

    __device__ __forceinline__ void rescale() {
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) o[n][e] *= kept[0][e / 2];
        }
    }

    __device__ __forceinline__ void multiply(u32 queries, u32 keys) {
#pragma unroll
        for (int k = 0; k < D; k += 16) {
            int offset = k / 64 * (COLUMN / 16) + k % 64 / 8;
            if (k == 0) {
                fresh_warpgroup_product(s, operand(queries), operand(keys), T());
            } else {
                warpgroup_product<true, true>(s, operand(queries + offset), operand(keys + offset), T());
            }
        }
        end_products();
    }

    __device__ __forceinline__ void mix(u32 values) {
#pragma unroll
        for (int k = 0; k < KEYS; k += 16) warpgroup_product(o, weights[k / 16], operand(values + k * 8), T());
        end_products();
    }

    __device__ __forceinline__ void keep_weights() {
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            weights[i][0] = to_pair(s[2 * i][0], s[2 * i][1], T());
            weights[i][1] = to_pair(s[2 * i][2], s[2 * i][3], T());
            weights[i][2] = to_pair(s[2 * i + 1][0], s[2 * i + 1][1], T());
            weights[i][3] = to_pair(s[2 * i + 1][2], s[2 * i + 1][3], T());
        }
    }
};

// Stores a warp's 16 rows; those whose sums are NaN again by their definition.
__device__ __forceinline__ void store(const Problem& at, const Seen<T, float>& seen, const Consumer& of, const Work& work, i64 first) {
    int lane = threadIdx.x % 32;
    bool odd = false;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        i64 row = first + i * 8 + lane / 4;
        float total = seen.divisor(of.running.total[0][i]);
        bool none = seen.keys == 0 || (total == 0.0f && !at.plain);
        float share = none ? 0.0f : 1.0f / total;
        bool found = store_packed<D>(at.ys.row(work.b, row, work.h), row < seen.queries, at.dv,
                                     [&](int n, int e) { return none ? 0.0f : of.o[n][2 * i + e] * share; });
        odd = odd || found;
    }
    if (at.plain || !__any_sync(0xffffffffu, odd)) return;
    __syncwarp();
#pragma unroll 1
    for (i64 row = first; row < first + 16 && row < seen.queries; row++) {
        attend_row(at.qs, at.ks, at.vs, at.ys, seen, work.b, work.h, work.h / at.group, row, at.d, at.dv, at.scale);
    }
}

__device__ __forceinline__ void consume(const Problem& at, const Seen<T, float>& seen, const Shared& shared) {
    int lane = threadIdx.x % 32;
    int own = __shfl_sync(0xffffffffu, threadIdx.x / GROUP - 1, 0);  // 0 or 1; the same for all, which the compiler cannot know
    int within = threadIdx.x / 32 % 4 * 16 + own * 64;
    u32 space = shared_address(shared.space);
    u32 queries = operand_at(space + own * 64 * 128);
    u32 keys = operand_at(space + Shared::KEY_TILES);
    u32 values = operand_at(space + Shared::VALUE_TILES);
    Scores<T> scores(seen, at.scale);
    Consumer sums;
    u32 turn = 0;
    u32 done = 0;
    if (own == 1) pass_by(1, 2 * GROUP);
    Work work;
    for (u32 number = 0; work.take(at, seen, number); number++) {
        if (!work.any) continue;
        i64 first = work.first + within;
        i64 heads[2] = {work.h, work.h};
        i64 rows[2] = {first + lane / 4, first + lane / 4 + 8};
        i64 last = first + 15 < seen.queries - 1 ? first + 15 : seen.queries - 1;
        // tiles [whole, edge) of keys are seen by all rows of the warp
        i64 low = Span(seen, last).low - work.key;
        i64 high = Span(seen, first).high + 1 - work.key;
        int whole = low > 0 ? static_cast<int>((low + KEYS - 1) / KEYS) : 0;
        int edge = high > 0 ? static_cast<int>(high / KEYS) : 0;
        int tiles = work.end > work.key ? static_cast<int>((work.end - work.key + KEYS - 1) / KEYS) : 0;
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) sums.o[n][e] = 0;
        }
        sums.running.clear();
        auto weigh = [&](Consumer& of, int tile, int stage) {
            to_scores<KEYS / 8>(of.s, scores, at.staged ? shared.masks(stage) : nullptr, work.b, heads, rows, work.key + static_cast<i64>(tile) * KEYS,
                                tile >= whole && tile < edge);
            arrive(shared.keys_free(stage));
            return of.running.weigh(reinterpret_cast<float(&)[1][KEYS / 8][4]>(of.s), of.kept, scores.factor);
        };
        await_phase(shared.queries_full(), done & 1);
        done++;
        if (tiles > 0) {
            int stage = turn % STAGES;
            await_phase(shared.keys_full(stage), turn / STAGES & 1);
            meet_at(1 + own, 2 * GROUP);
            begin_products();
            sums.multiply(queries, keys + stage * (TILE / 16));
            pass_by(2 - own, 2 * GROUP);
            await_products<0>();
            weigh(sums, 0, stage);
            sums.keep_weights();
#pragma unroll 1
            for (int tile = 1; tile < tiles; tile++) {
                int before = turn % STAGES;
                u32 parity = turn / STAGES & 1;
                turn++;
                stage = turn % STAGES;
                await_phase(shared.keys_full(stage), turn / STAGES & 1);
                meet_at(1 + own, 2 * GROUP);
                begin_products();
                sums.multiply(queries, keys + stage * (TILE / 16));
                await_phase(shared.values_full(before), parity);
                sums.mix(values + before * (TILE / 16));
                pass_by(2 - own, 2 * GROUP);
                await_products<1>();
                bool moved = weigh(sums, tile, stage);
                await_products<0>();
                arrive(shared.values_free(before));
                if (moved) sums.rescale();
                sums.keep_weights();
            }
            int before = turn % STAGES;
            await_phase(shared.values_full(before), turn / STAGES & 1);
            begin_products();
            sums.mix(values + before * (TILE / 16));
            await_products<0>();
            arrive(shared.values_free(before));
            turn++;
        }
        arrive(shared.queries_free());
        sums.running.finish();
        if (first < seen.queries) store(at, seen, sums, work, first);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(384, 1)
    TENON_NAME(attention_wgmma)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                                i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch,
                                i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind,
                                i32 causal, i64 window, float scale, float cap, i32 formula, i32 heads, TensorMap const __grid_constant__ q_map,
                                TensorMap const __grid_constant__ k_map, TensorMap const __grid_constant__ v_map) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[Shared::BARRIERS];
    Shared shared = {reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024), shared_address(barriers)};
    Problem at = {{q, q_batch, q_token, q_head}, {k, k_batch, k_token, k_head}, {v, v_batch, v_token, v_head}, {y, y_batch, y_token, y_head},
                  group, d, dv, scale, formula == PLAIN, kind == MASK_ADDED && m_query == 0, static_cast<u32>(heads), static_cast<u32>(heads * batches)};
    Seen<T, float> seen = {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, formula == GUARDED};
    if (threadIdx.x == 0) {
        start_barrier(shared.queries_full(), 1);
        start_barrier(shared.queries_free(), 2 * GROUP);
        for (int i = 0; i < STAGES; i++) {
            start_barrier(shared.keys_full(i), 32);
            start_barrier(shared.keys_free(i), 2 * GROUP);
            start_barrier(shared.values_full(i), 1);
            start_barrier(shared.values_free(i), 2 * GROUP);
        }
        show_to_tensor_cores();
    }
    release_successor();
    await_predecessor();
    __syncthreads();
    if (threadIdx.x < GROUP) {
        give_registers<40>();
        if (threadIdx.x < 32) {
            fetch_keys(at, seen, shared, {q_map, k_map, v_map});
        } else if (threadIdx.x == 32) {
            fetch_queries_and_values(at, seen, shared, {q_map, k_map, v_map});
        }
    } else {
        take_registers<232>();
        consume(at, seen, shared);
    }
#endif
}
TENON_ENTRY(attention_wgmma)
