// Functions of one float by number: the meaning is that of core's ScalarMath, the numbers are those of UnaryCodes.java (a test compares them).
// Computed in A, float or double; p0 is alpha, p1 beta. NaN in, NaN out; nothing overflows where the result is finite.
#pragma once
#include "tenon.cuh"

constexpr int FN_NEG = 1;
constexpr int FN_ABS = 2;
constexpr int FN_SIGN = 3;
constexpr int FN_SQRT = 4;
constexpr int FN_RSQRT = 5;
constexpr int FN_RECIPROCAL = 6;
constexpr int FN_EXP = 7;
constexpr int FN_EXP2 = 8;
constexpr int FN_EXPM1 = 9;
constexpr int FN_LOG = 10;
constexpr int FN_LOG2 = 11;
constexpr int FN_LOG1P = 12;
constexpr int FN_SIN = 13;
constexpr int FN_COS = 14;
constexpr int FN_TAN = 15;
constexpr int FN_ASIN = 16;
constexpr int FN_ACOS = 17;
constexpr int FN_ATAN = 18;
constexpr int FN_SINH = 19;
constexpr int FN_COSH = 20;
constexpr int FN_TANH = 21;
constexpr int FN_ASINH = 22;
constexpr int FN_ACOSH = 23;
constexpr int FN_ATANH = 24;
constexpr int FN_ERF = 25;
constexpr int FN_FLOOR = 26;
constexpr int FN_CEIL = 27;
constexpr int FN_ROUND = 28;
constexpr int FN_TRUNC = 29;
constexpr int FN_IS_NAN = 30;  // 1 or 0
constexpr int FN_IS_INF = 31;  // 1 or 0
constexpr int FN_RELU = 32;
constexpr int FN_LEAKY_RELU = 33;
constexpr int FN_GELU = 34;
constexpr int FN_GELU_TANH = 35;
constexpr int FN_SILU = 36;
constexpr int FN_SIGMOID = 37;
constexpr int FN_HARD_SIGMOID = 38;
constexpr int FN_HARD_SWISH = 39;
constexpr int FN_SOFTPLUS = 40;
constexpr int FN_SOFTSIGN = 41;
constexpr int FN_ELU = 42;
constexpr int FN_SELU = 43;
constexpr int FN_CELU = 44;
constexpr int FN_MISH = 45;
constexpr int FN_THRESHOLDED_RELU = 46;
constexpr int FN_SHRINK = 47;
constexpr int FN_CLIP = 48;
constexpr int FN_AFFINE = 49;
constexpr int FN_SCALED_TANH = 50;

// 1 / (1 + e^-x); the exponential never overflows. In f32 without a branch, to |x| + 4 units in the last place.
__device__ __forceinline__ double sigmoid(double x) {
    double e = exp(-fabs(x));
    return (x >= 0 ? 1.0 : e) / (1 + e);
}

__device__ __forceinline__ float sigmoid(float x) {
    float e = fast_exp2(fabsf(x) * -1.4426950408889634f);
    return (x >= 0 ? 1.0f : e) * fast_reciprocal(1 + e);
}

// x times the normal distribution up to x, which is erfc(-x / sqrt 2) / 2: 1 + erf would cancel for negative x.
__device__ __forceinline__ double gelu(double x) { return 0.5 * x * erfc(x * -0.7071067811865476); }

// erfc(z) = t p(t) e^(-z^2), t = 1 / (1 + 0.3275911 z), z >= 0, within 1.5e-7: Abramowitz and Stegun 7.1.26, its coefficients halved. No
// branch, a fifth of erfcf's instructions; -inf gives NaN as the product does.
__device__ __forceinline__ float gelu(float x) {
    float t = fast_reciprocal(fmaf(fabsf(x), 0.3275911f * 0.70710678f, 1.0f));
    float p = fmaf(t, 0.5307027145f, -0.7265760135f);
    p = fmaf(t, p, 0.7107068705f);
    p = fmaf(t, p, -0.142248368f);
    p = fmaf(t, p, 0.127414796f);
    float tail = p * t * fast_exp2(x * x * -0.72134752f);
    return x * (x > 0 ? 1 - tail : tail);
}

// log(1 + e^x); likewise.
template <typename A>
__device__ __forceinline__ A softplus(A x) {
    return (x <= 0 ? A(0) : x) + log1p(exp(-fabs(x)));
}

// A NaN among x and the limits stays; where low > high, high.
template <typename A>
__device__ __forceinline__ A clip(A x, A low, A high) {
    A y = x >= low || x != x ? x : low;
    return y <= high || y != y ? y : high;
}

template <typename A>
__device__ __forceinline__ A elu(A x, A alpha) {
    return x >= 0 ? x : alpha * expm1(x);
}

// Where fn is not a number of the above, x.
template <typename A>
__device__ __forceinline__ A unary_fn(int fn, A x, A p0, A p1) {
    switch (fn) {
        case FN_NEG: return -x;
        case FN_ABS: return fabs(x);
        case FN_SIGN: return x > 0 ? A(1) : x < 0 ? A(-1) : x;
        case FN_SQRT: return sqrt(x);
        case FN_RSQRT: return 1 / sqrt(x);
        case FN_RECIPROCAL: return 1 / x;
        case FN_EXP: return exp(x);
        case FN_EXP2: return exp2(x);
        case FN_EXPM1: return expm1(x);
        case FN_LOG: return log(x);
        case FN_LOG2: return log2(x);
        case FN_LOG1P: return log1p(x);
        case FN_SIN: return sin(x);
        case FN_COS: return cos(x);
        case FN_TAN: return tan(x);
        case FN_ASIN: return asin(x);
        case FN_ACOS: return acos(x);
        case FN_ATAN: return atan(x);
        case FN_SINH: return sinh(x);
        case FN_COSH: return cosh(x);
        case FN_TANH: return tanh(x);
        case FN_ASINH: return asinh(x);
        case FN_ACOSH: return acosh(x);
        case FN_ATANH: return atanh(x);
        case FN_ERF: return erf(x);
        case FN_FLOOR: return floor(x);
        case FN_CEIL: return ceil(x);
        case FN_ROUND: return rint(x);
        case FN_TRUNC: return trunc(x);
        case FN_IS_NAN: return x != x ? A(1) : A(0);
        case FN_IS_INF: return (x == A(TENON_INFINITY) && p0 != 0) || (x == -A(TENON_INFINITY) && p1 != 0) ? A(1) : A(0);
        case FN_RELU: return x <= 0 ? A(0) : x;
        case FN_LEAKY_RELU: return x >= 0 ? x : p0 * x;
        case FN_GELU: return gelu(x);
        // (1 + tanh u) / 2 is sigmoid(2u), which does not cancel either
        case FN_GELU_TANH: return x * sigmoid(A(2 * 0.7978845608028654) * (x + A(0.044715) * x * x * x));
        case FN_SILU: return x * sigmoid(p0 * x);
        case FN_SIGMOID: return sigmoid(x);
        case FN_HARD_SIGMOID: return clip(p0 * x + p1, A(0), A(1));
        case FN_HARD_SWISH: return x * clip(A(1.0 / 6) * x + A(0.5), A(0), A(1));
        case FN_SOFTPLUS: return softplus(x);
        case FN_SOFTSIGN: return x / (1 + fabs(x));
        case FN_ELU: return elu(x, p0);
        case FN_SELU: return p1 * elu(x, p0);
        case FN_CELU: return x >= 0 ? x : p0 * expm1(x / p0);
        case FN_MISH: return x * tanh(softplus(x));
        case FN_THRESHOLDED_RELU: return x > p0 || x != x ? x : A(0);
        case FN_SHRINK: return x < -p0 ? x + p1 : x > p0 ? x - p1 : x != x ? x : A(0);
        case FN_CLIP: return clip(x, p0, p1);
        case FN_AFFINE: return p0 * x + p1;
        case FN_SCALED_TANH: return p0 * tanh(p1 * x);
        default: return x;
    }
}

// The same as a call: for kernels that apply it in many places, whose code it would multiply.
template <typename A>
__device__ __noinline__ A unary_fn_call(int fn, A x, A p0, A p1) {
    return unary_fn(fn, x, p0, p1);
}
