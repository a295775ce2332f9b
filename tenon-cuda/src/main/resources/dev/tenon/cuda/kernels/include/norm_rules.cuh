// LayerNorm and RmsNorm as rules of rows (row_rules.cuh).
#pragma once
#include "row_rules.cuh"

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
        A all = A(sum_over_warp(packs * V + static_cast<int>(last)));
        A mean = sum_over_warp(sum) / (all == A(0) ? A(1) : all);
        A deviation = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (held<V>(i, N, packs, last)) deviation += (v[i] - mean) * (v[i] - mean);
        }
        return {all, mean, sum_over_warp(deviation)};
    }

    // Means relative to the first one, so that nothing cancels here either.
    template <int EACH, bool WARP>
    static __device__ __forceinline__ State over_slots(const State* slots, int n) {
        constexpr int STEP = WARP ? 32 : 1;
        int first = WARP ? threadIdx.x % 32 : 0;
        A pivot = slots[0].mean;
        A count = A(0), shift = A(0);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (first + STEP * i < n) {
                count += slots[first + STEP * i].count;
                shift += slots[first + STEP * i].count * (slots[first + STEP * i].mean - pivot);
            }
        }
        if (WARP) {
            count = sum_over_warp(count);
            shift = sum_over_warp(shift);
        }
        A mean = pivot + shift / count;
        A deviation = A(0);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (first + STEP * i < n) {
                A off = slots[first + STEP * i].mean - mean;
                deviation += slots[first + STEP * i].deviation + slots[first + STEP * i].count * off * off;
            }
        }
        return {count, mean, WARP ? sum_over_warp(deviation) : deviation};
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
        constexpr int STEP = WARP ? 32 : 1;
        int first = WARP ? threadIdx.x % 32 : 0;
        A squares = A(0);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (first + STEP * i < n) squares += slots[first + STEP * i].squares;
        }
        return {WARP ? sum_over_warp(squares) : squares};
    }

    static __device__ __forceinline__ Scale rescale(State, State whole, i64 n, A epsilon) { return scale(whole, n, epsilon); }

    static __device__ __forceinline__ A apply_last(Scale s, A v) { return apply(s, v); }
};
