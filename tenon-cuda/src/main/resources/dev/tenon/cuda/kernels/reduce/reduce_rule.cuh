// Reductions as a rule of rows (row_rules.cuh): the state is that of reduce.cuh, the scale is the result.
#pragma once
#include "reduce.cuh"
#include "row_rules.cuh"

template <typename A, int FN>
struct ReduceRule {
    typedef FloatState<A> State;

    struct Scale {
        A result;
    };

    static __device__ __forceinline__ State none() { return float_none<A>(FN); }

    static __device__ __forceinline__ State merge(State a, State b) { return float_join<A>(FN, a, b); }

    template <int N>
    static __device__ __forceinline__ State fold(State s, const A (&v)[N], int count) {
        State block = none();
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) block = merge(block, float_one<A>(FN, v[i]));
        }
        return merge(s, block);
    }

    static __device__ __forceinline__ State over_lanes(State s) { return merge_lanes<ReduceRule, A>(s); }

    template <int V, int N>
    static __device__ __forceinline__ State gather(const A (&v)[N], int packs, bool last) {
        State s = none();
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (held<V>(i, N, packs, last)) s = merge(s, float_one<A>(FN, v[i]));
        }
        return over_lanes(s);
    }

    static __device__ __forceinline__ Scale scale(State s, i64 n, A) { return {float_result<A>(FN, s, n)}; }

    static __device__ __forceinline__ Scale rescale(State, State whole, i64 n, A epsilon) { return scale(whole, n, epsilon); }

    static __device__ __forceinline__ A value(Scale s) { return s.result; }
};
