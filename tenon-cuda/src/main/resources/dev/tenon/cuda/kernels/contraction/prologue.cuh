// Few rows that a product makes of its operand before it multiplies them (gemv.cu): a of x, rounded to T as a launch of its own would.
//
// TENON_PROLOGUE:
//   0  a is x
//   1  RmsNorm: a = x / sqrt(mean of squares + epsilon) · scale
//   2  LayerNorm: a = (x - mean) / sqrt(variance + epsilon) · scale + shift
//   3  a = before(x) for unit 0; a gated unit of x [m, 2 k], a = before(x[:, :k]) x[:, k:] for 1, a = x[:, :k] before(x[:, k:]) for 2
// TENON_FN, of 3: the function of unary_fn.cuh, which `before` then is, too; -1 for any, looked up for each element.
// scale and shift are [k] and may be null. Every block has 256 threads and makes the rows for itself: m times k elements from L2.
#pragma once
#include "norm_rules.cuh"
#include "short_fn.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int ROWS = TENON_ROWS;
constexpr int WARPS = 8;
constexpr int PACK = Widest<T>::value;

// Elements of k that one of `shares` blocks has: its warps have equal parts, which begin at whole packs.
__device__ __forceinline__ i64 span_of(i64 k, i64 shares) {
    i64 each = (k + shares * WARPS - 1) / (shares * WARPS);
    return (each + PACK - 1) / PACK * PACK * WARPS;
}

#if TENON_PROLOGUE == 0

// Nothing is made: rows are read where they lie.
struct Prologue {
    const T* x;
    i64 k;

    __device__ __forceinline__ Prologue(const T* from, const T*, const T*, i64, i64 depth, A, i32, A, A, i32) : x(from), k(depth) {}
    __device__ __forceinline__ i64 line(i64) const { return k; }
    __device__ __forceinline__ const T* rows(T*, i64 from, i64, i64) const { return x + from; }
};

#else

// What is common to all: rows are made in shared memory, `line` elements apart.
template <typename Maker>
struct MadeRows : Maker {
    i64 m;
    bool whole;  // rows are whole packs

    __device__ __forceinline__ MadeRows(
        const T* x, const T* scale, const T* shift, i64 rows, i64 k, A epsilon, i32 before, A q0, A q1, i32 unit)
        : Maker(x, scale, shift, rows, k, epsilon, before, q0, q1, unit), m(rows), whole(k % PACK == 0) {}

    __device__ __forceinline__ i64 line(i64 span) const { return span; }

    // Elements [from, to) of all rows, for the whole block.
    __device__ __forceinline__ const T* rows(T* made, i64 from, i64 to, i64 line) const {
        __syncthreads();  // those before have been read
        for (i64 row = 0; row < m; row++) {
            if (whole) {
                make<PACK>(made + row * line, row, from, to);
            } else {
                make<1>(made + row * line, row, from, to);
            }
        }
        __syncthreads();
        return made;
    }

private:
    template <int V>
    __device__ __forceinline__ void make(T* made, i64 row, i64 from, i64 to) const {
#pragma unroll 1
        for (i64 at = threadIdx.x; at < (to - from) / V; at += WARPS * 32) {
            store_pack<T, V>(made, at, Maker::template of<V>(row, from / V + at));
        }
    }
};

#if TENON_PROLOGUE == 3

struct FunctionOf {
    const T* x;
    i64 pitch;
    i64 width;
    i32 fn;
    A p0;
    A p1;
    i32 gated;

    __device__ __forceinline__ FunctionOf(const T* from, const T*, const T*, i64, i64 k, A, i32 before, A q0, A q1, i32 unit)
        : x(from), pitch(unit ? 2 * k : k), width(k), fn(before), p0(q0), p1(q1), gated(unit) {}

    __device__ __forceinline__ A function(A v) const {
#if TENON_FN < 0
        return unary_fn_call(fn, v, p0, p1);
#else
        return ShortFnIn<T, A, TENON_FN>::of(v, p0, p1);
#endif
    }

    template <int V>
    __device__ __forceinline__ Pack<T, V> of(i64 row, i64 pack) const {
        const T* line = x + row * pitch;
        Pack<T, V> a = load_pack<T, V>(gated == 2 ? line + width : line, pack);
        Pack<T, V> b = gated ? load_pack<T, V>(gated == 2 ? line : line + width, pack) : a;
#pragma unroll
        for (int e = 0; e < V; e++) {
            a.at[e] = From<T>::of(function(to_compute(a.at[e])));
            if (gated) a.at[e] = From<T>::of(to_compute(a.at[e]) * to_compute(b.at[e]));
        }
        return a;
    }
};

typedef MadeRows<FunctionOf> Prologue;

#else

template <typename Rule>
struct NormOf {
    typedef typename Rule::State State;
    typedef typename Rule::Scale Scale;
    static constexpr int TEAM = ROWS < WARPS ? WARPS / ROWS : 1;  // warps of a row
    static constexpr int AT_ONCE = sizeof(T) == 2 ? 2 : 4;        // packs that a lane has on their way

    const T* x;
    const T* gamma;
    const T* beta;
    i64 k;
    Scale* scales;

    __device__ __forceinline__ NormOf(const T* from, const T* scale, const T* shift, i64 m, i64 depth, A epsilon, i32, A, A, i32)
        : x(from), gamma(scale), beta(shift), k(depth) {
        __shared__ State slots[ROWS][TEAM];
        __shared__ Scale found[ROWS];
        scales = found;
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        for (i64 row = warp / TEAM; row < m; row += WARPS / TEAM) {
            const T* line = x + row * k;
            int first = warp % TEAM * 32 + lane;
            State s = k % PACK == 0 ? fold<PACK>(line, first) : fold<1>(line, first);
            s = Rule::over_lanes(s);
            if (lane == 0) slots[row][warp % TEAM] = s;
        }
        __syncthreads();
        for (i64 row = warp; row < m; row += WARPS) {
            State s = TEAM == 1 ? slots[row][0] : Rule::template over_slots<1, true>(slots[row], TEAM);
            if (lane == 0) found[row] = Rule::scale(s, k, epsilon);
        }
    }

    template <int V>
    __device__ __forceinline__ State fold(const T* line, i64 first) const {
        constexpr int STRIDE = TEAM * 32;
        constexpr int N = V == 1 ? 4 : AT_ONCE;
        State s = Rule::none();
        for (i64 at = first; at < k / V; at += N * STRIDE) {
            Pack<T, V> packs[N];
            int count = 0;
#pragma unroll
            for (int i = 0; i < N; i++) {
                if (at + i * STRIDE < k / V) {
                    packs[i] = load_pack<T, V>(line, at + i * STRIDE);
                    count = (i + 1) * V;
                }
            }
            A v[N * V];
#pragma unroll
            for (int i = 0; i < N * V; i++) v[i] = i < count ? to_compute(packs[i / V].at[i % V]) : A(0);
            s = Rule::fold(s, v, count);
        }
        return s;
    }

    template <int V>
    __device__ __forceinline__ Pack<T, V> of(i64 row, i64 pack) const {
        Pack<T, V> a = load_pack<T, V>(x + row * k, pack);
        Pack<T, V> g, b;
        if (gamma) g = load_pack<T, V>(gamma, pack);
        if (beta) b = load_pack<T, V>(beta, pack);
        Scale scale = scales[row];
#pragma unroll
        for (int e = 0; e < V; e++) {
            A v = Rule::apply(scale, to_compute(a.at[e]));
            if (gamma) v *= to_compute(g.at[e]);
            if (beta) v += to_compute(b.at[e]);
            a.at[e] = From<T>::of(v);
        }
        return a;
    }
};

#if TENON_PROLOGUE == 1
typedef MadeRows<NormOf<RmsNormRule<A>>> Prologue;
#else
typedef MadeRows<NormOf<LayerNormRule<A>>> Prologue;
#endif
#endif
#endif
