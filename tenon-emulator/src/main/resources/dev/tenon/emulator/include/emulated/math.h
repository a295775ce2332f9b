// CUDA's mathematical functions, by the C library's of the same names. The fast ones (__expf) compute the exact function: a kernel may
// not rely on their error.
#pragma once

extern "C" {
double acos(double) noexcept;
float acosf(float) noexcept;
double acosh(double) noexcept;
float acoshf(float) noexcept;
double asin(double) noexcept;
float asinf(float) noexcept;
double asinh(double) noexcept;
float asinhf(float) noexcept;
double atan(double) noexcept;
float atanf(float) noexcept;
double atanh(double) noexcept;
float atanhf(float) noexcept;
double cbrt(double) noexcept;
float cbrtf(float) noexcept;
double ceil(double) noexcept;
float ceilf(float) noexcept;
double cos(double) noexcept;
float cosf(float) noexcept;
double cosh(double) noexcept;
float coshf(float) noexcept;
double erf(double) noexcept;
float erff(float) noexcept;
double erfc(double) noexcept;
float erfcf(float) noexcept;
double exp(double) noexcept;
float expf(float) noexcept;
double exp2(double) noexcept;
float exp2f(float) noexcept;
double expm1(double) noexcept;
float expm1f(float) noexcept;
double fabs(double) noexcept;
float fabsf(float) noexcept;
double floor(double) noexcept;
float floorf(float) noexcept;
double lgamma(double) noexcept;
float lgammaf(float) noexcept;
double log(double) noexcept;
float logf(float) noexcept;
double log10(double) noexcept;
float log10f(float) noexcept;
double log1p(double) noexcept;
float log1pf(float) noexcept;
double log2(double) noexcept;
float log2f(float) noexcept;
double nearbyint(double) noexcept;
float nearbyintf(float) noexcept;
double rint(double) noexcept;
float rintf(float) noexcept;
double round(double) noexcept;
float roundf(float) noexcept;
double sin(double) noexcept;
float sinf(float) noexcept;
double sinh(double) noexcept;
float sinhf(float) noexcept;
double sqrt(double) noexcept;
float sqrtf(float) noexcept;
double tan(double) noexcept;
float tanf(float) noexcept;
double tanh(double) noexcept;
float tanhf(float) noexcept;
double tgamma(double) noexcept;
float tgammaf(float) noexcept;
double trunc(double) noexcept;
float truncf(float) noexcept;
double atan2(double, double) noexcept;
float atan2f(float, float) noexcept;
double copysign(double, double) noexcept;
float copysignf(float, float) noexcept;
double fdim(double, double) noexcept;
float fdimf(float, float) noexcept;
double fmod(double, double) noexcept;
float fmodf(float, float) noexcept;
double hypot(double, double) noexcept;
float hypotf(float, float) noexcept;
double nextafter(double, double) noexcept;
float nextafterf(float, float) noexcept;
double pow(double, double) noexcept;
float powf(float, float) noexcept;
double remainder(double, double) noexcept;
float remainderf(float, float) noexcept;
double fmax(double, double) noexcept;
float fmaxf(float, float) noexcept;
double fmin(double, double) noexcept;
float fminf(float, float) noexcept;
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
double modf(double, double*) noexcept;
float modff(float, float*) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
long long llrintf(float) noexcept;
long long llroundf(float) noexcept;
int abs(int) noexcept;
long labs(long) noexcept;
long long llabs(long long) noexcept;
}

TENON_DEVICE float acos(float x) { return acosf(x); }
TENON_DEVICE float acosh(float x) { return acoshf(x); }
TENON_DEVICE float asin(float x) { return asinf(x); }
TENON_DEVICE float asinh(float x) { return asinhf(x); }
TENON_DEVICE float atan(float x) { return atanf(x); }
TENON_DEVICE float atanh(float x) { return atanhf(x); }
TENON_DEVICE float cbrt(float x) { return cbrtf(x); }
TENON_DEVICE float ceil(float x) { return ceilf(x); }
TENON_DEVICE float cos(float x) { return cosf(x); }
TENON_DEVICE float cosh(float x) { return coshf(x); }
TENON_DEVICE float erf(float x) { return erff(x); }
TENON_DEVICE float erfc(float x) { return erfcf(x); }
TENON_DEVICE float exp(float x) { return expf(x); }
TENON_DEVICE float exp2(float x) { return exp2f(x); }
TENON_DEVICE float expm1(float x) { return expm1f(x); }
TENON_DEVICE float fabs(float x) { return fabsf(x); }
TENON_DEVICE float floor(float x) { return floorf(x); }
TENON_DEVICE float lgamma(float x) { return lgammaf(x); }
TENON_DEVICE float log(float x) { return logf(x); }
TENON_DEVICE float log10(float x) { return log10f(x); }
TENON_DEVICE float log1p(float x) { return log1pf(x); }
TENON_DEVICE float log2(float x) { return log2f(x); }
TENON_DEVICE float nearbyint(float x) { return nearbyintf(x); }
TENON_DEVICE float rint(float x) { return rintf(x); }
TENON_DEVICE float round(float x) { return roundf(x); }
TENON_DEVICE float sin(float x) { return sinf(x); }
TENON_DEVICE float sinh(float x) { return sinhf(x); }
TENON_DEVICE float sqrt(float x) { return sqrtf(x); }
TENON_DEVICE float tan(float x) { return tanf(x); }
TENON_DEVICE float tanh(float x) { return tanhf(x); }
TENON_DEVICE float tgamma(float x) { return tgammaf(x); }
TENON_DEVICE float trunc(float x) { return truncf(x); }
TENON_DEVICE float atan2(float x, float y) { return atan2f(x, y); }
TENON_DEVICE float copysign(float x, float y) { return copysignf(x, y); }
TENON_DEVICE float fdim(float x, float y) { return fdimf(x, y); }
TENON_DEVICE float fmod(float x, float y) { return fmodf(x, y); }
TENON_DEVICE float hypot(float x, float y) { return hypotf(x, y); }
TENON_DEVICE float nextafter(float x, float y) { return nextafterf(x, y); }
TENON_DEVICE float pow(float x, float y) { return powf(x, y); }
TENON_DEVICE float remainder(float x, float y) { return remainderf(x, y); }
TENON_DEVICE float fmax(float x, float y) { return fmaxf(x, y); }
TENON_DEVICE float fmin(float x, float y) { return fminf(x, y); }
TENON_DEVICE float fma(float x, float y, float z) { return fmaf(x, y, z); }
TENON_DEVICE float ldexp(float x, int n) { return ldexpf(x, n); }
TENON_DEVICE float abs(float x) { return fabsf(x); }
TENON_DEVICE double abs(double x) { return fabs(x); }
TENON_DEVICE long abs(long x) { return labs(x); }
TENON_DEVICE long long abs(long long x) { return llabs(x); }

TENON_DEVICE constexpr int max(int a, int b) { return a < b ? b : a; }
TENON_DEVICE constexpr int min(int a, int b) { return b < a ? b : a; }
TENON_DEVICE constexpr unsigned int max(unsigned int a, unsigned int b) { return a < b ? b : a; }
TENON_DEVICE constexpr unsigned int min(unsigned int a, unsigned int b) { return b < a ? b : a; }
TENON_DEVICE constexpr long max(long a, long b) { return a < b ? b : a; }
TENON_DEVICE constexpr long min(long a, long b) { return b < a ? b : a; }
TENON_DEVICE constexpr unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
TENON_DEVICE constexpr unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
TENON_DEVICE constexpr long long max(long long a, long long b) { return a < b ? b : a; }
TENON_DEVICE constexpr long long min(long long a, long long b) { return b < a ? b : a; }
TENON_DEVICE constexpr unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
TENON_DEVICE constexpr unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
TENON_DEVICE constexpr unsigned int max(int a, unsigned int b) { return max(static_cast<unsigned int>(a), static_cast<unsigned int>(b)); }
TENON_DEVICE constexpr unsigned int min(int a, unsigned int b) { return min(static_cast<unsigned int>(a), static_cast<unsigned int>(b)); }
TENON_DEVICE constexpr unsigned int max(unsigned int a, int b) { return max(static_cast<unsigned int>(a), static_cast<unsigned int>(b)); }
TENON_DEVICE constexpr unsigned int min(unsigned int a, int b) { return min(static_cast<unsigned int>(a), static_cast<unsigned int>(b)); }
TENON_DEVICE constexpr unsigned long long max(long long a, unsigned long long b) { return max(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b)); }
TENON_DEVICE constexpr unsigned long long min(long long a, unsigned long long b) { return min(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b)); }
TENON_DEVICE constexpr unsigned long long max(unsigned long long a, long long b) { return max(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b)); }
TENON_DEVICE constexpr unsigned long long min(unsigned long long a, long long b) { return min(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b)); }
TENON_DEVICE constexpr long long max(int a, long long b) { return max(static_cast<long long>(a), static_cast<long long>(b)); }
TENON_DEVICE constexpr long long min(int a, long long b) { return min(static_cast<long long>(a), static_cast<long long>(b)); }
TENON_DEVICE constexpr long long max(long long a, int b) { return max(static_cast<long long>(a), static_cast<long long>(b)); }
TENON_DEVICE constexpr long long min(long long a, int b) { return min(static_cast<long long>(a), static_cast<long long>(b)); }
TENON_DEVICE float max(float a, float b) { return fmaxf(a, b); }
TENON_DEVICE float min(float a, float b) { return fminf(a, b); }
TENON_DEVICE double max(double a, double b) { return fmax(a, b); }
TENON_DEVICE double min(double a, double b) { return fmin(a, b); }
TENON_DEVICE double max(float a, double b) { return fmax(static_cast<double>(a), static_cast<double>(b)); }
TENON_DEVICE double min(float a, double b) { return fmin(static_cast<double>(a), static_cast<double>(b)); }
TENON_DEVICE double max(double a, float b) { return fmax(static_cast<double>(a), static_cast<double>(b)); }
TENON_DEVICE double min(double a, float b) { return fmin(static_cast<double>(a), static_cast<double>(b)); }

TENON_DEVICE bool isnan(float x) { return __builtin_isnan(x); }
TENON_DEVICE bool isnan(double x) { return __builtin_isnan(x); }
TENON_DEVICE bool isinf(float x) { return __builtin_isinf(x); }
TENON_DEVICE bool isinf(double x) { return __builtin_isinf(x); }
TENON_DEVICE bool isfinite(float x) { return __builtin_isfinite(x); }
TENON_DEVICE bool isfinite(double x) { return __builtin_isfinite(x); }
TENON_DEVICE bool signbit(float x) { return __builtin_signbit(x); }
TENON_DEVICE bool signbit(double x) { return __builtin_signbit(x); }

TENON_DEVICE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
TENON_DEVICE double rsqrt(double x) { return 1.0 / sqrt(x); }
TENON_DEVICE float rsqrt(float x) { return rsqrtf(x); }
TENON_DEVICE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
TENON_DEVICE float normcdff(float x) { return 0.5f * erfcf(x * -0.70710678118654752f); }
TENON_DEVICE double normcdf(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }
TENON_DEVICE float exp10f(float x) { return powf(10.0f, x); }
TENON_DEVICE double exp10(double x) { return pow(10.0, x); }
TENON_DEVICE void sincosf(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
TENON_DEVICE void sincos(double x, double* s, double* c) { *s = sin(x); *c = cos(x); }

TENON_DEVICE float __expf(float x) { return expf(x); }
TENON_DEVICE float __exp10f(float x) { return exp10f(x); }
TENON_DEVICE float __logf(float x) { return logf(x); }
TENON_DEVICE float __log2f(float x) { return log2f(x); }
TENON_DEVICE float __log10f(float x) { return log10f(x); }
TENON_DEVICE float __sinf(float x) { return sinf(x); }
TENON_DEVICE float __cosf(float x) { return cosf(x); }
TENON_DEVICE float __tanf(float x) { return tanf(x); }
TENON_DEVICE void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
TENON_DEVICE float __powf(float x, float y) { return powf(x, y); }
TENON_DEVICE float __fdividef(float x, float y) { return x / y; }
TENON_DEVICE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
TENON_DEVICE float fdividef(float x, float y) { return x / y; }

TENON_DEVICE float __fadd_rn(float x, float y) { return x + y; }
TENON_DEVICE float __fsub_rn(float x, float y) { return x - y; }
TENON_DEVICE float __fmul_rn(float x, float y) { return x * y; }
TENON_DEVICE float __fdiv_rn(float x, float y) { return x / y; }
TENON_DEVICE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
TENON_DEVICE float __frcp_rn(float x) { return 1.0f / x; }
TENON_DEVICE float __fsqrt_rn(float x) { return sqrtf(x); }
TENON_DEVICE float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
TENON_DEVICE double __dadd_rn(double x, double y) { return x + y; }
TENON_DEVICE double __dsub_rn(double x, double y) { return x - y; }
TENON_DEVICE double __dmul_rn(double x, double y) { return x * y; }
TENON_DEVICE double __ddiv_rn(double x, double y) { return x / y; }
TENON_DEVICE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
TENON_DEVICE double __drcp_rn(double x) { return 1.0 / x; }
TENON_DEVICE double __dsqrt_rn(double x) { return sqrt(x); }

// 2^x.
TENON_DEVICE float max_or_nan(float a, float b) { return a < b ? b : a; }
// As the hardware has it: what would be subnormal is 0.
TENON_DEVICE float fast_exp2(float x) { return x < -126 ? 0.0f : exp2f(x); }
TENON_DEVICE float fast_reciprocal(float x) { return 1.0f / x; }
