// All-reduce over peer memory: what the two forms share. Every rank, a device each, launches the same kernel on its own stream; each owns a
// workspace that its peers write or read. A thread takes one pack of 16 bytes, so sizes end at 32 blocks × 512 threads × 16 bytes.
//
// Workspace: OneShotHead at its start, from byte 4096 on slots of 16 bytes, [turn][rank][place].
#pragma once
#include "pack.cuh"

constexpr i32 ONESHOT_THREADS = 512;
constexpr i32 ONESHOT_BLOCKS = 32;
constexpr i32 ONESHOT_RANKS = 8;
constexpr i64 ONESHOT_PLACES = ONESHOT_THREADS * ONESHOT_BLOCKS;
constexpr i64 ONESHOT_SLOTS = 4096;

struct OneShotHead {
    u32 turn[ONESHOT_BLOCKS];  // of each block: which calls it has done, for the kernel alone
    u32 stop;                  // not 0 when the host gives up waiting
    u32 unused[31];
    u32 arrived[ONESHOT_RANKS][ONESHOT_BLOCKS];  // counted up by the peers
};

template <typename T>
union OneShotPack {
    uint4 words;
    Pack<T, Widest<T>::value> elements;
    __device__ __forceinline__ OneShotPack() : words(make_uint4(0, 0, 0, 0)) {}
};

__device__ __forceinline__ OneShotHead* oneshot_head(u64 workspace) { return reinterpret_cast<OneShotHead*>(workspace); }

__device__ __forceinline__ uint4* oneshot_slot(u64 workspace, i32 turn, i32 world, i32 rank, i64 place) {
    return reinterpret_cast<uint4*>(workspace + ONESHOT_SLOTS) + (static_cast<i64>(turn) * world + rank) * ONESHOT_PLACES + place;
}

__device__ __forceinline__ bool on_16_bytes(const void* p) { return (reinterpret_cast<u64>(p) & 15) == 0; }

// The pack at `place` of n elements; zeros beyond the last.
template <typename T>
__device__ __forceinline__ uint4 oneshot_load(const T* x, i64 n, i64 place) {
    constexpr i32 V = Widest<T>::value;
    OneShotPack<T> pack;
    if (on_16_bytes(x) && (place + 1) * V <= n) {
        pack.elements = load_pack<T, V>(x, place);
    } else {
        for (i32 i = 0; i < V; i++) {
            if (place * V + i < n) pack.elements.at[i] = x[place * V + i];
        }
    }
    return pack.words;
}

template <typename T>
__device__ __forceinline__ void oneshot_store(T* y, i64 n, i64 place, const float (&sum)[Widest<T>::value], float divisor) {
    constexpr i32 V = Widest<T>::value;
    OneShotPack<T> pack;
#pragma unroll
    for (i32 i = 0; i < V; i++) pack.elements.at[i] = From<T>::of(divisor == 1.0f ? sum[i] : sum[i] / divisor);
    if (on_16_bytes(y) && (place + 1) * V <= n) {
        store_pack<T, V>(y, place, pack.elements);
    } else {
        for (i32 i = 0; i < V; i++) {
            if (place * V + i < n) y[place * V + i] = pack.elements.at[i];
        }
    }
}

// Ranks are added in their order, everywhere, so every rank gets the same bits.
template <typename T>
__device__ __forceinline__ void oneshot_add(float (&sum)[Widest<T>::value], uint4 words, bool first) {
    OneShotPack<T> pack;
    pack.words = words;
#pragma unroll
    for (i32 i = 0; i < Widest<T>::value; i++) {
        float v = to_compute(pack.elements.at[i]);
        sum[i] = first ? v : sum[i] + v;
    }
}
