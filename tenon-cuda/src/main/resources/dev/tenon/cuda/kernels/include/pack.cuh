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
