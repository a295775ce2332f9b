// Types that only casts know: 8-bit floats (OCP 8-bit Floating Point Specification 1.0) and integers of 4 bits, two a byte, the low half first.
// The numbers go on from those of types.cuh and are those of TypeCodes.java (a test compares them).
#pragma once
#include "types.cuh"

constexpr int NARROW_F8E4M3 = 13;
constexpr int NARROW_F8E5M2 = 14;
constexpr int NARROW_I4 = 15;
constexpr int NARROW_U4 = 16;

__device__ __forceinline__ float from_f8(int type, u8 code) {
    if (type == NARROW_F8E5M2) return to_f32(f16{static_cast<u16>(code << 8)});
    u32 sign = static_cast<u32>(code & 0x80) << 24;
    u32 magnitude = code & 0x7f;
    if (magnitude == 0x7f) return TENON_NAN;
    // below the smallest normal number in steps of 2^-9
    float v = magnitude < 8 ? static_cast<float>(magnitude) * 0.001953125f : __uint_as_float((magnitude << 20) + (120u << 23));
    return __uint_as_float(__float_as_uint(v) | sign);
}

// Rounds to nearest even. What is too large, infinity too, becomes the largest number where it saturates, else NaN (e4m3) or infinity.
__device__ __forceinline__ u8 to_f8(int type, bool saturates, float v) {
    bool e4m3 = type == NARROW_F8E4M3;
    u32 bits = __float_as_uint(v);
    u8 sign = static_cast<u8>(bits >> 24 & 0x80);
    u32 magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | (e4m3 ? 0x7f : 0x7e);
    int mantissa = e4m3 ? 3 : 2;
    u32 lowest = e4m3 ? 121 : 113;  // the exponent, as floats have it, of the smallest normal number
    u32 code;
    if (magnitude < lowest << 23) {
        float steps = __uint_as_float(magnitude) * (e4m3 ? 512.0f : 65536.0f);
        code = static_cast<u32>(rintf(steps));
    } else {
        int drop = 23 - mantissa;
        u32 rounded = (magnitude + ((1u << (drop - 1)) - 1) + (magnitude >> drop & 1)) >> drop;
        code = rounded - ((lowest - 1) << mantissa);
    }
    u32 largest = e4m3 ? 0x7e : 0x7b;
    if (code > largest) code = saturates ? largest : largest + 1;
    return sign | static_cast<u8>(code);
}

__device__ __forceinline__ u8 to_f8(int type, bool saturates, double v) { return to_f8(type, saturates, odd_float(v)); }

// Truncates and saturates, NaN is 0.
template <typename A>
__device__ __forceinline__ i64 narrow_integer(int type, A v) {
    if (type < NARROW_I4) return float_to_integer(type, v);
    i64 whole = float_to_integer(TYPE_I64, v);
    i64 least = type == NARROW_I4 ? -8 : 0, most = type == NARROW_I4 ? 7 : 15;
    return whole < least ? least : whole > most ? most : whole;
}
