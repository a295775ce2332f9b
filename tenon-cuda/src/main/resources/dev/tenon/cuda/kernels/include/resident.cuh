// What a resident kernel knows of its work: phases one behind the other, and the shared memory of a block.
//
// A product's block takes 16 rows, a row tile, and of the column tiles of 8 every `parts`-th one, in rounds of what fits into shared memory. Weights
// lie as [n, k] and need nothing that a phase before makes, so a block fetches those of its next product while it waits for the others.
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

constexpr int PHASE_PRODUCT = 0;    // y = fn(rows w^T + bias) + residual
constexpr int PHASE_ATTENTION = 1;  // y = softmax(factor q k^T + mask) v
constexpr int PHASE_NORM = 2;       // y = layer norm of x

constexpr int ROWS_PLAIN = 0;      // a product's rows are those of x
constexpr int ROWS_NORM = 1;       // the layer norms of those of x, also stored at `normed` where that is not null
constexpr int ROWS_ATTENTION = 2;  // what the heads of x see

// Filled by ResidentPhase.java; 128 bytes.
struct Phase {
    i32 kind, source;
    const T* x;         // [rows, k]; of attention [batch, keys, 3, heads, d]
    const T* w;         // [n, k]
    const T* bias;      // [n] or null
    const T* residual;  // [rows, n] or null
    void* y;            // of T; of a norm of float where `wide`
    const T* scale;     // [k]; of attention the mask, or null
    const T* shift;     // [k]
    T* normed;          // [rows, k] or null
    i32 rows, n;
    i32 k, parts;
    i32 least, more;    // column tiles of each part; how many parts have one more
    i32 ways, round;    // logarithm of the column tiles that warps take at a time; column tiles of a round
    i32 fn, next;       // activation or 0; the next phase that is a product, or -1
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
    int tile, part;
};

__device__ __forceinline__ int column_tiles(const Phase& p, const Block& block) {
    return block.tile * TILE >= p.rows || block.tile < 0 ? 0 : p.least + (block.part < p.more ? 1 : 0);
}

// Fetches the weights of column tiles [from, from + now) of a block's.
__device__ __forceinline__ void fetch_weights(const Phase& p, const Block& block, int from, int now) {
    int k = p.k, parts = p.parts, wide = wide_row(k), lane = threadIdx.x % 32;
    const T* w = p.w + static_cast<i64>((block.part + from * parts) * COLUMNS) * k + lane * V;
    T* weights = block.weights + lane * V;
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < now * COLUMNS; row += WARPS) {
        const T* source = w + static_cast<i64>(row / COLUMNS * parts * COLUMNS + row % COLUMNS) * k;
        T* to = weights + row * wide;
#pragma unroll 1
        for (int at = lane * V; at < k; at += 32 * V, source += 32 * V, to += 32 * V) copy_async_16(to, source);
    }
}

// What the next product reads and no phase makes: its first weights, and the scale and shift of its norm.
__device__ __forceinline__ void fetch_ahead(const Phase& p, const Block& block) {
    int count = column_tiles(p, block);
    if (count > 0) {
        if (p.source == ROWS_NORM) {
            int k = p.k;
#pragma unroll 1
            for (int at = threadIdx.x * V; at < 2 * k; at += THREADS * V) copy_async_16(block.affine + at, at < k ? p.scale + at : p.shift + (at - k));
        }
        fetch_weights(p, block, 0, count < p.round ? count : p.round);
    }
    copy_async_commit();
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

// An element that other blocks may have written in this launch: past the first cache, which does not see that. Its bits, so that nobody waits for it
// before it is used.
__device__ __forceinline__ u16 load_bits(const f16* p) { return __ldcg(reinterpret_cast<const u16*>(p)); }
__device__ __forceinline__ u16 load_bits(const bf16* p) { return __ldcg(reinterpret_cast<const u16*>(p)); }
__device__ __forceinline__ float load_bits(const float* p) { return __ldcg(p); }

template <typename E, typename B>
__device__ __forceinline__ float of_bits(B bits) {
    return to_compute(*reinterpret_cast<E*>(&bits));
}

// Fetches a row that other blocks may have written into shared memory, by a warp.
__device__ __forceinline__ void fetch_row(const Phase& p, int row, T* to) {
    int lane = threadIdx.x % 32, k = p.k;
    const T* from = p.x + static_cast<i64>(row) * k;
#pragma unroll 1
    for (int at = lane * V; at < k; at += 32 * V) copy_async_16(to + at, from + at);
}

constexpr int HALF = V / 2;  // elements that a lane normalises at a time

// The layer norm of a row in shared memory, in its place, by a warp. In one pass, about the row's first element: what that cancels stays far below
// the rounding of T. Stored too where `stored` is not null, as floats where `wide`.
__device__ __forceinline__ void norm_row(int k, float epsilon, T* row, const T* scale, const T* shift, void* stored, bool wide) {
    int lane = threadIdx.x % 32, packs = k / HALF;
    float pivot = __shfl_sync(0xffffffffu, lane == 0 ? to_compute(row[0]) : 0.0f, 0), sum = 0, squares = 0;
#pragma unroll 1
    for (int at = lane; at < packs; at += 32) {
        Pack<T, HALF> pack = load_pack<T, HALF>(row, at);
#pragma unroll
        for (int e = 0; e < HALF; e++) {
            float off = to_compute(pack.at[e]) - pivot;
            sum += off;
            squares = fmaf(off, off, squares);
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
#pragma unroll 1
    for (int at = lane; at < packs; at += 32) {
        Pack<T, HALF> pack = load_pack<T, HALF>(row, at), factors = load_pack<T, HALF>(scale, at), addends = load_pack<T, HALF>(shift, at);
#pragma unroll
        for (int e = 0; e < HALF; e++) {
            float v = fmaf(to_compute(pack.at[e]) - pivot, by, rest);
            pack.at[e] = From<T>::of(fmaf(v, to_compute(factors.at[e]), to_compute(addends.at[e])));
        }
        store_pack<T, HALF>(row, at, pack);
        if (stored == nullptr) continue;
        if (wide) {
            Pack<float, HALF> floats;
#pragma unroll
            for (int e = 0; e < HALF; e++) floats.at[e] = to_compute(pack.at[e]);
            store_pack<float, HALF>(static_cast<float*>(stored), at, floats);
        } else {
            store_pack<T, HALF>(static_cast<T*>(stored), at, pack);
        }
    }
}
#endif
