// LayerNorm and RmsNorm as rules of rows (row_rules.cuh).
#pragma once
#include "row_rules.cuh"

// Count, mean and sum of squared deviations (Chan, Golub, LeVeque 1979): each batch by two passes over registers, then merged, so that rows
// that are streamed are read once. The mean is kept as the sum of two numbers: one number of f32 is up to half a unit off, which at values near
// 10000 that differ by thousandths is as much as their deviations. Differences from `mean` are exact where they matter, and their own mean is
// `rest`. Nothing cancels, however large the mean; a constant row has deviation 0.
template <typename A>
struct LayerNormRule {
    static constexpr bool AFFINE = true;

    struct State {
        A count;
        A mean;
        A rest;
        A deviation;
    };

    struct Scale {
        A mean;
        A rest;
        A factor;
    };

    static __device__ __forceinline__ State none() { return {A(0), A(0), A(0), A(0)}; }

    // The sum of squared deviations from mean + sum / count, by that from mean; a NaN stays.
    static __device__ __forceinline__ A about_rest(A deviation, A sum, A rest) {
        A less = deviation - sum * rest;
        return less < A(0) ? A(0) : less;
    }

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
        A shift = A(0), deviation = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < count) {
                A off = v[i] - mean;
                shift += off;
                deviation += off * off;
            }
        }
        A rest = shift / A(count);
        return merge(s, {A(count), mean, rest, about_rest(deviation, shift, rest)});
    }

    static __device__ __forceinline__ State merge(State a, State b) {
        A count = a.count + b.count;
        A share = count == A(0) ? A(0) : b.count / count;
        A apart = b.mean - a.mean, rests = b.rest - a.rest;
        A step = apart * share;
        A mean = a.mean + step;
        A rest = a.rest + rests * share + ((a.mean - mean) + step);  // with what the sum rounded off
        A delta = apart + rests;
        return {count, mean, rest, a.deviation + b.deviation + delta * (a.count * share) * delta};
    }

    static __device__ __forceinline__ Scale scale(State s, i64 n, A epsilon) {
        return {s.mean, s.rest, reciprocal_root(s.deviation / A(n) + epsilon)};
    }

    static __device__ __forceinline__ A apply(Scale s, A v) { return (v - s.mean - s.rest) * s.factor; }

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
        A least = all == A(0) ? A(1) : all;
        A mean = sum_over_warp(sum) / least;
        A shift = A(0), deviation = A(0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (held<V>(i, N, packs, last)) {
                A off = v[i] - mean;
                shift += off;
                deviation += off * off;
            }
        }
        shift = sum_over_warp(shift);
        A rest = shift / least;
        return {all, mean, rest, about_rest(sum_over_warp(deviation), shift, rest)};
    }

    // About the first mean, which stays the larger part of the whole one.
    template <int EACH, bool WARP>
    static __device__ __forceinline__ State over_slots(const State* slots, int n) {
        constexpr int STEP = WARP ? 32 : 1;
        int first = WARP ? threadIdx.x % 32 : 0;
        A pivot = slots[0].mean;
        A count = A(0), shift = A(0);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (first + STEP * i < n) {
                State s = slots[first + STEP * i];
                count += s.count;
                shift += s.count * (s.mean - pivot + s.rest);
            }
        }
        if (WARP) {
            count = sum_over_warp(count);
            shift = sum_over_warp(shift);
        }
        A rest = shift / count;
        A deviation = A(0);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (first + STEP * i < n) {
                State s = slots[first + STEP * i];
                A off = s.mean - pivot + (s.rest - rest);
                deviation += s.deviation + s.count * off * off;
            }
        }
        return {count, pivot, rest, WARP ? sum_over_warp(deviation) : deviation};
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
