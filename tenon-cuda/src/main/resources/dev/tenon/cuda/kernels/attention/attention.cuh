// What the attention kernels share: where operands lie, and which scores a query sees.
#pragma once
#include "pack.cuh"

// 1 where sequences have lengths of their own, and keys may lie in pages: attention_ragged.cuh.
#ifndef TENON_RAGGED
#define TENON_RAGGED 0
#endif

constexpr float LOG2E = 1.4426950408889634f;
constexpr float LARGEST = 3.4028234663852886e38f;

// An operand [batch, token, head, element] with its strides in elements; elements are neighbours.
template <typename T>
struct Heads {
    T* at;
    i64 batch;
    i64 token;
    i64 head;
#if TENON_RAGGED
    const i32* pages;  // of this sequence, `batch` elements from one to the next; null where tokens are neighbours
    u32 page;          // tokens of one, or as many as a sequence can have

    __device__ __forceinline__ T* row(i64 b, i64 t, i64 h) const {
        if (!pages) return at + t * token + h * head;
        u32 first = static_cast<u32>(t) / page;  // lengths are 32 bits wide
        return at + pages[first] * batch + (static_cast<u32>(t) - first * page) * token + h * head;
    }

    // Row t + r, where `base` is row t.
    __device__ __forceinline__ T* below(T* base, i64 t, i64 r, i64 h) const { return pages ? row(0, t + r, h) : base + r * token; }
#else

    __device__ __forceinline__ T* row(i64 b, i64 t, i64 h) const { return at + b * batch + t * token + h * head; }

    // Row t + r, where `base` is row t.
    __device__ __forceinline__ T* below(T* base, i64 t, i64 r, i64 h) const { return base + r * token; }
#endif
};

// What is computed: PLAIN leaves nothing out, a row of scores that are all -inf is NaN and 0 times a value that is NaN is NaN; GUARDED is the
// same with 0 for weights that are NaN; SEEN_ALONE leaves out keys that a query does not see, and a query that sees none has 0.
enum Formula { SEEN_ALONE = 0, PLAIN = 1, GUARDED = 2 };

enum MaskKind { MASK_NONE = 0, MASK_ADDED = 1, MASK_BOOLEAN = 2 };

// The rules by which a query sees keys: bottom-right causal, sliding window, soft cap, mask. Scores come in scaled.
template <typename T, typename A>
struct Seen {
    const void* mask;  // T or u8, broadcast by strides of 0
    i64 mask_batch;
    i64 mask_head;
    i64 mask_query;
    i64 mask_key;
    int kind;
    int causal;
    i64 window;  // 0 for none
    i64 queries;
    i64 keys;
    A cap;  // 0 for none
    bool guarded;
#if TENON_RAGGED
    const float* slopes;  // of heads: what is added a key of distance; null for none
#endif

    // What sums are divided by: guarded, weights of a row without any are 0, and so are their sums, or NaN by the values.
    __device__ __forceinline__ A divisor(A total) const { return guarded && total == A(0) ? A(1) : total; }

    __device__ __forceinline__ i64 position(i64 query) const { return query + keys - queries; }

    // The keys [first, end) that some query of [from, to] may see.
    __device__ __forceinline__ i64 end(i64 to) const {
        i64 all = causal ? position(to) + 1 : keys;
        return all < 0 ? 0 : all < keys ? all : keys;
    }

    __device__ __forceinline__ i64 first(i64 from) const {
        i64 start = window > 0 ? position(from) - window + 1 : 0;
        return start < 0 ? 0 : start;
    }

    // The scaled score of a pair in bounds, with cap and mask; -inf where the query does not see the key.
    __device__ __forceinline__ A score(A scaled, i64 b, i64 h, i64 query, i64 key) const {
        A s = cap > A(0) ? cap * tanh(scaled / cap) : scaled;
        i64 at = b * mask_batch + h * mask_head + query * mask_query + key * mask_key;
        if (kind == MASK_ADDED) s += to_compute(static_cast<const T*>(mask)[at]);
#if TENON_RAGGED
        if (slopes) s += A(slopes[h]) * A(key - position(query));
#endif
        bool sees = (!causal || key <= position(query)) && (window == 0 || key > position(query) - window);
        if (kind == MASK_BOOLEAN) sees = sees && static_cast<const u8*>(mask)[at] != 0;
        return sees ? s : A(-TENON_INFINITY);
    }
};

// An added mask's element in powers of 2. Finite ones stay finite: a row of the least numbers still has weights.
__device__ __forceinline__ float in_powers_of_2(float added) {
    float r = added * LOG2E;
    return fabsf(r) > LARGEST && fabsf(added) <= LARGEST ? copysignf(LARGEST, added) : r;
}

// tanh within 2^-22, in two instructions of the special function unit.
__device__ __forceinline__ float capped(float x) {
    return 1.0f - 2.0f * fast_reciprocal(1.0f + fast_exp2(x * (2.0f * LOG2E)));
}

// How a lane makes scores of products of tensor cores: scaled, capped, masked, in powers of 2 of `factor`.
template <typename T>
struct Scores {
    const Seen<T, float>& seen;
    float factor;  // of what score() returns
    float scale;   // of what it is given
    bool raw;      // products are scores: a positive factor alone remains

    __device__ __forceinline__ Scores(const Seen<T, float>& seen, float scale) : seen(seen) {
        raw = seen.kind == MASK_NONE && seen.cap == 0.0f && scale > 0.0f;
#if TENON_RAGGED
        raw = raw && !seen.slopes;
#endif
        factor = raw ? scale * LOG2E : 1.0f;
        this->scale = seen.cap > 0.0f ? scale / seen.cap : scale * LOG2E;
    }

    // One score before masks where there is a cap; others are product * scale, unless raw.
    __device__ __forceinline__ float capped_score(float product) const { return seen.cap * LOG2E * capped(product * scale); }
};

// The keys that a row sees, apart from a mask, as bounds of columns of a tile of `width` keys.
struct Span {
    i64 low;
    i64 high;  // included

    template <typename T>
    __device__ __forceinline__ Span(const Seen<T, float>& seen, i64 query) {
        i64 at = seen.position(query);
        low = seen.window > 0 ? at - seen.window + 1 : 0;
        high = seen.causal && at < seen.keys - 1 ? at : seen.keys - 1;
    }

    __device__ __forceinline__ int from(i64 key, int width) const {
        i64 r = low - key;
        return static_cast<int>(r < 0 ? 0 : r < width ? r : width);
    }

    __device__ __forceinline__ int to(i64 key, int width) const {
        i64 r = high - key;
        return static_cast<int>(r < -1 ? -1 : r < width ? r : width);
    }
};

// A row by its definition, by one warp: for rows into which tensor cores mixed values that are not finite, for their 0 times infinity is
// NaN where a key that is not seen has no part. At most 256 elements of a value.
template <typename T, typename Rows>
__device__ __noinline__ void attend_row(const Rows& qs, const Rows& ks, const Rows& vs, const Heads<T>& ys, const Seen<T, float>& seen, i64 b, i64 h,
                                        i64 key_head, i64 query, int d, int dv, float scale) {
    constexpr unsigned int ALL = 0xffffffffu;
    constexpr int MOST = 8;
    int lane = threadIdx.x % 32;
    float o[MOST] = {};
    float top = -TENON_INFINITY;
    float total = 0;
    i64 end = seen.end(query);
    const auto q = qs.row(b, query, h);
    for (i64 key = seen.first(query); key < end; key += 32) {
        float s = -TENON_INFINITY;
        if (key + lane < end) {
            const auto k = ks.row(b, key + lane, key_head);
            float product = 0;
            for (int i = 0; i < d; i++) product += to_compute(q[i]) * to_compute(k[i]);
            s = seen.score(product * scale, b, h, query, key + lane);
        }
        float most = s;
        for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(ALL, most, step));
        most = fmaxf(most, top);
        float base = most == -TENON_INFINITY ? 0.0f : most;
        float kept = fast_exp2((top - base) * LOG2E);
        float p = fast_exp2((s - base) * LOG2E);
        top = most;
        float sum = p;
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
        total = total * kept + sum;
#pragma unroll
        for (int i = 0; i < MOST; i++) o[i] *= kept;
        for (int j = 0; j < 32; j++) {
            float weight = __shfl_sync(ALL, p, j);
            float score = __shfl_sync(ALL, s, j);
            if (key + j >= end || (score == -TENON_INFINITY && !seen.guarded)) continue;
            const auto v = vs.row(b, key + j, key_head);
#pragma unroll
            for (int i = 0; i < MOST; i++) {
                int c = lane + 32 * i;
                if (c < dv) o[i] += weight * to_compute(v[c]);
            }
        }
    }
    if (seen.guarded && !(total > 0.0f)) {  // weights are NaN, and count as 0
        total = 1.0f;
#pragma unroll
        for (int i = 0; i < MOST; i++) {
            int c = lane + 32 * i;
            o[i] = 0.0f;
            for (i64 key = 0; key < end && c < dv; key++) o[i] += 0.0f * to_compute(vs.row(b, key, key_head)[c]);
        }
    }
    T* y = ys.row(b, query, h);
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        int c = lane + 32 * i;
        if (c < dv) y[c] = From<T>::of(total == 0.0f ? 0.0f : o[i] / total);
    }
}
