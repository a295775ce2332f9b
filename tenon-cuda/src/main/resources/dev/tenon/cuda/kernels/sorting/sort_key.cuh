// Elements as unsigned integers in the same order, from their bits: both zeros are one, all NaN are one and last. Kernels that only compare
// need a variant a width, not a type. The kinds are those of SortOrder.java.
#pragma once
#include "walk.cuh"

constexpr int ORDER_UNSIGNED = 0;
constexpr int ORDER_SIGNED = 1;
constexpr int ORDER_FLOAT = 2;

// A type's order: its kind, and of floats the bits of the largest number that is not NaN, without the sign.
struct Order {
    i64 kind;
    u64 largest;
};

template <int BYTES>
struct KeyOf {
    typedef u32 type;
};

template <>
struct KeyOf<8> {
    typedef u64 type;
};

// Of T, an unsigned integer as wide as the elements: the key, in KeyOf<sizeof(T)>, whose bits past the elements' are 0.
template <typename T>
__device__ __forceinline__ typename KeyOf<sizeof(T)>::type sort_key(Order order, T bits) {
    typedef typename KeyOf<sizeof(T)>::type K;
    constexpr K SIGN = static_cast<K>(1) << (8 * sizeof(T) - 1);
    constexpr K ALL = SIGN | (SIGN - 1);
    K v = bits;
    if (order.kind == ORDER_UNSIGNED) return v;
    if (order.kind == ORDER_SIGNED) return v ^ SIGN;
    K magnitude = v & (SIGN - 1);
    if (magnitude > static_cast<K>(order.largest)) return ALL;
    return (v & SIGN) != 0 && magnitude != 0 ? SIGN - 1 - magnitude : SIGN | magnitude;
}

// The same, the other way round.
template <typename T>
__device__ __forceinline__ typename KeyOf<sizeof(T)>::type sort_key(Order order, T bits, bool descending) {
    typedef typename KeyOf<sizeof(T)>::type K;
    constexpr K SIGN = static_cast<K>(1) << (8 * sizeof(T) - 1);
    K key = sort_key(order, bits);
    return descending ? (SIGN | (SIGN - 1)) - key : key;
}
