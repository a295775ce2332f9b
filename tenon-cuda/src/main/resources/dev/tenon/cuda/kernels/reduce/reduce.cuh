// Reductions by number: what is kept of the floats folded so far, how one joins it, and the result. The numbers are those of ReduceFn.
#pragma once
#include "binary_fn.cuh"

constexpr int REDUCE_SUM = 0;
constexpr int REDUCE_MEAN = 1;
constexpr int REDUCE_MAX = 2;
constexpr int REDUCE_MIN = 3;
constexpr int REDUCE_PROD = 4;
constexpr int REDUCE_L1 = 5;
constexpr int REDUCE_L2 = 6;
constexpr int REDUCE_LOG_SUM = 7;
constexpr int REDUCE_LOG_SUM_EXP = 8;
constexpr int REDUCE_SUM_SQUARE = 9;
constexpr int REDUCE_ANY = 10;
constexpr int REDUCE_ALL = 11;

// What has been folded: of floats a value, for LOG_SUM_EXP the largest x and the sum of e^(x - largest).
template <typename A>
struct FloatState {
    A value;
    A sum;
};

template <typename A>
__device__ __forceinline__ FloatState<A> float_none(int fn) {
    A infinity = A(TENON_INFINITY);
    return {fn == REDUCE_MAX || fn == REDUCE_LOG_SUM_EXP ? -infinity : fn == REDUCE_MIN ? infinity : fn == REDUCE_PROD ? A(1) : A(0), A(0)};
}

template <typename A>
__device__ __forceinline__ FloatState<A> float_join(int fn, FloatState<A> a, FloatState<A> b) {
    switch (fn) {
        case REDUCE_MAX: return {greatest(a.value, b.value), A(0)};
        case REDUCE_MIN: return {least(a.value, b.value), A(0)};
        case REDUCE_PROD: return {a.value * b.value, A(0)};
        case REDUCE_LOG_SUM_EXP: {
            A most = greatest(a.value, b.value);
            // an infinite maximum is the answer itself, and would make NaN of the differences
            if (isinf(most) || most != most) return {most, A(0)};
            return {most, a.sum * exp(a.value - most) + b.sum * exp(b.value - most)};
        }
        default: return {a.value + b.value, A(0)};
    }
}

template <typename A>
__device__ __forceinline__ FloatState<A> float_one(int fn, A x) {
    switch (fn) {
        case REDUCE_L1: return {fabs(x), A(0)};
        case REDUCE_L2:
        case REDUCE_SUM_SQUARE: return {x * x, A(0)};
        case REDUCE_LOG_SUM_EXP: return {x, A(1)};
        default: return {x, A(0)};
    }
}

template <typename A>
__device__ __forceinline__ A float_result(int fn, FloatState<A> s, i64 count) {
    switch (fn) {
        case REDUCE_MEAN: return s.value / static_cast<A>(count);
        case REDUCE_L2: return sqrt(s.value);
        case REDUCE_LOG_SUM: return log(s.value);
        case REDUCE_LOG_SUM_EXP: return isinf(s.value) || s.value != s.value ? s.value : s.value + log(s.sum);
        default: return s.value;
    }
}
