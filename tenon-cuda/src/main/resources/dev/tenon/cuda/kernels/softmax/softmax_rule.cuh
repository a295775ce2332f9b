// Softmax and its logarithm as a rule of rows (row_rules.cuh).
#pragma once
#include "row_rules.cuh"

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
