// What convolution kernels share: the epilogue of a result.
#pragma once
#include "pack.cuh"
#include "unary_fn.cuh"

// Added to the number of a function that takes the residual in; ConvOperands.java has the same.
constexpr i32 RESIDUAL_FIRST = 1 << 16;

// y = residual + fn(sum + bias), or with RESIDUAL_FIRST fn(sum + bias + residual); bias has one number per output channel, residual the layout of
// y. Either may be null; fn 0 leaves the sum as it is.
template <typename T>
struct ConvEpilogue {
    typedef typename Compute<T>::type A;

    const T* bias;
    const T* residual;
    i32 fn;
    A p0;
    A p1;

    __device__ __forceinline__ i32 function() const { return fn & (RESIDUAL_FIRST - 1); }
    __device__ __forceinline__ bool residual_first() const { return fn >= RESIDUAL_FIRST; }

    // Before the function.
    __device__ __forceinline__ A before(A v, A added) const { return residual_first() ? v + added : v; }
    // After it.
    __device__ __forceinline__ A after(A v, A added) const { return residual && !residual_first() ? v + added : v; }

    __device__ __forceinline__ A of(A sum, i64 channel, i64 at) const {
        A added = residual ? to_compute(residual[at]) : A(0);
        A v = before(bias ? sum + to_compute(bias[channel]) : sum, added);
        if (function() == FN_RELU) {
            v = v <= 0 ? A(0) : v;
        } else if (function() == FN_HARD_SWISH) {
            v = unary_fn(FN_HARD_SWISH, v, p0, p1);
        } else if (fn) {
            v = unary_fn_call(function(), v, p0, p1);
        }
        return after(v, added);
    }
};
