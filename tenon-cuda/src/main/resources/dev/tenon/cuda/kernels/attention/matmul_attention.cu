// y = attention of the heads of q, k and v, [q k v] = x w + bias, which never leave the multiprocessor (sm_90a): for sequences of at most 128 tokens
// and heads of D halves. A tile is a sequence times the 64 columns of one or two heads of q, and as many of k and v, made by the main loop of matmul_wgmma.
// Its halves go to shared memory, where each warpgroup attends as attention_short_wgmma does: 64 queries, all keys.
// That is done while the tensor cores make the next tile, a piece a step; of a block's last tile behind its products.
// Rows of a tile behind a sequence's last are the next one's: as keys they are masked, and they are stored as zeros.
//
// Launch: 384 threads; at most as many blocks as tiles; steps: parts of 128 bytes that cover the depth, at least PIECES. Dynamic shared memory: 1024 bytes and
// STAGES · 320 · 128 + 3 · 128 · 128.
// left: boxes of 128 rows of x, 128 bytes each. right: boxes of w, [k,n] (64 rows of 64 elements) or [n,k] (ALONG_B, 64 rows of 128 bytes), n = 3 heads · D, first all
// of q, then k, then v. Results [sequences, tokens, heads, D].
// Variants: TENON_T one of f16, bf16; TENON_D one of 32, 64; TENON_ALONG_B. Compiled for sm_90a alone.
#include "product_ring.cuh"
#include "whole_heads.cuh"

typedef TENON_T T;
constexpr bool ALONG_B = TENON_ALONG_B;
constexpr int D = TENON_D;
constexpr int ROWS = 128;
constexpr int COLUMNS = 192;
constexpr int PART = 64;            // columns of q, of k and of v
constexpr int HEADS = PART / D;     // of a tile
constexpr int STAGES = 4;
constexpr int GROUP = 128;          // threads of a warpgroup
constexpr int THREADS = 3 * GROUP;
constexpr int BAND = 8;             // sequences that are made at a time, so that what they read stays in the L2
constexpr int BOTH = 3;             // the barrier of the two that multiply
constexpr int PIECES = 6;           // steps beside which a tile is attended
constexpr int SCORES = 2 - HEADS;   // the step before which the first scores are asked for

#if __CUDA_ARCH_FEAT_SM90_ALL
using Ring = ProductRing<T, COLUMNS, STAGES, ALONG_B>;
using Whole = WholeHeads<T, D>;
constexpr int LINE = Whole::LINE;
constexpr int BOX = ROWS * LINE;       // bytes of a head's queries, keys or values
constexpr int PARTS = HEADS * BOX;     // of a tile's

struct Problem {
    const T* bias;
    T* y;
    int heads;
    int tokens;
    int steps;
    float scale;
    bool plain;
    int high;  // tiles
    int wide;
};

// The tiles of this block, one after the other.
struct Walk {
    int at = static_cast<int>(blockIdx.x);
    int sequence = 0;
    int head = 0;  // the first

    __device__ __forceinline__ bool there(const Problem& problem) {
        if (at >= problem.high * problem.wide) return false;
        int band = at / (BAND * problem.wide) * BAND;
        int rows = problem.high - band < BAND ? problem.high - band : BAND;
        int within = at - band * problem.wide;
        sequence = band + within % rows;
        head = within / rows * HEADS;
        return true;
    }

    __device__ __forceinline__ void next() { at += static_cast<int>(gridDim.x); }
};

__device__ __forceinline__ void fetch(const TensorMap& left, const TensorMap& right, const Problem& problem, const Ring& ring) {
    Ring::Place place;
    for (Walk walk; walk.there(problem); walk.next()) {
        for (int step = 0; step < problem.steps; step++) {
            ring.await_free(place);
            u32 barrier = ring.full(place.stage);
            u32 to = ring.ring + place.stage * Ring::STAGE;
            expect_bytes(barrier, Ring::STAGE);
            copy_box(to, left, step * Ring::DEPTH, walk.sequence * problem.tokens, barrier);
#pragma unroll
            for (int part = 0; part < 3; part++) {
                int column = (part * problem.heads + walk.head) * D;
                copy_box(to + Ring::LEFT + part * PART * Ring::LINE, right, ALONG_B ? step * Ring::DEPTH : column, ALONG_B ? column : step * Ring::DEPTH, barrier);
            }
            place.next();
        }
    }
}

// What is added to a tile's sums, and to scores, of a warpgroup's own.
struct Added {
    float bias[2][COLUMNS];
    float masks[2][HEADS][KEYS];
};

// Rows of a head in shared memory.
struct SharedRow {
    u32 line;
    int swapped;

    __device__ __forceinline__ T operator[](int i) const {
        u32 word = load_shared(line + (i / 8 ^ swapped) * 16 + i % 8 / 2 * 4);
        return reinterpret_cast<const T*>(&word)[i % 2];
    }
};

struct SharedRows {
    u32 at;

    __device__ __forceinline__ SharedRow row(i64, i64 t, i64) const { return {at + static_cast<u32>(t) * LINE, Whole::swapped(static_cast<int>(t))}; }
};

// A tile whose queries, keys and values lie in shared memory.
struct Held {
    u32 space;
    int own;
    Walk of;
    const float (*masks)[KEYS];
    u32 odd = 0;  // bits of heads with results that are NaN

    __device__ __forceinline__ u32 queries(int head) const { return space + head * BOX; }
    __device__ __forceinline__ u32 keys(int head) const { return space + PARTS + head * BOX; }
    __device__ __forceinline__ u32 values(int head) const { return space + 2 * PARTS + head * BOX; }
    __device__ __forceinline__ int first() const { return static_cast<int>(threadIdx.x) / 32 % 4 * 16 + own * 64; }  // row of this warp

    // Rows whose results are NaN again by their definition, when no products are under way.
    __device__ __forceinline__ void mend(const Problem& problem, const Seen<T, float>& seen) {
        if (odd == 0) return;
        __syncwarp();
        Seen<T, float> rules = seen;  // copies, so that the originals need not lie in memory
        i64 width = static_cast<i64>(problem.heads) * D;
        Heads<T> ys = {problem.y, problem.tokens * width, width, D};
#pragma unroll 1
        for (int head = 0; head < HEADS; head++) {
            if ((odd >> head & 1) == 0) continue;
            SharedRows qs = {queries(head)}, ks = {keys(head)}, vs = {values(head)};
#pragma unroll 1
            for (int row = first(); row < first() + 16 && row < problem.tokens; row++) {
                attend_row(qs, ks, vs, ys, rules, of.sequence, of.head + head, 0, row, D, D, problem.scale);
            }
        }
        odd = 0;
    }
};

// Its attention, in PIECES.
struct Attention {
    const Problem& problem;
    const Seen<T, float>& seen;
    Held& held;
    Whole::Scores s;
    Whole::Weights weights;
    Whole::Results o;
    float sums[2];  // of weights
    float factor;

    __device__ __forceinline__ Attention(const Problem& problem, const Seen<T, float>& seen, Held& held) : problem(problem), seen(seen), held(held) {}

    __device__ __forceinline__ void score(int head) { Whole::multiply(s, held.queries(head) + held.own * 64 * LINE, held.keys(head)); }

    __device__ __forceinline__ void mix(int head) { Whole::mix(o, weights, held.values(head)); }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) o[n][e] = 0.0f;
        }
    }

    // Scores to weights, of row g or g + 8.
    __device__ __forceinline__ void weigh(int head, int row) {
        if (row == 0) {
            const float* masks = held.masks[head];
            float scale = problem.scale * LOG2E;
            float4 four = *reinterpret_cast<const float4*>(masks + threadIdx.x % 32 * 4);
            bool masked = four.x != 0.0f || four.y != 0.0f || four.z != 0.0f || four.w != 0.0f || scale <= 0.0f;
            masked = __any_sync(0xffffffffu, masked);
            if (masked) mask_scores(s, scale, masks);
            factor = masked ? 1.0f : scale;
        }
        sums[row] = weigh_row(s, row, factor);
        Whole::pack(weights, s, row);
    }

    // Asks for products, before those of a step.
    __device__ __forceinline__ void before(int step) {
        bool scores = step == SCORES || (HEADS == 2 && step == 2);
        bool mixes = HEADS == 1 ? step == 4 : step == 2 || step == 5;
        if (!scores && !mixes) return;
        if (step == SCORES) meet_at(BOTH, 2 * GROUP);  // both have handed over
        if (mixes) clear();
        begin_products();
        if (mixes) mix(step == 5 ? 1 : 0);
        if (scores) score(step == 2 ? 1 : 0);
        end_products();
    }

    // While the products of two steps are made.
    __device__ __forceinline__ void beside(int step) {
        if (HEADS == 1) {
            if (step == 2 || step == 3) weigh(0, step - 2);
            if (step == 5) store(0);
        } else {
            if (step == 1) weigh(0, 1);
            if (step == 3) store(0);
            if (step == 3 || step == 4) weigh(1, step - 3);
        }
    }

    // While those of one step are made, and what was asked for before it is there.
    __device__ __forceinline__ void behind(int step) {
        if (HEADS == 1) return;
        if (step == 0) weigh(0, 0);
        if (step == 5) store(1);
    }

private:
    __device__ __forceinline__ void store(int head) {
        bool odd = false;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int row = held.first() + i * 8 + static_cast<int>(threadIdx.x) % 32 / 4;
            float total = seen.divisor(sums[i]);
            float share = total == 0.0f && !problem.plain ? 0.0f : fast_reciprocal(total);
            bool there = row < problem.tokens && held.of.head + head < problem.heads;
            if (!problem.plain) {
#pragma unroll
                for (int n = 0; n < D / 8; n++) {
#pragma unroll
                    for (int e = 0; e < 2; e++) {
                        float v = o[n][2 * i + e] * share;
                        odd = odd || (there && v != v);
                    }
                }
            }
            i64 at = (static_cast<i64>(held.of.sequence) * problem.tokens + row) * problem.heads + held.of.head + head;
            store_halves(problem.y + (there ? at : 0) * D, there ? D : 0, o, i, share);
        }
        if (__any_sync(0xffffffffu, odd)) held.odd |= 1u << head;
    }
};

// Sums with their bias to shared memory, as halves; keys and values from the row `tokens` on as zeros.
__device__ __forceinline__ void hand_over(const float (&sums)[COLUMNS / 8][4], const float (&biases)[COLUMNS], u32 space, int own, int tokens) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int first = own * 64 + static_cast<int>(threadIdx.x) / 32 % 4 * 16;
    int line = first + lane % 16;  // whose address this lane gives
    int chunk = lane / 16 ^ Whole::swapped(line);
    u32 to = space + line * LINE;
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j += 2) {
        u32 words[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int column = j + e / 2;
            float2 more = *reinterpret_cast<const float2*>(biases + column * 8 + lane % 4 * 2);
            words[e] = to_pair(sums[column][e % 2 * 2] + more.x, sums[column][e % 2 * 2 + 1] + more.y, T());
            if (j >= PART / 8 && first + e % 2 * 8 + lane / 4 >= tokens) words[e] = 0;
        }
        int part = j / (PART / 8), head = j % (PART / 8) / (D / 8);
        store_matrices(to + part * PARTS + head * BOX + (j % (D / 8) ^ chunk) * 16, words[0], words[1], words[2], words[3]);
    }
    show_to_tensor_cores();
}

// What is added to a tile's columns and keys: asked for long before it is used.
struct Asked {
    float bias[2];
    float masks[HEADS];

    __device__ __forceinline__ Asked(const Problem& problem, const Seen<T, float>& seen, const Walk& walk) {
        int thread = static_cast<int>(threadIdx.x) % GROUP;
        int width = problem.heads * D;
#pragma unroll
        for (int i = 0, at = thread; i < 2; i++, at += GROUP) {
            int within = walk.head * D + at % PART;
            bool there = problem.bias && at < COLUMNS && within < width;
            bias[i] = there ? to_compute(problem.bias[at / PART * width + within]) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < HEADS; i++) masks[i] = walk.head + i < problem.heads ? added(seen, walk.sequence, walk.head + i, thread) : 0.0f;
    }

    __device__ __forceinline__ void keep(Added& to, int turn) const {
        int thread = static_cast<int>(threadIdx.x) % GROUP;
#pragma unroll
        for (int i = 0, at = thread; i < 2; i++, at += GROUP) {
            if (at < COLUMNS) to.bias[turn][at] = bias[i];
        }
#pragma unroll
        for (int i = 0; i < HEADS; i++) to.masks[turn][i][thread] = masks[i];
    }
};

// A tile's products; ATTEND: beside them the attention of the tile before.
template <bool ATTEND>
__device__ __forceinline__ void make(float (&sums)[COLUMNS / 8][4], const Problem& problem, const Seen<T, float>& seen, const Ring& ring, Ring::Place& place,
                                     Held& held, Added& to, int turn, const Walk& walk) {
    constexpr int UNROLLED = ATTEND ? PIECES : 1;
    Attention attention(problem, seen, held);
    Asked asked(problem, seen, walk);
    u32 before = place.stage;
#pragma unroll
    for (int step = 0; step < UNROLLED; step++) {
        if (ATTEND) attention.before(step);
        if (step == 0) {
            ring.multiply<true, true>(sums, place, held.own);
            place.next();
            if (ATTEND && SCORES == 0) await_products<1>();
        } else {
            ring.multiply<false, true>(sums, place, held.own);
            if (ATTEND) attention.beside(step);
            ring.pass_on(place, before);
        }
        if (ATTEND) attention.behind(step);
    }
#pragma unroll 1
    for (int step = UNROLLED; step < problem.steps; step++) {
        ring.multiply<false, true>(sums, place, held.own);
        ring.pass_on(place, before);
    }
    asked.keep(to, turn);
    ring.finish(before);
}

// The attention of a tile alone.
__device__ __forceinline__ void attend(const Problem& problem, const Seen<T, float>& seen, Held& held) {
    Attention attention(problem, seen, held);
#pragma unroll
    for (int step = 0; step < PIECES; step++) {
        attention.before(step);
        attention.beside(step);
        await_products<0>();
        attention.behind(step);
    }
    held.mend(problem, seen);
}

__device__ __forceinline__ void consume(const Problem& problem, const Seen<T, float>& seen, const Ring& ring, Added (&all)[2], u32 space) {
    int own = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / GROUP - 1, 0);  // the same for all, which the compiler cannot know
    float sums[COLUMNS / 8][4];
    Added& to = all[own];
    Held held = {space, own};
    Ring::Place place;
    int turn = 0;
    bool first = true;
    ring.start_turns(own);
#pragma unroll 1
    for (Walk walk; walk.there(problem); walk.next()) {
        if (first) {
            make<false>(sums, problem, seen, ring, place, held, to, turn, walk);
            first = false;
        } else {
            make<true>(sums, problem, seen, ring, place, held, to, turn, walk);
            held.mend(problem, seen);
        }
        meet_at(BOTH, 2 * GROUP);  // all have read what lies there, and written what is added
        hand_over(sums, to.bias[turn], space, own, problem.tokens);
        held.of = walk;
        held.masks = to.masks[turn];
        turn ^= 1;
    }
    ring.end_turns(own);
    attend(problem, seen, held);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(matmul_attention)(TensorMap const __grid_constant__ left, TensorMap const __grid_constant__ right, const T* bias, T* y, const void* mask,
                                 i64 m_batch, i64 m_head, i64 m_key, i32 sequences, i32 tokens, i32 heads, i32 steps, i32 kind, float scale, i32 formula) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[2 * STAGES];
    __shared__ alignas(16) Added added_here[2];  // of a warpgroup
    u32 space = (shared_address(dynamic) + 1023) / 1024 * 1024;
    Ring ring = {space, shared_address(barriers)};
    Problem problem = {bias, y, heads, tokens, steps, scale, formula == PLAIN, sequences, (heads + HEADS - 1) / HEADS};
    Seen<T, float> seen = {mask, m_batch, m_head, 0, m_key, kind, 0, 0, tokens, tokens, 0.0f, formula == GUARDED};
    if (threadIdx.x == 0) {
        prefetch_map(left);
        prefetch_map(right);
        ring.start();
        show_to_tensor_cores();
    }
    release_successor();
    await_predecessor();
    __syncthreads();
    if (threadIdx.x < GROUP) {
        give_registers<24>();
        if (threadIdx.x == 0) fetch(left, right, problem, ring);
    } else {
        take_registers<240>();
        consume(problem, seen, ring, added_here, space + STAGES * Ring::STAGE);
    }
#endif
}
TENON_ENTRY(matmul_attention)
