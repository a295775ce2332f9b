// What is computed along a row, for the skeletons that hold rows in registers, shared memory or both (row_warp.cuh, row_block.cuh).
//
// A rule folds values into a State, merges states in any order (so a row may be cut among lanes, warps and blocks), turns the whole row's
// state into a Scale, and applies that to each value. States are plain structs of compute-type fields, so that they can be shuffled.
// Where threads keep their values in registers, gather makes the state of a warp's: `packs` packs of V values of a lane from the first on, and
// the last one of the array if `last`. It may leave in them what apply_last goes on from, with the scale that rescale makes of the warp's
// state and the whole row's. over_slots merges n states in shared memory, up to EACH a lane; or each thread by itself, at most EACH.
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

__device__ __forceinline__ float quotient(float a, float b) { return a * fast_reciprocal(b); }
__device__ __forceinline__ double quotient(double a, double b) { return a / b; }

// Whether the lane has value i of n.
template <int V>
__device__ __forceinline__ bool held(int i, int n, int packs, bool last) {
    return i < n - 1 ? i / V < packs : last;
}

template <typename A>
__device__ __forceinline__ A sum_over_warp(A v) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xffffffffu, v, lanes);
    return v;
}

template <typename A>
__device__ __forceinline__ A max_over_warp(A v) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v = larger(v, __shfl_xor_sync(0xffffffffu, v, lanes));
    return v;
}

#if __CUDA_ARCH__ >= 800
// One instruction, on integers in the order of the floats; a NaN is larger or smaller than all, by its sign.
__device__ __forceinline__ float max_over_warp(float v) {
    int key = __float_as_int(v);
    key = __reduce_max_sync(0xffffffffu, key ^ (key >> 31 & 0x7fffffff));
    return __int_as_float(key ^ (key >> 31 & 0x7fffffff));
}
#endif

// Merges the states of a warp's lanes; every lane gets the whole.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_lanes(typename Rule::State s) {
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

template <typename Rule, int EACH, bool WARP>
__device__ __forceinline__ typename Rule::State merge_slots(const typename Rule::State* slots, int n) {
    constexpr int STEP = WARP ? 32 : 1;
    int first = WARP ? threadIdx.x % 32 : 0;
    typename Rule::State all = Rule::none();
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (first + STEP * i < n) all = Rule::merge(all, slots[first + STEP * i]);
    }
    return WARP ? Rule::over_lanes(all) : all;
}

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

    static __device__ __forceinline__ Scale scale(State s, i64, A) {
        return {base(s.largest), LOG ? log_of(s.sum) : A(1) / s.sum};
    }

    static __device__ __forceinline__ State over_lanes(State s) {
        A largest = max_over_warp(s.largest);
        return {largest, sum_over_warp(s.sum * exp_of(s.largest - base(largest)))};
    }

    // The powers stay in v.
    template <int V, int N>
    static __device__ __forceinline__ State gather(A (&v)[N], int packs, bool last) {
        A largest = Lowest<A>::value();
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (held<V>(i, N, packs, last)) largest = larger(largest, v[i]);
        }
        largest = max_over_warp(largest);
        A from = base(largest);
        A sum = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            A power = exp_of(v[i] - from);
            if (held<V>(i, N, packs, last)) sum += power;
            if (!LOG) v[i] = power;
        }
        return {largest, sum_over_warp(sum)};
    }

    template <int EACH, bool WARP>
    static __device__ __forceinline__ State over_slots(const State* slots, int n) {
        constexpr int STEP = WARP ? 32 : 1;
        int first = WARP ? threadIdx.x % 32 : 0;
        A largest = Lowest<A>::value();
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (first + STEP * i < n) largest = larger(largest, slots[first + STEP * i].largest);
        }
        if (WARP) largest = max_over_warp(largest);
        A from = base(largest);
        A sum = A(0);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (first + STEP * i < n) sum += slots[first + STEP * i].sum * exp_of(slots[first + STEP * i].largest - from);
        }
        return {largest, WARP ? sum_over_warp(sum) : sum};
    }

    static __device__ __forceinline__ Scale rescale(State own, State whole, i64, A) {
        A from = base(whole.largest);
        return {from, LOG ? log_of(whole.sum) : quotient(exp_of(own.largest - from), whole.sum)};
    }

    static __device__ __forceinline__ A apply(Scale s, A v) {
        return LOG ? (v - s.base) - s.factor : exp_of(v - s.base) * s.factor;
    }

    static __device__ __forceinline__ A apply_last(Scale s, A v) { return LOG ? apply(s, v) : v * s.factor; }
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

    static __device__ __forceinline__ Scale scale(State s, i64 n, A epsilon) {
        return {s.mean, reciprocal_root(s.deviation / A(n) + epsilon)};
    }

    static __device__ __forceinline__ A apply(Scale s, A v) { return (v - s.mean) * s.factor; }

    static __device__ __forceinline__ State over_lanes(State s) { return merge_lanes<LayerNormRule, A>(s); }

    // Two passes over registers.
    template <int V, int N>
    static __device__ __forceinline__ State gather(A (&v)[N], int packs, bool last) {
        A sum = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (held<V>(i, N, packs, last)) sum += v[i];
        }
        A all = sum_over_warp(A(packs * V + last));
        A mean = sum_over_warp(sum) / (all == A(0) ? A(1) : all);
        A deviation = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (held<V>(i, N, packs, last)) deviation += (v[i] - mean) * (v[i] - mean);
        }
        return {all, mean, sum_over_warp(deviation)};
    }

    template <int EACH, bool WARP>
    static __device__ __forceinline__ State over_slots(const State* slots, int n) {
        return merge_slots<LayerNormRule, EACH, WARP>(slots, n);
    }

    static __device__ __forceinline__ Scale rescale(State, State whole, i64 n, A epsilon) { return scale(whole, n, epsilon); }

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

    static __device__ __forceinline__ Scale scale(State s, i64 n, A epsilon) {
        return {reciprocal_root(s.squares / A(n) + epsilon)};
    }

    static __device__ __forceinline__ A apply(Scale s, A v) { return v * s.factor; }

    static __device__ __forceinline__ State over_lanes(State s) { return {sum_over_warp(s.squares)}; }

    template <int V, int N>
    static __device__ __forceinline__ State gather(A (&v)[N], int packs, bool last) {
        A squares = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (held<V>(i, N, packs, last)) squares += v[i] * v[i];
        }
        return {sum_over_warp(squares)};
    }

    template <int EACH, bool WARP>
    static __device__ __forceinline__ State over_slots(const State* slots, int n) {
        return merge_slots<RmsNormRule, EACH, WARP>(slots, n);
    }

    static __device__ __forceinline__ Scale rescale(State, State whole, i64 n, A epsilon) { return scale(whole, n, epsilon); }

    static __device__ __forceinline__ A apply_last(Scale s, A v) { return apply(s, v); }
};

// Merges the states of a block's threads; every thread gets the whole. `slots` is shared, one a warp; blocks are whole warps.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_block(typename Rule::State s, typename Rule::State* slots) {
    s = Rule::over_lanes(s);
    if (blockDim.x <= 32) return s;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    __syncthreads();  // the slots may still be read from the row before
    if (lane == 0) slots[warp] = s;
    __syncthreads();
    s = lane < static_cast<int>(blockDim.x / 32) ? slots[lane] : Rule::none();
    return Rule::over_lanes(s);
}
