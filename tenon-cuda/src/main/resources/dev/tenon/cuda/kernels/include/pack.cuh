// Vectorised access: V elements of type T as one load or store, and the type that a dtype is computed in.
#pragma once
#include "tenon.cuh"

template <typename T>
struct Compute {
    typedef float type;
};

template <>
struct Compute<double> {
    typedef double type;
};

__device__ __forceinline__ float to_compute(float v) { return v; }
__device__ __forceinline__ double to_compute(double v) { return v; }
__device__ __forceinline__ float to_compute(f16 v) { return to_f32(v); }
__device__ __forceinline__ float to_compute(bf16 v) { return to_f32(v); }

template <typename T>
struct From;

template <>
struct From<float> {
    static __device__ __forceinline__ float of(float v) { return v; }
};

template <>
struct From<double> {
    static __device__ __forceinline__ double of(double v) { return v; }
};

template <>
struct From<f16> {
    static __device__ __forceinline__ f16 of(float v) { return to_f16(v); }
};

template <>
struct From<bf16> {
    static __device__ __forceinline__ bf16 of(float v) { return to_bf16(v); }
};

// Past 16 bytes it is several accesses.
template <typename T, int V>
struct alignas(sizeof(T) * V > 16 ? 16 : sizeof(T) * V) Pack {
    T at[V];
};

// Elements of the widest access, 16 bytes.
template <typename T>
struct Widest {
    static constexpr int value = 16 / sizeof(T);
};

template <typename T, int V>
__device__ __forceinline__ Pack<T, V> load_pack(const T* base, i64 pack) {
    return reinterpret_cast<const Pack<T, V>*>(base)[pack];
}

template <typename T, int V>
__device__ __forceinline__ void store_pack(T* base, i64 pack, Pack<T, V> v) {
    reinterpret_cast<Pack<T, V>*>(base)[pack] = v;
}

// The same with a word to L2, where the access is of 16 bytes.
template <typename T, int V>
__device__ __forceinline__ Pack<T, V> load_pack(const T* base, i64 pack, u64 policy) {
    if (sizeof(Pack<T, V>) != 16) return load_pack<T, V>(base, pack);
    uint4 bits = load_16(reinterpret_cast<const Pack<T, V>*>(base) + pack, policy);
    return *reinterpret_cast<Pack<T, V>*>(&bits);
}

template <typename T, int V>
__device__ __forceinline__ void store_pack(T* base, i64 pack, Pack<T, V> v, u64 policy) {
    if (sizeof(Pack<T, V>) != 16) return store_pack<T, V>(base, pack, v);
    store_16(reinterpret_cast<Pack<T, V>*>(base) + pack, *reinterpret_cast<uint4*>(&v), policy);
}

// Four words of four neighbouring lanes transposed: lane t gets the words that were number t, in the order of lanes.
__device__ __forceinline__ void transpose_4(u32 (&v)[4]) {
    bool odd = threadIdx.x & 1;
    bool high = threadIdx.x & 2;
    u32 a = __shfl_xor_sync(0xffffffffu, odd ? v[0] : v[1], 1);
    u32 b = __shfl_xor_sync(0xffffffffu, odd ? v[2] : v[3], 1);
    u32 w0 = odd ? a : v[0], w1 = odd ? v[1] : a, w2 = odd ? b : v[2], w3 = odd ? v[3] : b;
    a = __shfl_xor_sync(0xffffffffu, high ? w0 : w2, 2);
    b = __shfl_xor_sync(0xffffffffu, high ? w1 : w3, 2);
    v[0] = high ? a : w0;
    v[1] = high ? b : w1;
    v[2] = high ? w2 : a;
    v[3] = high ? w3 : b;
}
