// Functions of unary_fn.cuh for results of 16 bits: as they are there, but gelu of both types and gelu_tanh of f16 in fewer instructions, off by
// less than a fifth of the result's last place. Likewise for results of TF32 products, off by less than a tenth of what rounding an operand changes.
// Special values as there.
#pragma once
#include "pack.cuh"
#include "unary_fn.cuh"

// max(x, 0) - a Q(a), a = |x|, with log2 Q(a) as a polynomial (our fit for a up to 6, for the least error in last places of f16). Behind 6 results are
// 0 in f16.
__device__ __forceinline__ float short_gelu(float x) {
    float a = fminf(fabsf(x), 6.0f);  // also for NaN, which x brings in below
    float p = fmaf(a, -3.18782133e-04f, 5.80978776e-03f);
    p = fmaf(a, p, -4.81793166e-02f);
    p = fmaf(a, p, -4.64182991e-01f);
    p = fmaf(a, p, -1.14917764f);
    p = fmaf(a, p, -1.00011783f);
    return fmaf(-a, fast_exp2(p), max_or_nan(x, -0.0f));
}

// The same for a up to 14, within 1.6e-4 of Q, behind which results are 0 in bf16: 2^24 Q(a), which is normal, and a constant.
__device__ __forceinline__ float short_gelu_far(float x) {
    float a = fminf(fabsf(x), 14.0f);
    float p = fmaf(a, 2.68133960e-08f, -1.71414376e-06f);
    p = fmaf(a, p, 4.72117968e-05f);
    p = fmaf(a, p, -7.40034622e-04f);
    p = fmaf(a, p, 7.39691593e-03f);
    p = fmaf(a, p, -5.07364050e-02f);
    p = fmaf(a, p, -4.62876052e-01f);
    p = fmaf(a, p, -1.14898813f);
    p = fmaf(a, p, 22.99981189f);
    return fmaf(-a, fast_exp2(p) * 5.9604645e-8f, max_or_nan(x, -0.0f));
}

// The same for a up to 8, within 2e-5 of Q, behind which results are off by 5e-15.
__device__ __forceinline__ float short_gelu_tf32(float x) {
    float a = fminf(fabsf(x), 8.0f);
    float p = fmaf(a, -1.47569642e-06f, 5.35185682e-05f);
    p = fmaf(a, p, -8.59060849e-04f);
    p = fmaf(a, p, 8.19378253e-03f);
    p = fmaf(a, p, -5.32475188e-02f);
    p = fmaf(a, p, -4.59244162e-01f);
    p = fmaf(a, p, -1.15092003f);
    p = fmaf(a, p, -1.00002134f);
    return fmaf(-a, fast_exp2(p), max_or_nan(x, -0.0f));
}

// x / (1 + e^-2u); from -12 on down results are 0.
__device__ __forceinline__ float short_gelu_tanh(float x) {
    float a = x < -12.0f ? -12.0f : x;
    float v = a * fmaf(a * a, -0.102943240f, -2.30220820f);  // -2u / ln 2
    return a * fast_reciprocal(1.0f + fast_exp2(v));
}

struct Tf32 {};  // a sum of TF32 products

// How sums of products of T are rounded.
template <typename T>
struct SumOf {
    using Type = T;
};

template <>
struct SumOf<float> {
    using Type = Tf32;
};

template <typename T, int FN>
struct ShortFn {
    static __device__ __forceinline__ float of(float v, float p0, float p1) { return unary_fn(FN, v, p0, p1); }
};

template <>
struct ShortFn<f16, FN_GELU> {
    static __device__ __forceinline__ float of(float v, float, float) { return short_gelu(v); }
};

template <>
struct ShortFn<bf16, FN_GELU> {
    static __device__ __forceinline__ float of(float v, float, float) { return short_gelu_far(v); }
};

template <>
struct ShortFn<f16, FN_GELU_TANH> {
    static __device__ __forceinline__ float of(float v, float, float) { return short_gelu_tanh(v); }
};

template <>
struct ShortFn<Tf32, FN_GELU> {
    static __device__ __forceinline__ float of(float v, float, float) { return short_gelu_tf32(v); }
};

template <>
struct ShortFn<Tf32, FN_GELU_TANH> {
    static __device__ __forceinline__ float of(float v, float, float) { return short_gelu_tanh(v); }
};

// The same in the type A that T is computed in.
template <typename T, typename A, int FN>
struct ShortFnIn {
    static __device__ __forceinline__ A of(A v, A p0, A p1) { return unary_fn(FN, v, p0, p1); }
};

template <typename T, int FN>
struct ShortFnIn<T, float, FN> {
    static __device__ __forceinline__ float of(float v, float p0, float p1) { return ShortFn<T, FN>::of(v, p0, p1); }
};
