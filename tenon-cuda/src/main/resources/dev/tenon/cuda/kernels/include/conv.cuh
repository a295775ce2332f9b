// What convolution kernels share: the epilogue of a result.
#pragma once
#include "pack.cuh"
#include "unary_fn.cuh"

// y = residual + fn(sum + bias); bias has one number per output channel, residual the layout of y. Either may be null; fn 0 leaves the sum as it is.
template <typename T>
struct ConvEpilogue {
    typedef typename Compute<T>::type A;

    const T* bias;
    const T* residual;
    i32 fn;
    A p0;
    A p1;

    __device__ __forceinline__ A of(A sum, i64 channel, i64 at) const {
        A v = bias ? sum + to_compute(bias[channel]) : sum;
        if (fn == FN_RELU) {
            v = v <= 0 ? A(0) : v;
        } else if (fn) {
            v = unary_fn_call(fn, v, p0, p1);
        }
        return residual ? v + to_compute(residual[at]) : v;
    }
};
