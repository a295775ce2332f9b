// f16 and bf16: storage types, exact conversions. To nearest, ties to even; NaN becomes the canonical NaN, too large becomes infinity.
#pragma once

struct alignas(2) f16 {
    u16 bits;
};

struct alignas(2) bf16 {
    u16 bits;
};

TENON_DEVICE float to_f32(f16 v) {
    u32 sign = static_cast<u32>(v.bits & 0x8000u) << 16;
    u32 rest = v.bits & 0x7fffu;
    if (rest > 0x7c00u) {
        return __builtin_bit_cast(float, 0x7fffffffu);
    }
    if (rest == 0x7c00u) {
        return __builtin_bit_cast(float, sign | 0x7f800000u);
    }
    if (rest < 0x0400u) {  // subnormal: rest * 2^-24, exact
        return __builtin_bit_cast(float, sign | __builtin_bit_cast(u32, static_cast<float>(rest) * 0x1p-24f));
    }
    return __builtin_bit_cast(float, sign | ((rest << 13) + 0x38000000u));
}

TENON_DEVICE void to_f32(u32 two, float& low, float& high) {
    low = to_f32(f16{static_cast<u16>(two)});
    high = to_f32(f16{static_cast<u16>(two >> 16)});
}

TENON_DEVICE float to_f32(bf16 v) { return __builtin_bit_cast(float, static_cast<u32>(v.bits) << 16); }

TENON_DEVICE f16 to_f16(float v) {
    u32 u = __builtin_bit_cast(u32, v);
    u32 sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    f16 r;
    if (u > 0x7f800000u) {
        r.bits = 0x7fff;
    } else if (u >= 0x477ff000u) {  // 65520 and more
        r.bits = static_cast<u16>(sign | 0x7c00u);
    } else if (u < 0x38800000u) {  // below 2^-14: adding 0.5 rounds to a multiple of 2^-24
        r.bits = static_cast<u16>(sign | (__builtin_bit_cast(u32, __builtin_bit_cast(float, u) + 0.5f) - 0x3f000000u));
    } else {
        u32 odd = u >> 13 & 1u;
        r.bits = static_cast<u16>(sign | ((u - 0x38000000u + 0xfffu + odd) >> 13));
    }
    return r;
}

TENON_DEVICE u32 fma_f16x2(u32 a, u32 b, u32 c) {
    float a0, a1, b0, b1, c0, c1;
    to_f32(a, a0, a1);
    to_f32(b, b0, b1);
    to_f32(c, c0, c1);
    // products of halves are exact in f32; to a double the sum is exact too, so that it is rounded once but for f32's own rounding
    double low = static_cast<double>(a0) * b0 + c0, high = static_cast<double>(a1) * b1 + c1;
    return static_cast<u32>(to_f16(static_cast<float>(low)).bits) | static_cast<u32>(to_f16(static_cast<float>(high)).bits) << 16;
}

TENON_DEVICE bf16 to_bf16(float v) {
    u32 u = __builtin_bit_cast(u32, v);
    bf16 r;
    r.bits = v != v ? u16(0x7fff) : static_cast<u16>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
    return r;
}

// Two numbers in a word, the first in its low half.
TENON_DEVICE u32 to_pair(float low, float high, f16) { return to_f16(low).bits | static_cast<u32>(to_f16(high).bits) << 16; }
TENON_DEVICE u32 to_pair(float low, float high, bf16) { return to_bf16(low).bits | static_cast<u32>(to_bf16(high).bits) << 16; }
