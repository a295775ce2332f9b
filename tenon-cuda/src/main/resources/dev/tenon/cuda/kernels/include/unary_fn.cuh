// Functions of one float by number: meaning and number are those of core's UnaryFn (a test compares them).
// Computed in A, float or double; p0 is alpha, p1 beta. NaN in, NaN out; nothing overflows where the result is finite; at an infinity each
// function has its limit. UnaryFn states how near results in f32 are, and a test holds them to it; nothing here may be compiled
// with fast arithmetic.
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

// e^(v + rest) is (1 + m) · 2^n, n = exponent(0): v from -176 to 0, rest tiny. 2^n e^r with r in ±ln(2)/2 and a polynomial (our fit, within
// 4e-9), within a unit in the last place; as many cycles as the hardware's 2^x, which is three times further off. The power may be
// subnormal: a factor is multiplied by m first, and rounded among subnormal numbers once.
struct Power {
    float m;
    int bits;  // n in the low 9 bits, above the last digits of 1.5 · 2^23
};

__device__ __forceinline__ Power power(float v, float rest) {
    float t = fmaf(v, 1.44269504f, 12582912.0f);  // 1.5 · 2^23 rounds to an integer, which is then in the low bits
    float k = t - 12582912.0f;
    float r = fmaf(k, -0.693359375f, v);
    r += fmaf(k, 2.12194440e-4f, rest);
    float p = fmaf(r, 1.38145394e-3f, 8.36874545e-3f);
    p = fmaf(p, r, 4.1668389e-2f);
    p = fmaf(p, r, 1.66665211e-1f);
    p = fmaf(p, r, 4.9999994e-1f);
    return {fmaf(p * r, r, r), __float_as_int(t)};
}

// factor e^(v + rest), for any factor: by two powers of two.
__device__ __forceinline__ float scaled(float factor, Power e) {
    int n = e.bits - 0x4b400000;
    int h = n >> 1;
    return fmaf(factor, e.m, factor) * __int_as_float((h + 127) << 23) * __int_as_float((n - h + 127) << 23);
}

// The same for a factor up to 2 and v from -174 on: by 2^(n + 126), which is normal, and a constant, 2^-126; or without this.
__device__ __forceinline__ float scaled_small_up(float factor, Power e) {
    float power = __int_as_float(static_cast<int>(static_cast<u32>(e.bits) << 23) + ((126 + 127) << 23));
    return fmaf(factor, e.m, factor) * power;
}

__device__ __forceinline__ float scaled_small(float factor, Power e) { return scaled_small_up(factor, e) * 1.1754944e-38f; }

// n / d for d from 1 to 2^100 and finite n, rounded once but for rare cases.
__device__ __forceinline__ float finite_quotient(float n, float d) {
    float r = fast_reciprocal(d);
    float q = n * r;
    return fmaf(fmaf(-d, q, n), r, q);
}

// At most limit; NaN stays.
__device__ __forceinline__ float at_most(float v, float limit) { return v > limit ? limit : v; }

// x gate; the limit 0 where a gate of 0 meets an infinite x.
__device__ __forceinline__ double gated(double x, double gate) { return gate == 0 ? copysign(0.0, x) : x * gate; }

// 1 / (1 + e^-x); the exponential never overflows.
__device__ __forceinline__ double sigmoid(double x) {
    double e = exp(-fabs(x));
    return (x >= 0 ? 1.0 : e) / (1 + e);
}

__device__ __forceinline__ float sigmoid(float x) {
    float e = scaled_small(1.0f, power(-at_most(fabsf(x), 104.0f), 0.0f));
    return finite_quotient(x >= 0 ? 1.0f : e, 1 + e);
}

// x sigmoid(alpha x). What the product alpha x rounds off goes into the exponential: e^v multiplies a relative error of v by v.
__device__ __forceinline__ double silu(double x, double alpha) { return gated(x, sigmoid(alpha * x)); }

__device__ __forceinline__ float silu(float x, float alpha) {
    float slope = fabsf(alpha);
    float u = at_most(fabsf(x), 174.0f / slope);
    float v = -slope * u;
    Power e = power(v, fmaf(-slope, u, -v));
    float gate = finite_quotient(1.0f, 1 + scaled_small(1.0f, e));
    return (alpha * x >= 0 ? x : scaled(x > 0 ? u : -u, e)) * gate;
}

// x sigmoid(2u), which is x/2 (1 + tanh u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
__device__ __forceinline__ double gelu_tanh(double x) {
    return gated(x, sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

// 2u is worked out to twice the digits, because e^2u multiplies a relative error by 2u. From -12 on down the result is 0.
__device__ __forceinline__ float gelu_tanh(float x) {
    float a = at_most(fabsf(x), 12.0f);
    float s = a * a;
    float factor = fmaf(s, -0.0713548139f, -1.595703125f);  // short enough that the next difference is exact
    float rest = fmaf(s, -0.0713548139f, -1.595703125f - factor);
    rest += fmaf(fmaf(a, a, -s), -0.0713548139f, fmaf(s, -2.39883247e-09f, -6.59966026e-05f));
    float v = a * factor;
    Power e = power(v, fmaf(a, rest, fmaf(a, factor, -v)));
    float gate = finite_quotient(1.0f, 1 + scaled_small(1.0f, e));
    return (x >= 0 ? x : -scaled(a, e)) * gate;
}

// x times the normal distribution up to x, which is erfc(-x / sqrt 2) / 2: 1 + erf would cancel for negative x.
__device__ __forceinline__ double gelu(double x) { return x < -40 ? -0.0 : 0.5 * x * erfc(x * -0.7071067811865476); }

// max(x, 0) - a Q(a), a = |x|, where Q(a) = e^(-a^2 / 2) times a quotient of polynomials with positive coefficients (our fit, within 3e-8; each
// summed in the order that rounds least). e^(a^2 / 2) multiplies a relative error by a^2, so what the square rounds off goes into the
// exponential. From -15 on down the result is 0.
__device__ __forceinline__ float gelu(float x) {
    float a = fminf(fabsf(x), 15.0f);  // also for NaN, which x brings in below
    float h = 0.5f * a, s = h * a;     // half of the square
    Power e = power(-s, -fmaf(h, a, -s));
    float n = fmaf(s, fmaf(a, 0.0166131202f, 0.1635259984f), fmaf(a, 0.367941946f, 0.878573834f));
    n = fmaf(s, n, h);
    float d = fmaf(s, fmaf(s, 0.0416424796f, fmaf(a, 0.204961598f, 0.942827344f)), fmaf(a, 1.20555723f, 1.67645872f));
    d = fmaf(a, d, 1.0f);
    float q = scaled_small_up(finite_quotient(n, d), e);
    return fmaf(q, -1.1754944e-38f, max_or_nan(x, -0.0f));
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

// x tanh(softplus(x)): with e = e^-|x| that is x (1 + 2e) / (1 + 2e + 2e^2), and x e (2 + e) / (2 + 2e + e^2) for negative x.
__device__ __forceinline__ double mish(double x) { return gated(x, tanh(softplus(x))); }

__device__ __forceinline__ float mish(float x) {
    float a = at_most(fabsf(x), 120.0f);
    Power p = power(-a, 0.0f);
    float e = scaled_small(1.0f, p);
    float n = x >= 0 ? fmaf(2.0f, e, 1.0f) : 2 + e;
    float d = x >= 0 ? fmaf(2 * e, e, n) : fmaf(e, n, 2.0f);
    return (x >= 0 ? x : -scaled(a, p)) * finite_quotient(n, d);
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
        case FN_LEAKY_RELU: return x >= 0 ? x : p0 == 0 && x == -A(TENON_INFINITY) ? -A(0) : p0 * x;
        case FN_GELU: return gelu(x);
        case FN_GELU_TANH: return gelu_tanh(x);
        case FN_SILU: return silu(x, p0);
        case FN_SIGMOID: return sigmoid(x);
        case FN_HARD_SIGMOID: return clip(fma(p0, x, p1), A(0), A(1));
        case FN_HARD_SWISH: return x <= -3 ? -A(0) : x * (clip(x + 3, A(0), A(6)) * A(1.0 / 6));
        case FN_SOFTPLUS: return softplus(x);
        case FN_SOFTSIGN: return fabs(x) == A(TENON_INFINITY) ? copysign(A(1), x) : x / (1 + fabs(x));
        case FN_ELU: return elu(x, p0);
        case FN_SELU: return p1 * elu(x, p0);
        case FN_CELU: return x >= 0 ? x : p0 * expm1(x / p0);
        case FN_MISH: return mish(x);
        case FN_THRESHOLDED_RELU: return x > p0 || x != x ? x : A(0);
        case FN_SHRINK: return x < -p0 ? x + p1 : x > p0 ? x - p1 : x != x ? x : A(0);
        case FN_CLIP: return clip(x, p0, p1);
        case FN_AFFINE: return fma(p0, x, p1);
        case FN_SCALED_TANH: return p0 * tanh(p1 * x);
        default: return x;
    }
}

// The same as a call: for kernels that apply it in many places, whose code it would multiply.
template <typename A>
__device__ __noinline__ A unary_fn_call(int fn, A x, A p0, A p1) {
    return unary_fn(fn, x, p0, p1);
}
