// What a resident kernel knows of its work: phases one behind the other, and the shared memory of a block.
//
// A product's block takes 16 rows, a row tile, and of the column tiles of 8 every `parts`-th one, in rounds of what fits into half of the shared memory
// for weights. Weights lie as [n, k] and need nothing that a phase before makes, so those of the next round are on their way while one is worked on.
//
// Phases do not meet. What a phase makes and another one reads lies where every word was NOT_YET before the first phase, and a reader looks at the
// words that it needs until each is something else. So each word says by itself that it is there, and no order among words is asked for: loads and
// stores are relaxed ones of whole words. Stores never write NOT_YET, which is a NaN that no arithmetic makes. No two values of a launch lie in the same
// place, so a word changes once.
//
// A block runs each phase for a few microseconds, so that what counts is the number of instructions and of loads that wait for one another.
#pragma once
#include "copy_engine.cuh"
#include "row_rules.cuh"
#include "unary_fn.cuh"

typedef TENON_T T;

// Whether the copy engine fetches weights, asked by one warp; else all threads do by asynchronous copies.
#if __CUDA_ARCH__ >= 900 && !defined(TENON_NO_COPY_ENGINE)
#define TENON_COPY_ENGINE 1
#else
#define TENON_COPY_ENGINE 0
#endif

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
constexpr int SEEN_Y = 4;         // phases of this launch read y
constexpr int SEEN_NORMED = 8;    // and what is stored at `normed`

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
    i32 k, next;        // the next phase that is a product or a norm, or -1
    i32 least, more;    // column tiles of each part; how many parts have one more
    i32 ways, round;    // logarithm of the column tiles that warps take at a time; column tiles of a round
    i32 fn, unused;     // activation or 0
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

// The shared memory of a block, and its place in products, all of which have as many rows. What is fetched ahead has two places.
struct Block {
    T* rows;        // [16, wide]
    T* affine;      // [2, slot], scale and shift of a norm
    float* cells;   // sums of warps
    T* weights;     // [2, half], of those [round, 8, wide]
    u64* arrivals;  // two barriers
    int slot, half;
    int tile, part, parts;
};

__device__ __forceinline__ int column_tiles(const Phase& p, const Block& block) {
    return block.tile * TILE >= p.rows || block.tile < 0 ? 0 : p.least + (block.part < p.more ? 1 : 0);
}

// What a block fetches at a time: the column tiles from one on of a product and what its norm takes, or that of a norm. Its units follow one another
// over all phases; while one is worked on the next is on its way.
struct Unit {
    int phase, from;
};

// The first unit of a phase, or of the next that has one; phase -1 behind the last.
__device__ __forceinline__ Unit first_unit(const Phases& phases, const Block& block, int phase) {
#pragma unroll 1
    while (phase >= 0 && phases.at[phase].kind == PHASE_PRODUCT && column_tiles(phases.at[phase], block) == 0) phase = phases.at[phase].next;
    return {phase, 0};
}

__device__ __forceinline__ Unit unit_after(const Phases& phases, const Block& block, Unit unit) {
    if (unit.phase < 0) return unit;
    const Phase& p = phases.at[unit.phase];
    int from = unit.from + p.round;
    if (p.kind == PHASE_PRODUCT && from < column_tiles(p, block)) return {unit.phase, from};
    return first_unit(phases, block, p.next);
}

// Which threads call fetch.
__device__ __forceinline__ bool fetches() {
#if TENON_COPY_ENGINE
    return threadIdx.x / 32 == WARPS - 1;  // which has least to do with results
#else
    return true;
#endif
}

// Fetches what no phase makes of a unit, to the place of its number.
__device__ __forceinline__ void fetch(const Phases& phases, const Block& block, Unit unit, int number) {
    if (unit.phase >= 0) {
        const Phase& p = phases.at[unit.phase];
        int lane = threadIdx.x % 32, k = p.k, parts = block.parts, wide = wide_row(k), count = 0;
        if (p.kind == PHASE_PRODUCT) {
            count = column_tiles(p, block) - unit.from;
            count = count < p.round ? count : p.round;
        }
        bool norms = p.source == ROWS_NORM && unit.from == 0;
        T* weights = block.weights + number % 2 * block.half;
        T* affine = block.affine + number % 2 * block.slot;
        const T* w = p.w + static_cast<i64>((block.part + unit.from * parts) * COLUMNS) * k;
#if TENON_COPY_ENGINE
        int bytes = k * static_cast<int>(sizeof(T));
        u32 barrier = shared_address(block.arrivals + number % 2);
        if (lane == 0) expect_bytes(barrier, (count * COLUMNS + (norms ? 2 : 0)) * bytes);
        __syncwarp();
#pragma unroll 1
        for (int row = lane; row < count * COLUMNS; row += 32) {
            copy_bulk(shared_address(weights + row * wide), w + static_cast<i64>(row / COLUMNS * parts * COLUMNS + row % COLUMNS) * k, bytes, barrier);
        }
        if (norms && lane < 2) copy_bulk(shared_address(affine + lane * k), lane == 0 ? p.scale : p.shift, bytes, barrier);
#else
        if (norms) {
            for (int at = threadIdx.x * V; at < 2 * k; at += THREADS * V) copy_async_16(affine + at, at < k ? p.scale + at : p.shift + (at - k));
        }
#pragma unroll 1
        for (int row = threadIdx.x / 32; row < count * COLUMNS; row += WARPS) {
            const T* source = w + static_cast<i64>(row / COLUMNS * parts * COLUMNS + row % COLUMNS) * k;
#pragma unroll 1
            for (int at = lane * V; at < k; at += 32 * V) copy_async_16(weights + row * wide + at, source + at);
        }
#endif
    }
#if !TENON_COPY_ENGINE
    copy_async_commit();
#endif
}

// Waits for what was fetched for the unit of that number, where that of the next may be on its way; by all threads.
__device__ __forceinline__ void await_fetched(const Block& block, int number) {
#if TENON_COPY_ENGINE
    await_phase(shared_address(block.arrivals + number % 2), number / 2 & 1);
#else
    copy_async_wait<1>();
    __syncthreads();
#endif
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

// The same where the rows of a are operands already.
template <typename E>
__device__ __forceinline__ void multiply_operands(float (&sums)[4], uint4 low, uint4 high, uint4 b, E) {
    multiply(sums, low, high, b, E());
}

__device__ __forceinline__ void multiply_operands(float (&sums)[4], uint4 low, uint4 high, uint4 b, float) {
    u32 a0[4] = {low.x, high.x, low.y, high.y};
    u32 b0[2] = {tf32_bits(b.x), tf32_bits(b.y)};
    mma_1688_tf32(sums, a0, b0);
    u32 a1[4] = {low.z, high.z, low.w, high.w};
    u32 b1[2] = {tf32_bits(b.z), tf32_bits(b.w)};
    mma_1688_tf32(sums, a1, b1);
}

// Elements of a product's rows as operands, which are rounded to TF32 here once and not for each column tile.
template <typename W, typename E>
__device__ __forceinline__ W as_operands(W words, E) {
    return words;
}
__device__ __forceinline__ uint4 as_operands(uint4 v, float) { return make_uint4(tf32_bits(v.x), tf32_bits(v.y), tf32_bits(v.z), tf32_bits(v.w)); }

template <typename E>
__device__ __forceinline__ E as_operand(float v, E) {
    return From<E>::of(v);
}
__device__ __forceinline__ float as_operand(float v, float) { return to_tf32(v); }

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

template <typename E>
__device__ __forceinline__ uint2 pack_four(const float (&v)[4], E) {
    return make_uint2(sealed(to_pair(v[0], v[1], E())), sealed(to_pair(v[2], v[3], E())));
}
__device__ __forceinline__ uint4 pack_four(const float (&v)[4], float) {
    return make_uint4(sealed(__float_as_uint(v[0])), sealed(__float_as_uint(v[1])), sealed(__float_as_uint(v[2])), sealed(__float_as_uint(v[3])));
}

// Elements of an access to rows that have a norm, and accesses of a lane, at most.
constexpr int FOUR = 4;
constexpr int ROW_PACKS = MOST_NORMED / 32 / FOUR;

template <typename E>
struct Access {
    typedef uint2 type;
};
template <>
struct Access<float> {
    typedef uint4 type;
};

// The layer norm of a row by a warp, to shared memory where `to` is not null, and to `stored` where that is not null: for other phases, or as floats
// where `wide`. In one pass over registers, about the row's first element: what that cancels stays far below the rounding of T.
__device__ __forceinline__ void norm_row(const Phase& p, int row, const T* affine, T* to, void* stored, bool wide) {
    typedef typename Access<T>::type Words;
    int lane = threadIdx.x % 32, k = p.k, packs = k / FOUR;
    bool waits = (p.flags & MADE_X) != 0;
    float epsilon = p.factor;
    const Words* from = reinterpret_cast<const Words*>(p.x + static_cast<i64>(row) * k) + lane;
    Words own[ROW_PACKS];
    bool missing;
#pragma unroll 1
    do {
        missing = false;
#pragma unroll
        for (int c = 0; c < ROW_PACKS; c++) {
            if (32 * c >= packs) break;
            own[c] = {};
            if (lane + 32 * c < packs) own[c] = load_handed(from + 32 * c);
        }
#pragma unroll
        for (int c = 0; c < ROW_PACKS; c++) {
            if (32 * c >= packs) break;
            missing |= is_missing(own[c]);
        }
        missing &= waits;
        if (missing) look_again();
    } while (missing);
    __syncwarp();
    float sum = 0, squares = 0;
    float pivot = __shfl_sync(0xffffffffu, to_compute(reinterpret_cast<const Pack<T, FOUR>*>(own)->at[0]), 0);
#pragma unroll
    for (int c = 0; c < ROW_PACKS; c++) {
        if (32 * c >= packs) break;
        Pack<T, FOUR> pack = *reinterpret_cast<Pack<T, FOUR>*>(&own[c]);
        if (lane + 32 * c < packs) {
#pragma unroll
            for (int e = 0; e < FOUR; e++) {
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
        if (32 * c >= packs) break;
        int at = lane + 32 * c;
        if (at >= packs) continue;
        Pack<T, FOUR> pack = *reinterpret_cast<Pack<T, FOUR>*>(&own[c]), factors = load_pack<T, FOUR>(affine, at), addends = load_pack<T, FOUR>(affine + k, at);
        float v[FOUR];
#pragma unroll
        for (int e = 0; e < FOUR; e++) v[e] = fmaf(fmaf(to_compute(pack.at[e]) - pivot, by, rest), to_compute(factors.at[e]), to_compute(addends.at[e]));
        Words whole = pack_four(v, T());
        if (to != nullptr) reinterpret_cast<Words*>(to)[at] = as_operands(whole, T());
        if (stored == nullptr) continue;
        if (wide && sizeof(T) == 2) {
            Pack<T, FOUR> halves = *reinterpret_cast<Pack<T, FOUR>*>(&whole);
            Pack<float, FOUR> floats;
#pragma unroll
            for (int e = 0; e < FOUR; e++) floats.at[e] = to_compute(halves.at[e]);
            store_pack<float, FOUR>(static_cast<float*>(stored), at, floats);
        } else {
            store_handed(static_cast<Words*>(stored) + at, whole);
        }
    }
}
#endif
