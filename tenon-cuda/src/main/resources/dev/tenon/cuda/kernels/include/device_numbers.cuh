// A part of tenon.cuh: 16-bit numbers, and functions of one or two instructions.
#pragma once

struct alignas(2) f16 {
    u16 bits;
};

struct alignas(2) bf16 {
    u16 bits;
};

__device__ __forceinline__ float to_f32(f16 v) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v.bits));
    return r;
}

__device__ __forceinline__ float to_f32(bf16 v) { return __uint_as_float(static_cast<u32>(v.bits) << 16); }

// The two f16 numbers of a word.
__device__ __forceinline__ void to_f32(u32 two, float& low, float& high) {
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(low), "=f"(high) : "r"(two));
}

// a b + c of the two f16 numbers of words, each rounded once.
__device__ __forceinline__ u32 fma_f16x2(u32 a, u32 b, u32 c) {
    u32 r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

// Round to nearest even; NaN stays NaN, too large becomes infinity.
__device__ __forceinline__ f16 to_f16(float v) {
    f16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(v));
    return r;
}

__device__ __forceinline__ bf16 to_bf16(float v) {
    bf16 r;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(v));
#else
    u32 u = __float_as_uint(v);
    r.bits = v != v ? static_cast<u16>((u >> 16) | 0x40) : static_cast<u16>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
#endif
    return r;
}

// Two numbers in a word, the first in its low half.
__device__ __forceinline__ u32 to_pair(float low, float high, f16) {
#if __CUDA_ARCH__ >= 800
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
#else
    return to_f16(low).bits | static_cast<u32>(to_f16(high).bits) << 16;
#endif
}

__device__ __forceinline__ u32 to_pair(float low, float high, bf16) {
#if __CUDA_ARCH__ >= 800
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
#else
    return to_bf16(low).bits | static_cast<u32>(to_bf16(high).bits) << 16;
#endif
}

// 2^x within 2 units in the last place, in one instruction. Special values as in exp; subnormal results are 0.
__device__ __forceinline__ float fast_exp2(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// 1 / x within 1 unit in the last place, in one instruction. Special values as in division; subnormal x is 0.
__device__ __forceinline__ float fast_reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// The larger, or NaN where a is; b is a number.
__device__ __forceinline__ float max_or_nan(float a, float b) {
#if __CUDA_ARCH__ >= 800
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
#else
    return a < b ? b : a;
#endif
}

// The number itself, as one that the compiler knows nothing of: what is worked out from it is not kept in registers over a loop.
__device__ __forceinline__ int opaque(int v) {
    asm volatile("" : "+r"(v));
    return v;
}
