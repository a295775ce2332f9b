// What a resident kernel knows of its work: phases one behind the other, and the shared memory of a block.
//
// A product's block takes 16 rows, a row tile, and of the column tiles of 8 every `parts`-th one, in rounds of what fits into shared memory. Weights
// lie as [n, k] and need nothing that a phase before makes, so a block fetches those of its next product while it waits for the others.
//
// Phases do not meet. What a phase makes and another one reads lies where every word was NOT_YET before the first phase, and a reader looks at the
// words that it needs until each is something else. So each word says by itself that it is there, and no order among words is asked for: loads and
// stores are relaxed ones of whole words. Stores never write NOT_YET, which is a NaN that no arithmetic makes.
//
// A block runs each phase for a few microseconds, so that what counts is the number of instructions and of loads that wait for one another.
#pragma once
#include "row_rules.cuh"
#include "unary_fn.cuh"

typedef TENON_T T;

constexpr int WARPS = 16;
constexpr int THREADS = 32 * WARPS;
constexpr int V = Widest<T>::value;  // elements of an access
constexpr int CHUNK = 4 * V;         // elements along k that a quad of lanes takes in one access each
constexpr int TILE = 16;             // rows
constexpr int COLUMNS = 8;
constexpr int STEPS = 4;             // column tiles of a warp in a round, at most
constexpr int CELLS = TILE * COLUMNS;
constexpr int MOST_PHASES = 30;
constexpr int MOST_NORMED = 1024;    // elements of a row that has a norm

constexpr int PHASE_PRODUCT = 0;    // y = fn(rows w^T + bias) + residual
constexpr int PHASE_ATTENTION = 1;  // y = softmax(factor q k^T + mask) v
constexpr int PHASE_NORM = 2;       // y = layer norm of x

constexpr int MADE_X = 1;         // x is what a phase of this launch makes
constexpr int MADE_RESIDUAL = 2;  // so is the residual
constexpr int EARLY = 4;          // the first weights are fetched a product before the one before
constexpr int SEEN_Y = 8;         // phases of this launch read y
constexpr int SEEN_NORMED = 16;   // and what is stored at `normed`

constexpr int ROWS_PLAIN = 0;      // a product's rows are those of x
constexpr int ROWS_NORM = 1;       // the layer norms of those of x, also stored at `normed` where that is not null
constexpr int ROWS_ATTENTION = 2;  // what the heads of x see

// Filled by ResidentPhase.java; 128 bytes.
struct Phase {
    u16 kind, source;
    i32 flags;
    const T* x;         // [rows, k]; of attention [batch, keys, 3, heads, d]
    const T* w;         // [n, k]
    const T* bias;      // [n] or null
    const T* residual;  // [rows, n] or null
    void* y;            // of T; of a norm of float where `wide`
    const T* scale;     // [k]; of attention the mask, or null
    const T* shift;     // [k]
    T* normed;          // [rows, k] or null
    i32 rows, n;
    i32 k, place;       // of the first weights, in elements
    i32 least, more;    // column tiles of each part; how many parts have one more
    i32 ways, round;    // logarithm of the column tiles that warps take at a time; column tiles of a round
    i32 fn;             // activation or 0
    i16 next, further;  // the next phase that fetches, and the one after that, where it is early; or -1
    float alpha, beta;
    float factor;       // epsilon of a norm, scale of attention
    i32 keys;           // tokens of a sequence; of a norm whether y is of float
};

// A mask's layout, in `shift` of attention: whether it has a batch 1, heads 2, queries 4, keys 8; and 16 where weights that are NaN count as 0.
__device__ __forceinline__ int mask_dims(const Phase& p) { return static_cast<int>(reinterpret_cast<u64>(p.shift)); }

struct alignas(16) Phases {
    Phase at[MOST_PHASES];
};

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// Elements from row to row in shared memory: 64 bytes past a multiple of 128, so that two rows of a quad each lie in different banks.
__device__ __forceinline__ int wide_row(int k) { return k + (k % (2 * CHUNK) == 0 ? CHUNK : 0); }

// The shared memory of a block, and its place in products, all of which have as many rows.
struct Block {
    T* rows;       // [16, wide]
    T* affine;     // [2, k], scale and shift of the next norm
    float* cells;  // sums of warps
    T* weights;    // [round, 8, wide]
    int tile, part, parts;
};

__device__ __forceinline__ int column_tiles(const Phase& p, const Block& block) {
    return block.tile * TILE >= p.rows || block.tile < 0 ? 0 : p.least + (block.part < p.more ? 1 : 0);
}

// Fetches the weights of column tiles [from, from + now) of a block's.
__device__ __forceinline__ void fetch_weights(const Phase& p, const Block& block, int from, int now) {
    int k = p.k, parts = block.parts, wide = wide_row(k), lane = threadIdx.x % 32;
    const T* w = p.w + static_cast<i64>((block.part + from * parts) * COLUMNS) * k + lane * V;
    T* weights = block.weights + p.place + lane * V;
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < now * COLUMNS; row += WARPS) {
        const T* source = w + static_cast<i64>(row / COLUMNS * parts * COLUMNS + row % COLUMNS) * k;
        T* to = weights + row * wide;
#pragma unroll 1
        for (int at = lane * V; at < k; at += 32 * V, source += 32 * V, to += 32 * V) copy_async_16(to, source);
    }
}

__device__ __forceinline__ void fetch_first_weights(const Phase& p, const Block& block) {
    int count = p.kind == PHASE_PRODUCT ? column_tiles(p, block) : 0;
    if (count > 0) fetch_weights(p, block, 0, count < p.round ? count : p.round);
}

// What phases read and no phase makes, in three groups: the scale and shift of the next one's norm, its first weights, and those of the one after.
__device__ __forceinline__ void fetch_ahead(const Phases& phases, int next, int further, const Block& block) {
    const Phase& p = phases.at[next < 0 ? 0 : next];
    if (next >= 0 && p.source == ROWS_NORM) {
        int k = p.k;
#pragma unroll 1
        for (int at = threadIdx.x * V; at < 2 * k; at += THREADS * V) copy_async_16(block.affine + at, at < k ? p.scale + at : p.shift + (at - k));
    }
    copy_async_commit();
    bool late = next >= 0 && (p.flags & EARLY) == 0;
#pragma unroll 1
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 0 ? late : further >= 0) fetch_first_weights(phases.at[turn == 0 ? next : further], block);
        copy_async_commit();
    }
}

// sums += a b^T for 16 bytes of rows g and g + 8 of a, and of row g of b: the order of k is any, as long as it is the same in both.
template <typename E>
__device__ __forceinline__ void multiply(float (&sums)[4], uint4 low, uint4 high, uint4 b, E) {
    u32 a0[4] = {low.x, high.x, low.y, high.y};
    u32 b0[2] = {b.x, b.y};
    mma_16816(sums, a0, b0, E());
    u32 a1[4] = {low.z, high.z, low.w, high.w};
    u32 b1[2] = {b.z, b.w};
    mma_16816(sums, a1, b1, E());
}

__device__ __forceinline__ u32 tf32_bits(u32 v) { return __float_as_uint(to_tf32(__uint_as_float(v))); }

__device__ __forceinline__ void multiply(float (&sums)[4], uint4 low, uint4 high, uint4 b, float) {
    u32 a0[4] = {tf32_bits(low.x), tf32_bits(high.x), tf32_bits(low.y), tf32_bits(high.y)};
    u32 b0[2] = {tf32_bits(b.x), tf32_bits(b.y)};
    mma_1688_tf32(sums, a0, b0);
    u32 a1[4] = {tf32_bits(low.z), tf32_bits(high.z), tf32_bits(low.w), tf32_bits(high.w)};
    u32 b1[2] = {tf32_bits(b.z), tf32_bits(b.w)};
    mma_1688_tf32(sums, a1, b1);
}

constexpr u32 NOT_YET = 0xffffffffu;
constexpr int PAIR = 4 / static_cast<int>(sizeof(T));  // elements of a word

__device__ __forceinline__ bool is_missing(u32 v) { return v == NOT_YET; }
__device__ __forceinline__ bool is_missing(uint2 v) { return v.x == NOT_YET || v.y == NOT_YET; }
__device__ __forceinline__ bool is_missing(uint4 v) { return v.x == NOT_YET || v.y == NOT_YET || v.z == NOT_YET || v.w == NOT_YET; }

// A word as phases store it: NaN of either type in its usual form where it would be NOT_YET.
__device__ __forceinline__ u32 sealed(u32 v) { return v == NOT_YET ? 0x7fff7fffu : v; }

template <typename E>
__device__ __forceinline__ void unpack(float (&to)[2], u32 word, E) {
    Pack<E, 2> pack = *reinterpret_cast<Pack<E, 2>*>(&word);
    to[0] = to_compute(pack.at[0]);
    to[1] = to_compute(pack.at[1]);
}
__device__ __forceinline__ void unpack(float (&to)[1], u32 word, float) { to[0] = __uint_as_float(word); }

template <typename E>
__device__ __forceinline__ u32 pack_word(const float (&v)[2], E) {
    return sealed(to_pair(v[0], v[1], E()));
}
__device__ __forceinline__ u32 pack_word(const float (&v)[1], float) { return sealed(__float_as_uint(v[0])); }

constexpr int ROW_PACKS = MOST_NORMED * static_cast<int>(sizeof(T)) / 512;  // accesses of a lane, at most

// The layer norm of a row by a warp, to shared memory where `to` is not null, and to `stored` where that is not null: for other phases, or as floats
// where `wide`. In one pass over registers, about the row's first element: what that cancels stays far below the rounding of T.
__device__ __forceinline__ void norm_row(const Phase& p, int row, const T* affine, T* to, void* stored, bool wide) {
    int lane = threadIdx.x % 32, k = p.k, packs = k / V;
    bool waits = (p.flags & MADE_X) != 0;
    float epsilon = p.factor;
    const uint4* from = reinterpret_cast<const uint4*>(p.x + static_cast<i64>(row) * k);
    uint4 own[ROW_PACKS];
    bool missing;
#pragma unroll 1
    do {
        missing = false;
#pragma unroll
        for (int c = 0; c < ROW_PACKS; c++) {
            if (lane + 32 * c < packs) own[c] = load_handed(from + lane + 32 * c);
        }
#pragma unroll
        for (int c = 0; c < ROW_PACKS; c++) missing |= lane + 32 * c < packs && is_missing(own[c]);
        missing &= waits;
        if (missing) look_again();
    } while (missing);
    __syncwarp();
    float pivot = __shfl_sync(0xffffffffu, to_compute(reinterpret_cast<const T*>(own)[0]), 0), sum = 0, squares = 0;
#pragma unroll
    for (int c = 0; c < ROW_PACKS; c++) {
        if (lane + 32 * c < packs) {
            Pack<T, V> pack = *reinterpret_cast<Pack<T, V>*>(&own[c]);
#pragma unroll
            for (int e = 0; e < V; e++) {
                float off = to_compute(pack.at[e]) - pivot;
                sum += off;
                squares = fmaf(off, off, squares);
            }
        }
    }
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        squares += __shfl_xor_sync(0xffffffffu, squares, apart);
    }
    float share = fast_reciprocal(static_cast<float>(k)), mean = sum * share;
    float variance = fmaf(-mean, mean, squares * share);
    float by = fast_reciprocal(sqrtf((variance < 0 ? 0 : variance) + epsilon)), rest = -mean * by;
#pragma unroll
    for (int c = 0; c < ROW_PACKS; c++) {
        int at = lane + 32 * c;
        if (at >= packs) continue;
        Pack<T, V> pack = *reinterpret_cast<Pack<T, V>*>(&own[c]), factors = load_pack<T, V>(affine, at), addends = load_pack<T, V>(affine + k, at);
        float v[V];
#pragma unroll
        for (int e = 0; e < V; e++) v[e] = fmaf(fmaf(to_compute(pack.at[e]) - pivot, by, rest), to_compute(factors.at[e]), to_compute(addends.at[e]));
        u32 words[4];
#pragma unroll
        for (int w = 0; w < 4; w++) words[w] = pack_word(reinterpret_cast<const float (&)[PAIR]>(v[w * PAIR]), T());
        uint4 whole = make_uint4(words[0], words[1], words[2], words[3]);
        if (to != nullptr) reinterpret_cast<uint4*>(to)[at] = whole;
        if (stored == nullptr) continue;
        if (wide && sizeof(T) == 2) {
            Pack<float, V> floats;
#pragma unroll
            for (int w = 0; w < 4; w++) unpack(reinterpret_cast<float (&)[PAIR]>(floats.at[w * PAIR]), words[w], T());
            store_pack<float, V>(static_cast<float*>(stored), at, floats);
        } else {
            store_handed(static_cast<uint4*>(stored) + at, whole);
        }
    }
}
#endif
