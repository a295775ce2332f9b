// What is computed along a row, for the skeletons that hold rows in registers, shared memory or both (row_warp.cuh, row_block.cuh).
//
// A rule folds values into a State, merges states in any order (so a row may be cut among lanes, warps and blocks), turns the whole row's
// state into a Scale, and applies that to each value. States are plain structs of compute-type fields, so that they can be shuffled.
// Where all values of a lane are in registers, fold_last leaves in them what is dear to compute, and apply_last goes on from there.
#pragma once
#include "pack.cuh"

template <typename A>
struct Lowest;

template <>
struct Lowest<float> {
    static __device__ __forceinline__ float value() { return -TENON_INFINITY; }
};

template <>
struct Lowest<double> {
    static __device__ __forceinline__ double value() { return -TENON_INFINITY_F64; }
};

// e^v in three instructions for v <= 0: 2 units in the last place, and |v| / 2^24 from the rounding of the exponent.
__device__ __forceinline__ float exp_of(float v) { return fast_exp2(v * 1.4426950408889634f); }
__device__ __forceinline__ double exp_of(double v) { return exp(v); }
__device__ __forceinline__ float log_of(float v) { return logf(v); }
__device__ __forceinline__ double log_of(double v) { return log(v); }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }
__device__ __forceinline__ float reciprocal_root(float v) { return 1.0f / sqrtf(v); }
__device__ __forceinline__ double reciprocal_root(double v) { return 1.0 / sqrt(v); }

// Online softmax (Milakov, Gimelshein 2018): the largest value so far, and the sum of e^(v - largest).
// A maximum that ignores NaN is right here: the NaN comes back through the sum, and the whole row is NaN as its formula says.
template <typename A, bool LOG>
struct SoftmaxRule {
    static constexpr bool AFFINE = false;

    struct State {
        A largest;
        A sum;
    };

    struct Scale {
        A base;
        A factor;  // 1 / sum, or log(sum)
        A own;     // of values that fold_last left
    };

    static __device__ __forceinline__ State none() { return {Lowest<A>::value(), A(0)}; }

    // What is subtracted: 0 while all is -inf, so that e^(-inf - base) is 0 and not NaN.
    static __device__ __forceinline__ A base(A largest) { return largest == Lowest<A>::value() ? A(0) : largest; }

    template <int N>
    static __device__ __forceinline__ State fold(State s, const A (&v)[N], int count) {
        A largest = s.largest;
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) largest = larger(largest, v[i]);
        }
        A from = base(largest);
        A sum = s.sum * exp_of(s.largest - from);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) sum += exp_of(v[i] - from);
        }
        return {largest, sum};
    }

    static __device__ __forceinline__ State merge(State a, State b) {
        A largest = larger(a.largest, b.largest);
        A from = base(largest);
        return {largest, a.sum * exp_of(a.largest - from) + b.sum * exp_of(b.largest - from)};
    }

    // Leaves e^(v - largest of the lane), so that each power is computed once.
    template <int N>
    static __device__ __forceinline__ State fold_last(State s, A (&v)[N], int count) {
        if (LOG) return fold(s, v, count);
        A largest = s.largest;
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) largest = larger(largest, v[i]);
        }
        A from = base(largest);
        A sum = s.sum * exp_of(s.largest - from);
#pragma unroll
        for (int i = 0; i < N; i++) {
            v[i] = exp_of(v[i] - from);
            if (i < count) sum += v[i];
        }
        return {largest, sum};
    }

    static __device__ __forceinline__ Scale scale(State s, State lane, i64, A) {
        A from = base(s.largest);
        A factor = LOG ? log_of(s.sum) : A(1) / s.sum;
        return {from, factor, LOG ? factor : exp_of(base(lane.largest) - from) * factor};
    }

    static __device__ __forceinline__ A apply(Scale s, A v) {
        return LOG ? (v - s.base) - s.factor : exp_of(v - s.base) * s.factor;
    }

    static __device__ __forceinline__ A apply_last(Scale s, A v) { return LOG ? apply(s, v) : v * s.own; }
};

// Count, mean and sum of squared deviations (Chan, Golub, LeVeque 1979): each batch by two passes over registers, then merged. Nothing
// cancels, however large the mean.
template <typename A>
struct LayerNormRule {
    static constexpr bool AFFINE = true;

    struct State {
        A count;
        A mean;
        A deviation;
    };

    struct Scale {
        A mean;
        A factor;
    };

    static __device__ __forceinline__ State none() { return {A(0), A(0), A(0)}; }

    template <int N>
    static __device__ __forceinline__ State fold(State s, const A (&v)[N], int count) {
        count = count < N ? count : N;
        if (count <= 0) return s;
        A sum = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) sum += v[i];
        }
        A mean = sum / A(count);
        A deviation = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) deviation += (v[i] - mean) * (v[i] - mean);
        }
        return merge(s, {A(count), mean, deviation});
    }

    static __device__ __forceinline__ State merge(State a, State b) {
        A count = a.count + b.count;
        A delta = b.mean - a.mean;
        A share = count == A(0) ? A(0) : b.count / count;
        return {count, a.mean + delta * share, a.deviation + b.deviation + delta * (a.count * share) * delta};
    }

    static __device__ __forceinline__ Scale scale(State s, State, i64 n, A epsilon) {
        return {s.mean, reciprocal_root(s.deviation / A(n) + epsilon)};
    }

    static __device__ __forceinline__ A apply(Scale s, A v) { return (v - s.mean) * s.factor; }

    template <int N>
    static __device__ __forceinline__ State fold_last(State s, A (&v)[N], int count) {
        return fold(s, v, count);
    }

    static __device__ __forceinline__ A apply_last(Scale s, A v) { return apply(s, v); }
};

template <typename A>
struct RmsNormRule {
    static constexpr bool AFFINE = true;

    struct State {
        A squares;
    };

    struct Scale {
        A factor;
    };

    static __device__ __forceinline__ State none() { return {A(0)}; }

    template <int N>
    static __device__ __forceinline__ State fold(State s, const A (&v)[N], int count) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) s.squares += v[i] * v[i];
        }
        return s;
    }

    static __device__ __forceinline__ State merge(State a, State b) { return {a.squares + b.squares}; }

    static __device__ __forceinline__ Scale scale(State s, State, i64 n, A epsilon) {
        return {reciprocal_root(s.squares / A(n) + epsilon)};
    }

    static __device__ __forceinline__ A apply(Scale s, A v) { return v * s.factor; }

    template <int N>
    static __device__ __forceinline__ State fold_last(State s, A (&v)[N], int count) {
        return fold(s, v, count);
    }

    static __device__ __forceinline__ A apply_last(Scale s, A v) { return apply(s, v); }
};

// Merges the states of a warp's lanes; every lane gets the whole.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_warp(typename Rule::State s) {
    constexpr int FIELDS = sizeof(typename Rule::State) / sizeof(A);
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        typename Rule::State other;
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            reinterpret_cast<A*>(&other)[f] = __shfl_xor_sync(0xffffffffu, reinterpret_cast<A*>(&s)[f], lanes);
        }
        s = Rule::merge(s, other);
    }
    return s;
}

// Merges the states of a block's threads; every thread gets the whole. `slots` is shared, one a warp; blocks are whole warps.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_block(typename Rule::State s, typename Rule::State* slots) {
    s = merge_warp<Rule, A>(s);
    if (blockDim.x <= 32) return s;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    __syncthreads();  // the slots may still be read from the row before
    if (lane == 0) slots[warp] = s;
    __syncthreads();
    s = lane < static_cast<int>(blockDim.x / 32) ? slots[lane] : Rule::none();
    return merge_warp<Rule, A>(s);
}
