// Packed weights of GGUF files (core's BlockFormat has layouts and formulas): four neighbours of a block at a time, as a factor, an offset and four
// unsigned bytes: element i is factor byte i + offset.
#pragma once
#include "pack.cuh"

// The formats, those of 32 elements first.
constexpr int Q4_0 = 0;
constexpr int Q4_1 = 1;
constexpr int Q5_0 = 2;
constexpr int Q5_1 = 3;
constexpr int Q8_0 = 4;
constexpr int Q2_K = 5;
constexpr int Q3_K = 6;
constexpr int Q4_K = 7;
constexpr int Q5_K = 8;
constexpr int Q6_K = 9;

template <int FORMAT>
struct Block {
    static constexpr int ELEMENTS = FORMAT <= Q8_0 ? 32 : 256;
    static constexpr int BYTES = FORMAT == Q4_0   ? 18
                                 : FORMAT == Q4_1 ? 20
                                 : FORMAT == Q5_0 ? 22
                                 : FORMAT == Q5_1 ? 24
                                 : FORMAT == Q8_0 ? 34
                                 : FORMAT == Q2_K ? 84
                                 : FORMAT == Q3_K ? 110
                                 : FORMAT == Q4_K ? 144
                                 : FORMAT == Q5_K ? 176
                                                  : 210;
};

template <typename A>
struct Four {
    A factor, offset;
    u32 bytes;
};

// Blocks lie on boundaries of 2 bytes.
__device__ __forceinline__ u32 two_bytes(const u8* p) { return *reinterpret_cast<const u16*>(p); }
__device__ __forceinline__ u32 four_bytes(const u8* p) { return two_bytes(p) | two_bytes(p + 2) << 16; }
// The same where all blocks of a format lie on boundaries of 4.
template <int FORMAT>
__device__ __forceinline__ u32 word_at(const u8* p) {
    return Block<FORMAT>::BYTES % 4 == 0 ? *reinterpret_cast<const u32*>(p) : four_bytes(p);
}
template <typename A>
__device__ __forceinline__ A half_at(const u8* p) {
    return static_cast<A>(to_f32(f16{static_cast<u16>(two_bytes(p))}));
}

// Bits 0 to 3 of v, a byte each.
__device__ __forceinline__ u32 spread_bits(u32 v) { return (v & 1) | (v & 2) << 7 | (v & 4) << 14 | (v & 8) << 21; }

// Elements e to e + 3 of a block; e is a multiple of 4.
template <typename A, int FORMAT>
__device__ __forceinline__ Four<A> four_of(const u8* block, int e) {
    if (FORMAT == Q8_0) {
        A d = half_at<A>(block);
        return {d, -128 * d, word_at<FORMAT>(block + 2 + e) ^ 0x80808080u};
    }
    if (FORMAT <= Q5_1) {
        constexpr bool five = FORMAT == Q5_0 || FORMAT == Q5_1, shifted = FORMAT == Q4_1 || FORMAT == Q5_1;
        constexpr int high = shifted ? 4 : 2, low = high + (five ? 4 : 0);
        A d = half_at<A>(block);
        u32 q = word_at<FORMAT>(block + low + e % 16) >> (e < 16 ? 0 : 4) & 0x0f0f0f0fu;
        if (five) q |= spread_bits(static_cast<u32>(block[high + e / 8]) >> e % 8) << 4;
        return {d, shifted ? half_at<A>(block + 2) : -d * (five ? 16 : 8), q};
    }
    if (FORMAT == Q2_K) {
        u32 sub = block[e / 16];
        u32 q = word_at<FORMAT>(block + 16 + e / 128 * 32 + e % 32) >> e % 128 / 32 * 2 & 0x03030303u;
        return {half_at<A>(block + 80) * static_cast<A>(sub & 15), -half_at<A>(block + 82) * static_cast<A>(sub >> 4), q};
    }
    if (FORMAT == Q3_K) {
        int sub = e / 16;
        u32 low = block[96 + sub % 8] >> (sub < 8 ? 0 : 4) & 15, high = block[104 + sub % 4] >> sub / 4 * 2 & 3;
        u32 q = word_at<FORMAT>(block + 32 + e / 128 * 32 + e % 32) >> e % 128 / 32 * 2 & 0x03030303u;
        q |= (word_at<FORMAT>(block + e % 32) >> e / 32 & 0x01010101u) << 2;
        A d = half_at<A>(block + 108) * static_cast<A>(static_cast<i32>(low | high << 4) - 32);
        return {d, -4 * d, q};
    }
    if (FORMAT == Q4_K || FORMAT == Q5_K) {
        constexpr bool five = FORMAT == Q5_K;
        int sub = e / 32;
        uint4 head = *reinterpret_cast<const uint4*>(block);  // blocks are whole pieces of 16
        u32 a = head.y >> sub % 4 * 8, b = head.z >> sub % 4 * 8, c = head.w >> sub % 4 * 8;
        u32 s = sub < 4 ? a & 63 : (c & 15) | (a >> 2 & 48);
        u32 m = sub < 4 ? b & 63 : (c >> 4 & 15) | (b >> 2 & 48);
        u32 q = word_at<FORMAT>(block + 16 + (five ? 32 : 0) + sub / 2 * 32 + e % 32) >> sub % 2 * 4 & 0x0f0f0f0fu;
        if (five) q |= (word_at<FORMAT>(block + 16 + e % 32) >> sub & 0x01010101u) << 4;
        A d = static_cast<A>(to_f32(f16{static_cast<u16>(head.x)})), least = static_cast<A>(to_f32(f16{static_cast<u16>(head.x >> 16)}));
        return {d * static_cast<A>(s), -least * static_cast<A>(m), q};
    }
    int half = e / 128, quarter = e % 128 / 32;
    u32 q = word_at<FORMAT>(block + half * 64 + quarter % 2 * 32 + e % 32) >> (quarter < 2 ? 0 : 4) & 0x0f0f0f0fu;
    q |= (word_at<FORMAT>(block + 128 + half * 32 + e % 32) >> quarter * 2 & 0x03030303u) << 4;
    A d = half_at<A>(block + 208) * static_cast<A>(static_cast<i32>(static_cast<i8>(block[192 + e / 16])));
    return {d, -32 * d, q};
}

// Byte i of a word as a number: as the low digits of 2^23, which is taken off again.
__device__ __forceinline__ float byte_number(u32 bytes, int i, float) { return __uint_as_float(__byte_perm(bytes, 0x4b000000u, 0x7650 | i)) - 8388608.0f; }
__device__ __forceinline__ double byte_number(u32 bytes, int i, double) { return static_cast<double>(bytes >> 8 * i & 255); }
