// quantize: y = saturate(round_half_even(x / scale) + zero point), NaN is 0; dequantize: y = (x - zero point) scale, rounded once.
// Scales and zero points lie over x as quantisation.cuh has it, each in a way of its own; a zero point is 0 where its address is.
//
// Launch: 256 threads, any number of blocks, 8 neighbours a thread; x and y on 16-byte boundaries. Quotients are those of float (double for
// double, and where x is i32, whose digits do not fit a float). Variants: TENON_T the scale's type, float, double, f16, bf16.
#include "quantisation.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int V = 8;

__device__ __forceinline__ A quotient(T x, A scale) { return to_compute(x) / scale; }
__device__ __forceinline__ A quotient(i32 x, A scale) { return static_cast<A>(static_cast<double>(x) / static_cast<double>(scale)); }

template <typename U, int W>
__device__ __forceinline__ void store_as(void* y, i64 at, const i32 (&v)[W]) {
    Pack<U, W> r;
#pragma unroll
    for (int i = 0; i < W; i++) r.at[i] = static_cast<U>(v[i]);
    *reinterpret_cast<Pack<U, W>*>(static_cast<U*>(y) + at) = r;
}

// W elements from `first` on.
template <typename X, int W>
__device__ __forceinline__ void quantize_some(const X* x, const T* scale, const void* zero, void* y, i32 to, const Scales& scales, const Scales& zeros, i64 first) {
    i32 least = to == TYPE_I8 ? -128 : to == TYPE_I16 ? -32768 : 0;
    i32 most = to == TYPE_I8 ? 127 : to == TYPE_I16 ? 32767 : to == TYPE_U8 ? 255 : 65535;
    Pack<X, W> v = *reinterpret_cast<const Pack<X, W>*>(x + first);
    ScalePlace place(first, scales);
    i32 r[W];
#pragma unroll
    for (int i = 0; i < W; i++) {
        i32 z = zero == nullptr ? 0 : static_cast<i32>(load_integer(to, zero, place.index(zeros.mode, scales)));
        r[i] = quantized(quotient(v.at[i], to_compute(scale[place.index(scales.mode, scales)])), z, least, most);
        place.next(scales);
    }
    if (to == TYPE_I8 || to == TYPE_U8) {
        store_as<u8, W>(y, first, r);
    } else {
        store_as<u16, W>(y, first, r);
    }
}

template <typename X>
__device__ __forceinline__ void quantize_all(const X* x, const T* scale, const void* zero, void* y, i32 to, i64 elements, const Scales& scales, const Scales& zeros) {
    i64 packs = elements / V;
    for (i64 pack = global_thread(); pack < packs; pack += global_threads()) quantize_some<X, V>(x, scale, zero, y, to, scales, zeros, pack * V);
    for (i64 one = packs * V + global_thread(); one < elements; one += global_threads()) quantize_some<X, 1>(x, scale, zero, y, to, scales, zeros, one);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(quantize)(const void* x, const T* scale, const void* zero, void* y, i32 integers, i32 to, i64 elements, i32 scale_mode, i32 zero_mode, i64 size, i64 inner, i64 block) {
    release_successor();
    await_predecessor();
    Scales scales = {scale_mode, scale_mode != SCALES_ONE || zero_mode != SCALES_ONE, size, inner, block};
    Scales zeros = scales;
    zeros.mode = zero_mode;
    if (integers) {
        quantize_all(static_cast<const i32*>(x), scale, zero, y, to, elements, scales, zeros);
    } else {
        quantize_all(static_cast<const T*>(x), scale, zero, y, to, elements, scales, zeros);
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
__device__ __forceinline__ void dequantize_some(const X* x, const T* scale, const X* zero, T* y, const Scales& scales, const Scales& zeros, i64 first) {
    Pack<X, W> v = *reinterpret_cast<const Pack<X, W>*>(x + first);
    ScalePlace place(first, scales);
    Pack<T, W> r;
#pragma unroll
    for (int i = 0; i < W; i++) {
        i64 z = zero == nullptr ? 0 : static_cast<i64>(zero[place.index(zeros.mode, scales)]);
        r.at[i] = dequantized(v.at[i], z, to_compute(scale[place.index(scales.mode, scales)]));
        place.next(scales);
    }
    *reinterpret_cast<Pack<T, W>*>(y + first) = r;
}

template <typename X>
__device__ __forceinline__ void dequantize_all(const void* from, const T* scale, const void* zero, T* y, i64 elements, const Scales& scales, const Scales& zeros) {
    const X* x = static_cast<const X*>(from);
    const X* z = static_cast<const X*>(zero);
    i64 packs = elements / V;
    for (i64 pack = global_thread(); pack < packs; pack += global_threads()) dequantize_some<X, V>(x, scale, z, y, scales, zeros, pack * V);
    for (i64 one = packs * V + global_thread(); one < elements; one += global_threads()) dequantize_some<X, 1>(x, scale, z, y, scales, zeros, one);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dequantize)(const void* x, const T* scale, const void* zero, T* y, i32 type, i64 elements, i32 scale_mode, i32 zero_mode, i64 size, i64 inner, i64 block) {
    release_successor();
    await_predecessor();
    Scales scales = {scale_mode, scale_mode != SCALES_ONE || zero_mode != SCALES_ONE, size, inner, block};
    Scales zeros = scales;
    zeros.mode = zero_mode;
    switch (type) {
        case TYPE_I8: dequantize_all<i8>(x, scale, zero, y, elements, scales, zeros); break;
        case TYPE_U8: dequantize_all<u8>(x, scale, zero, y, elements, scales, zeros); break;
        case TYPE_I16: dequantize_all<i16>(x, scale, zero, y, elements, scales, zeros); break;
        case TYPE_U16: dequantize_all<u16>(x, scale, zero, y, elements, scales, zeros); break;
        case TYPE_U32: dequantize_all<u32>(x, scale, zero, y, elements, scales, zeros); break;
        default: dequantize_all<i32>(x, scale, zero, y, elements, scales, zeros); break;
    }
}
TENON_ENTRY(dequantize)
