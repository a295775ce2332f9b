// The counter-based generator Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, 2011), word for word core's Philox.
#pragma once
#include "tenon.cuh"

// Four words of a counter of 128 bits under a key.
__device__ __forceinline__ uint4 philox(u64 low, u64 high, u64 key) {
    u32 c0 = static_cast<u32>(low), c1 = static_cast<u32>(low >> 32), c2 = static_cast<u32>(high), c3 = static_cast<u32>(high >> 32);
    u32 k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u64 p = static_cast<u64>(0xD2511F53u) * c0, q = static_cast<u64>(0xCD9E8D57u) * c2;
        c0 = static_cast<u32>(q >> 32) ^ c1 ^ k0;
        c2 = static_cast<u32>(p >> 32) ^ c3 ^ k1;
        c1 = static_cast<u32>(q);
        c3 = static_cast<u32>(p);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

// A number in [0, 1) from the upper 24 bits of a word; exact in float.
__device__ __forceinline__ double philox_unit(u32 word) { return static_cast<double>(word >> 8) * (1.0 / 16777216); }
