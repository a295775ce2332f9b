// quantize: y = saturate(round_half_even(x / scale) + zero point), NaN is 0; dequantize: y = (x - zero point) scale, rounded once.
// Scales and zero points lie over x as quantisation.cuh has it, each in a way of its own; a zero point is 0 where its address is.
//
// Launch: 256 threads, any number of blocks, 8 neighbours a thread (2 where i32 is quantised); x and y on 16-byte boundaries. Quotients are those of float (double for
// double, and where x is i32, whose digits do not fit a float). Variants: TENON_T the scale's type, float, double, f16, bf16.
#include "quantisation.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int V = 8;

template <typename X>
struct Neighbours {
    static constexpr int COUNT = V;
};
// a quotient of doubles is some 40 instructions
template <>
struct Neighbours<i32> {
    static constexpr int COUNT = 2;
};

__device__ __forceinline__ A quotient(T x, A scale) { return to_compute(x) / scale; }
__device__ __forceinline__ A quotient(i32 x, A scale) { return static_cast<A>(static_cast<double>(x) / static_cast<double>(scale)); }

template <typename X, typename Y, int W>
__device__ __forceinline__ void quantize_some(const X* x, const T* scale, const Y* zero, i32 there, Y* y, const Scales& scales, const ScaleSteps& by, const ScaleSteps& zeros, i64 first) {
    constexpr i32 LEAST = static_cast<Y>(-1) < 0 ? -(1 << (8 * sizeof(Y) - 1)) : 0;
    constexpr i32 MOST = LEAST + (1 << 8 * sizeof(Y)) - 1;
    Pack<X, W> v = *reinterpret_cast<const Pack<X, W>*>(x + first);
    ScalePlace place(first, scales);
    Pack<Y, W> r;
#pragma unroll
    for (int i = 0; i < W; i++) {
        i32 z = zero[place.index(zeros)] * there;
        r.at[i] = static_cast<Y>(quantized(quotient(v.at[i], to_compute(scale[place.index(by)])), z, LEAST, MOST));
        place.next(scales);
    }
    *reinterpret_cast<Pack<Y, W>*>(y + first) = r;
}

template <typename X, typename Y>
__device__ __forceinline__ void quantize_all(const X* x, const T* scale, const void* zero, void* to, i64 elements, const Scales& scales, const ScaleSteps& by, const ScaleSteps& zeros) {
    // no zero point: any readable address, times 0
    const Y* z = static_cast<const Y*>(zero == nullptr ? scale : zero);
    i32 there = zero != nullptr;
    Y* y = static_cast<Y*>(to);
    constexpr int W = Neighbours<X>::COUNT;
    i64 packs = elements / W;
    for (i64 pack = global_thread(); pack < packs; pack += global_threads()) quantize_some<X, Y, W>(x, scale, z, there, y, scales, by, zeros, pack * W);
    for (i64 one = packs * W + global_thread(); one < elements; one += global_threads()) quantize_some<X, Y, 1>(x, scale, z, there, y, scales, by, zeros, one);
}

template <typename X>
__device__ __forceinline__ void quantize_to(i32 type, const void* from, const T* scale, const void* zero, void* y, i64 elements, const Scales& scales, const ScaleSteps& by, const ScaleSteps& zeros) {
    const X* x = static_cast<const X*>(from);
    switch (type) {
        case TYPE_I8: quantize_all<X, i8>(x, scale, zero, y, elements, scales, by, zeros); break;
        case TYPE_U8: quantize_all<X, u8>(x, scale, zero, y, elements, scales, by, zeros); break;
        case TYPE_I16: quantize_all<X, i16>(x, scale, zero, y, elements, scales, by, zeros); break;
        default: quantize_all<X, u16>(x, scale, zero, y, elements, scales, by, zeros); break;
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(quantize)(const void* x, const T* scale, const void* zero, void* y, i32 integers, i32 to, i64 elements, i32 scale_mode, i32 zero_mode, i64 size, i64 inner, i64 block) {
    release_successor();
    await_predecessor();
    Scales scales = {scale_mode != SCALES_ONE || zero_mode != SCALES_ONE, size, inner, block};
    ScaleSteps by(scale_mode), zeros(zero_mode);
    if (integers) {
        quantize_to<i32>(to, x, scale, zero, y, elements, scales, by, zeros);
    } else {
        quantize_to<T>(to, x, scale, zero, y, elements, scales, by, zeros);
    }
}
TENON_ENTRY(quantize)

// Of 8-bit numbers, and of 16-bit ones for float, the difference and the product's digits fit A or are rounded once by it.
template <typename X>
__device__ __forceinline__ T dequantized(X x, i64 zero, A scale) {
    if (sizeof(X) == 1 || (sizeof(X) == 2 && sizeof(T) == 4)) return narrowed<T>(static_cast<A>(static_cast<i32>(x) - static_cast<i32>(zero)) * scale);
    return narrowed<T>(static_cast<double>(static_cast<i64>(x) - zero) * static_cast<double>(scale));
}

template <typename X, int W>
__device__ __forceinline__ void dequantize_some(const X* x, const T* scale, const X* zero, T* y, const Scales& scales, const ScaleSteps& by, const ScaleSteps& zeros, i64 first) {
    Pack<X, W> v = *reinterpret_cast<const Pack<X, W>*>(x + first);
    ScalePlace place(first, scales);
    Pack<T, W> r;
#pragma unroll
    for (int i = 0; i < W; i++) {
        i64 z = zero == nullptr ? 0 : static_cast<i64>(zero[place.index(zeros)]);
        r.at[i] = dequantized(v.at[i], z, to_compute(scale[place.index(by)]));
        place.next(scales);
    }
    *reinterpret_cast<Pack<T, W>*>(y + first) = r;
}

template <typename X>
__device__ __forceinline__ void dequantize_all(const void* from, const T* scale, const void* zero, T* y, i64 elements, const Scales& scales, const ScaleSteps& by, const ScaleSteps& zeros) {
    const X* x = static_cast<const X*>(from);
    const X* z = static_cast<const X*>(zero);
    i64 packs = elements / V;
    for (i64 pack = global_thread(); pack < packs; pack += global_threads()) dequantize_some<X, V>(x, scale, z, y, scales, by, zeros, pack * V);
    for (i64 one = packs * V + global_thread(); one < elements; one += global_threads()) dequantize_some<X, 1>(x, scale, z, y, scales, by, zeros, one);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dequantize)(const void* x, const T* scale, const void* zero, T* y, i32 type, i64 elements, i32 scale_mode, i32 zero_mode, i64 size, i64 inner, i64 block) {
    release_successor();
    await_predecessor();
    Scales scales = {scale_mode != SCALES_ONE || zero_mode != SCALES_ONE, size, inner, block};
    ScaleSteps by(scale_mode), zeros(zero_mode);
    switch (type) {
        case TYPE_I8: dequantize_all<i8>(x, scale, zero, y, elements, scales, by, zeros); break;
        case TYPE_U8: dequantize_all<u8>(x, scale, zero, y, elements, scales, by, zeros); break;
        case TYPE_I16: dequantize_all<i16>(x, scale, zero, y, elements, scales, by, zeros); break;
        case TYPE_U16: dequantize_all<u16>(x, scale, zero, y, elements, scales, by, zeros); break;
        case TYPE_U32: dequantize_all<u32>(x, scale, zero, y, elements, scales, by, zeros); break;
        default: dequantize_all<i32>(x, scale, zero, y, elements, scales, by, zeros); break;
    }
}
TENON_ENTRY(dequantize)
