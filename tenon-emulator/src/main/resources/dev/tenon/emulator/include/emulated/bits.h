// Bits, conversions that name their rounding, cached loads.
#pragma once


TENON_DEVICE int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
TENON_DEVICE unsigned int __float_as_uint(float v) { return __builtin_bit_cast(unsigned int, v); }
TENON_DEVICE float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
TENON_DEVICE float __uint_as_float(unsigned int v) { return __builtin_bit_cast(float, v); }
TENON_DEVICE long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
TENON_DEVICE double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
TENON_DEVICE int __double2loint(double v) { return static_cast<int>(__double_as_longlong(v)); }
TENON_DEVICE int __double2hiint(double v) { return static_cast<int>(__double_as_longlong(v) >> 32); }
TENON_DEVICE double __hiloint2double(int hi, int lo) {
    return __longlong_as_double(static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned int>(hi)) << 32 | static_cast<unsigned int>(lo)));
}

TENON_DEVICE int __popc(unsigned int v) { return __builtin_popcount(v); }
TENON_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
TENON_DEVICE int __clz(int v) { return v == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(v)); }
TENON_DEVICE int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v)); }
TENON_DEVICE int __ffs(int v) { return __builtin_ffs(v); }
TENON_DEVICE int __ffsll(long long v) { return __builtin_ffsll(v); }
TENON_DEVICE unsigned int __brev(unsigned int v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
TENON_DEVICE unsigned long long __brevll(unsigned long long v) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(v))) << 32 | __brev(static_cast<unsigned int>(v >> 32));
}
TENON_DEVICE unsigned int __umulhi(unsigned int a, unsigned int b) {
    return static_cast<unsigned int>(static_cast<unsigned long long>(a) * b >> 32);
}
TENON_DEVICE int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
TENON_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
TENON_DEVICE long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
TENON_DEVICE int __mul24(int a, int b) {
    return static_cast<int>(static_cast<unsigned int>(a << 8 >> 8) * static_cast<unsigned int>(b << 8 >> 8));
}
TENON_DEVICE unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
TENON_DEVICE unsigned int __sad(int a, int b, unsigned int c) { return c + static_cast<unsigned int>(a < b ? b - a : a - b); }

TENON_DEVICE unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
    unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
    unsigned int result = 0;
    for (unsigned int i = 0; i < 4; i++) {
        unsigned int pick = selector >> 4 * i & 7;
        result |= static_cast<unsigned int>(both >> 8 * pick & 0xff) << 8 * i;
    }
    return result;
}
TENON_DEVICE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
    return static_cast<unsigned int>((static_cast<unsigned long long>(hi) << 32 | lo) << (shift & 31) >> 32);
}
TENON_DEVICE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
    return static_cast<unsigned int>((static_cast<unsigned long long>(hi) << 32 | lo) >> (shift & 31));
}
TENON_DEVICE unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
    return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
TENON_DEVICE unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
    return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// Dot products of four bytes.
TENON_DEVICE int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) {
        c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    }
    return c;
}
TENON_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 32; i += 8) {
        c += (a >> i & 0xff) * (b >> i & 0xff);
    }
    return c;
}

// Float to integer: saturating, NaN is 0, as on the device; the host's cast is undefined there.
namespace tenon {
template <typename I, typename F>
TENON_QUIET static inline I saturating(F v, F low, F past, I least, I most) {
    return v != v ? I(0) : v < low ? least : v >= past ? most : static_cast<I>(v);
}
template <typename F>
static inline int to_int(F v) {
    return saturating<int, F>(v, F(-2147483648.0), F(2147483648.0), -2147483647 - 1, 2147483647);
}
template <typename F>
static inline unsigned int to_uint(F v) {
    return saturating<unsigned int, F>(v, F(0), F(4294967296.0), 0u, 0xffffffffu);
}
template <typename F>
static inline long long to_long(F v) {
    return saturating<long long, F>(v, F(-9223372036854775808.0), F(9223372036854775808.0), -9223372036854775807ll - 1, 9223372036854775807ll);
}
template <typename F>
static inline unsigned long long to_ulong(F v) {
    return saturating<unsigned long long, F>(v, F(0), F(18446744073709551616.0), 0ull, ~0ull);
}
}  // namespace tenon

TENON_DEVICE int __float2int_rn(float v) { return tenon::to_int(rintf(v)); }
TENON_DEVICE unsigned int __float2uint_rn(float v) { return tenon::to_uint(rintf(v)); }
TENON_DEVICE long long __float2ll_rn(float v) { return tenon::to_long(rintf(v)); }
TENON_DEVICE unsigned long long __float2ull_rn(float v) { return tenon::to_ulong(rintf(v)); }
TENON_DEVICE int __double2int_rn(double v) { return tenon::to_int(rint(v)); }
TENON_DEVICE unsigned int __double2uint_rn(double v) { return tenon::to_uint(rint(v)); }
TENON_DEVICE long long __double2ll_rn(double v) { return tenon::to_long(rint(v)); }
TENON_DEVICE unsigned long long __double2ull_rn(double v) { return tenon::to_ulong(rint(v)); }
TENON_DEVICE int __float2int_rz(float v) { return tenon::to_int(truncf(v)); }
TENON_DEVICE unsigned int __float2uint_rz(float v) { return tenon::to_uint(truncf(v)); }
TENON_DEVICE long long __float2ll_rz(float v) { return tenon::to_long(truncf(v)); }
TENON_DEVICE unsigned long long __float2ull_rz(float v) { return tenon::to_ulong(truncf(v)); }
TENON_DEVICE int __double2int_rz(double v) { return tenon::to_int(trunc(v)); }
TENON_DEVICE unsigned int __double2uint_rz(double v) { return tenon::to_uint(trunc(v)); }
TENON_DEVICE long long __double2ll_rz(double v) { return tenon::to_long(trunc(v)); }
TENON_DEVICE unsigned long long __double2ull_rz(double v) { return tenon::to_ulong(trunc(v)); }
TENON_DEVICE int __float2int_ru(float v) { return tenon::to_int(ceilf(v)); }
TENON_DEVICE unsigned int __float2uint_ru(float v) { return tenon::to_uint(ceilf(v)); }
TENON_DEVICE long long __float2ll_ru(float v) { return tenon::to_long(ceilf(v)); }
TENON_DEVICE unsigned long long __float2ull_ru(float v) { return tenon::to_ulong(ceilf(v)); }
TENON_DEVICE int __double2int_ru(double v) { return tenon::to_int(ceil(v)); }
TENON_DEVICE unsigned int __double2uint_ru(double v) { return tenon::to_uint(ceil(v)); }
TENON_DEVICE long long __double2ll_ru(double v) { return tenon::to_long(ceil(v)); }
TENON_DEVICE unsigned long long __double2ull_ru(double v) { return tenon::to_ulong(ceil(v)); }
TENON_DEVICE int __float2int_rd(float v) { return tenon::to_int(floorf(v)); }
TENON_DEVICE unsigned int __float2uint_rd(float v) { return tenon::to_uint(floorf(v)); }
TENON_DEVICE long long __float2ll_rd(float v) { return tenon::to_long(floorf(v)); }
TENON_DEVICE unsigned long long __float2ull_rd(float v) { return tenon::to_ulong(floorf(v)); }
TENON_DEVICE int __double2int_rd(double v) { return tenon::to_int(floor(v)); }
TENON_DEVICE unsigned int __double2uint_rd(double v) { return tenon::to_uint(floor(v)); }
TENON_DEVICE long long __double2ll_rd(double v) { return tenon::to_long(floor(v)); }
TENON_DEVICE unsigned long long __double2ull_rd(double v) { return tenon::to_ulong(floor(v)); }
TENON_DEVICE float __int2float_rn(int v) { return static_cast<float>(v); }
TENON_DEVICE float __uint2float_rn(unsigned int v) { return static_cast<float>(v); }
TENON_DEVICE float __ll2float_rn(long long v) { return static_cast<float>(v); }
TENON_DEVICE float __ull2float_rn(unsigned long long v) { return static_cast<float>(v); }
TENON_DEVICE double __int2double_rn(int v) { return static_cast<double>(v); }
TENON_DEVICE double __ll2double_rn(long long v) { return static_cast<double>(v); }
TENON_DEVICE float __double2float_rn(double v) { return static_cast<float>(v); }

template <typename T>
TENON_DEVICE T __ldg(const T* p) { return *p; }
template <typename T>
TENON_DEVICE T __ldcs(const T* p) { return *p; }
template <typename T>
TENON_DEVICE T __ldcg(const T* p) { return *p; }
template <typename T>
TENON_DEVICE T __ldca(const T* p) { return *p; }
template <typename T>
TENON_DEVICE T __ldlu(const T* p) { return *p; }
template <typename T>
TENON_DEVICE void __stcs(T* p, T v) { *p = v; }
template <typename T>
TENON_DEVICE void __stcg(T* p, T v) { *p = v; }
template <typename T>
TENON_DEVICE void __stwb(T* p, T v) { *p = v; }
template <typename T>
TENON_DEVICE void __stwt(T* p, T v) { *p = v; }

TENON_DEVICE uint4 load_streaming(const uint4* p) { return *p; }
TENON_DEVICE uint4 load_ahead(const uint4* p) { return *p; }
TENON_DEVICE void store_streaming(uint4* p, uint4 v) { *p = v; }

TENON_DEVICE size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<size_t>(p); }
