// Element types by number: kernels that treat all integers alike take the type as an argument. The numbers are those of TypeCodes.java (a test
// compares them). Integers are worked on as i64, sign- or zero-extended, and wrap when they are stored.
#pragma once
#include "pack.cuh"

constexpr int TYPE_F64 = 0;
constexpr int TYPE_F32 = 1;
constexpr int TYPE_F16 = 2;
constexpr int TYPE_BF16 = 3;
constexpr int TYPE_I64 = 4;
constexpr int TYPE_I32 = 5;
constexpr int TYPE_I16 = 6;
constexpr int TYPE_I8 = 7;
constexpr int TYPE_U64 = 8;
constexpr int TYPE_U32 = 9;
constexpr int TYPE_U16 = 10;
constexpr int TYPE_U8 = 11;
constexpr int TYPE_BOOL = 12;

__device__ __forceinline__ bool is_unsigned(int type) { return type >= TYPE_U64; }

__device__ __forceinline__ i64 load_integer(int type, const void* p, i64 at) {
    switch (type) {
        case TYPE_I64:
        case TYPE_U64: return static_cast<const i64*>(p)[at];
        case TYPE_I32: return static_cast<const i32*>(p)[at];
        case TYPE_I16: return static_cast<const i16*>(p)[at];
        case TYPE_I8: return static_cast<const i8*>(p)[at];
        case TYPE_U32: return static_cast<const u32*>(p)[at];
        case TYPE_U16: return static_cast<const u16*>(p)[at];
        case TYPE_U8: return static_cast<const u8*>(p)[at];
        default: return static_cast<const u8*>(p)[at] != 0;
    }
}

__device__ __forceinline__ void store_integer(int type, void* p, i64 at, i64 v) {
    switch (type) {
        case TYPE_I64:
        case TYPE_U64: static_cast<i64*>(p)[at] = v; break;
        case TYPE_I32:
        case TYPE_U32: static_cast<u32*>(p)[at] = static_cast<u32>(v); break;
        case TYPE_I16:
        case TYPE_U16: static_cast<u16*>(p)[at] = static_cast<u16>(v); break;
        case TYPE_I8:
        case TYPE_U8: static_cast<u8*>(p)[at] = static_cast<u8>(v); break;
        default: static_cast<u8*>(p)[at] = v != 0; break;
    }
}

// What an integer of the type becomes when it is stored and loaded.
__device__ __forceinline__ i64 wrapped(int type, i64 v) {
    switch (type) {
        case TYPE_I32: return static_cast<i32>(v);
        case TYPE_I16: return static_cast<i16>(v);
        case TYPE_I8: return static_cast<i8>(v);
        case TYPE_U32: return static_cast<u32>(v);
        case TYPE_U16: return static_cast<u16>(v);
        case TYPE_U8: return static_cast<u8>(v);
        case TYPE_BOOL: return v != 0;
        default: return v;
    }
}

__device__ __forceinline__ bool less(int type, i64 a, i64 b) {
    return type == TYPE_U64 ? static_cast<u64>(a) < static_cast<u64>(b) : a < b;
}

// The float whose last bit is set where it is not exact: rounding it to fewer bits comes out as rounding the double once would.
__device__ __forceinline__ float odd_float(double v) {
    float nearest = static_cast<float>(v);
    if (static_cast<double>(nearest) == v || v != v) return nearest;
    u32 bits = __float_as_uint(nearest);
    if (fabs(static_cast<double>(nearest)) > fabs(v)) bits--;
    return __uint_as_float(bits | 1u);
}

__device__ __forceinline__ f16 to_f16(double v) { return to_f16(odd_float(v)); }
__device__ __forceinline__ bf16 to_bf16(double v) { return to_bf16(odd_float(v)); }

__device__ __forceinline__ double integer_to_double(int type, i64 v) {
    // in two roundings past 2^63, as the reference has it
    return type == TYPE_U64 && v < 0 ? static_cast<double>(v & 0x7fffffffffffffffll) + 9223372036854775808.0 : static_cast<double>(v);
}

// Truncates, saturates, NaN is 0; for booleans whether it is not 0.
template <typename A>
__device__ __forceinline__ i64 float_to_integer(int type, A v) {
    if (type == TYPE_BOOL) return v != 0;
    if (v != v) return 0;
    if (type == TYPE_U64) {
        u64 r = v >= A(18446744073709551616.0) ? ~0ull : v > 0 ? static_cast<u64>(v) : 0ull;
        return static_cast<i64>(r);
    }
    i64 r = v >= A(9223372036854775808.0) ? 0x7fffffffffffffffll : v < A(-9223372036854775808.0) ? static_cast<i64>(0x8000000000000000ull) : static_cast<i64>(v);
    i64 least = type == TYPE_I32 ? -2147483648ll : type == TYPE_I16 ? -32768 : type == TYPE_I8 ? -128 : is_unsigned(type) ? 0 : r;
    i64 most = type == TYPE_I32 ? 2147483647ll : type == TYPE_I16 ? 32767 : type == TYPE_I8 ? 127 : type == TYPE_U32 ? 4294967295ll : type == TYPE_U16 ? 65535 : type == TYPE_U8 ? 255 : r;
    return r < least ? least : r > most ? most : r;
}

template <typename T>
__device__ __forceinline__ T rounded_to(double v);
template <>
__device__ __forceinline__ double rounded_to<double>(double v) { return v; }
template <>
__device__ __forceinline__ float rounded_to<float>(double v) { return static_cast<float>(v); }
template <>
__device__ __forceinline__ f16 rounded_to<f16>(double v) { return to_f16(v); }
template <>
__device__ __forceinline__ bf16 rounded_to<bf16>(double v) { return to_bf16(v); }

// Float computation types to storage types, in one rounding.
template <typename T>
__device__ __forceinline__ T narrowed(float v) { return From<T>::of(v); }
template <typename T>
__device__ __forceinline__ T narrowed(double v) { return rounded_to<T>(v); }
