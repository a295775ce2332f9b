// y = x as u8 by the range of x, 0 included: scale = (max - min) / 255 (1 where that is 0), zero = saturate(round(-min / scale)),
// y = saturate(round(x / scale) + zero). A NaN in x makes scale NaN and all else 0.
//
// dynamic_quantize_range: 256 threads, a block a part of x; lowest and highest of each to bounds [parts][2].
// dynamic_quantize: 256 threads, any number of blocks, which fold all parts each; without parts, one block that looks at x itself.
// x and y on 16-byte boundaries, 8 neighbours a thread. Variants: TENON_T float.
#include "quantisation.cuh"

typedef TENON_T T;
constexpr int THREADS = 256;
constexpr int V = 8;

struct Bounds {
    float low, high;
};

// The lesser and the greater, a NaN before all.
__device__ __forceinline__ float lower(float a, float b) { return a != a ? a : b < a || b != b ? b : a; }
__device__ __forceinline__ float higher(float a, float b) { return a != a ? a : b > a || b != b ? b : a; }
__device__ __forceinline__ Bounds widened(Bounds b, float v) { return {lower(b.low, v), higher(b.high, v)}; }

// What all threads of the block have seen, for all of them.
__device__ __forceinline__ Bounds met(Bounds b, Bounds* slots) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        b.low = lower(b.low, __shfl_xor_sync(0xffffffffu, b.low, lanes));
        b.high = higher(b.high, __shfl_xor_sync(0xffffffffu, b.high, lanes));
    }
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = b;
    __syncthreads();
    for (int warp = 0; warp < THREADS / 32; warp++) {
        b.low = lower(b.low, slots[warp].low);
        b.high = higher(b.high, slots[warp].high);
    }
    return b;
}

__device__ __forceinline__ Bounds seen(const T* x, i64 elements, i64 thread, i64 threads) {
    Bounds b = {0, 0};
    i64 packs = elements / V;
    for (i64 pack = thread; pack < packs; pack += threads) {
        Pack<T, V> v = load_pack<T, V>(x, pack);
#pragma unroll
        for (int i = 0; i < V; i++) b = widened(b, v.at[i]);
    }
    for (i64 one = packs * V + thread; one < elements; one += threads) b = widened(b, x[one]);
    return b;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dynamic_quantize_range)(const T* x, float* bounds, i64 elements) {
    __shared__ Bounds slots[THREADS / 32];
    release_successor();
    await_predecessor();
    Bounds b = met(seen(x, elements, global_thread(), global_threads()), slots);
    if (threadIdx.x == 0) {
        bounds[2 * blockIdx.x] = b.low;
        bounds[2 * blockIdx.x + 1] = b.high;
    }
}
TENON_ENTRY(dynamic_quantize_range)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dynamic_quantize)(const T* x, u8* y, T* scale, u8* zero, const float* bounds, i32 parts, i64 elements) {
    __shared__ Bounds slots[THREADS / 32];
    release_successor();
    await_predecessor();
    Bounds b = {0, 0};
    if (parts == 0) b = seen(x, elements, threadIdx.x, THREADS);
    for (int part = threadIdx.x; part < parts; part += THREADS) {
        b = widened(b, bounds[2 * part]);
        b = widened(b, bounds[2 * part + 1]);
    }
    b = met(b, slots);
    float range = b.high - b.low;
    float step = range == 0 ? 1.0f : range / 255.0f;
    i32 middle = quantized(-b.low / step, 0, 0, 255);
    if (global_thread() == 0) {
        *scale = step;
        *zero = static_cast<u8>(middle);
    }
    i64 packs = elements / V;
    for (i64 pack = global_thread(); pack < packs; pack += global_threads()) {
        Pack<T, V> v = load_pack<T, V>(x, pack);
        Pack<u8, V> r;
#pragma unroll
        for (int i = 0; i < V; i++) r.at[i] = static_cast<u8>(quantized(v.at[i] / step, middle, 0, 255));
        store_pack<u8, V>(y, pack, r);
    }
    for (i64 one = packs * V + global_thread(); one < elements; one += global_threads()) y[one] = static_cast<u8>(quantized(x[one] / step, middle, 0, 255));
}
TENON_ENTRY(dynamic_quantize)
