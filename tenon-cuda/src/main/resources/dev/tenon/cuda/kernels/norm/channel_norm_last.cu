// y = (x - mean) / sqrt(variance + epsilon) · scale + bias for each group of channels of each image, channels innermost: x and y
// [images, count, channels], channels in whole packs of 16 bytes; scale and bias [channels] may be null. InstanceNorm has a group a channel.
// Differences are from the middle one of three of the group's elements (its pivot), so a large mean cancels nothing, one element far away does not
// either, and equal elements give the bias exactly.
//
//   channel_norm_sums    sums [images, parts, 2, channels] of the differences of a part of the positions, and of their squares
//   channel_norm_scales  shifts [images, groups, 2]: the mean of a group's differences, and the factor
//   channel_norm_apply   y
//
// Launch: 256 threads. sums: grid (parts, parts of `lanes` packs, images), as lines of `lanes` threads, a power of 2 up to 8; static shared memory.
// scales: any number of blocks, one a group of an image. apply: any number of blocks.
// Variants: TENON_T one of float, f16, bf16. Sums in a fixed order.
#include "norm_rules.cuh"

typedef TENON_T T;
constexpr int V = Widest<T>::value;
constexpr int THREADS = 256;
typedef Pack<T, V> Channels;

// Of the group that begins with a channel of an image.
__device__ __forceinline__ float pivot_of(const T* image, i64 count, i64 channels, i64 channel) {
    float a = to_compute(image[channel]);
    float b = to_compute(image[count / 2 * channels + channel]);
    float c = to_compute(image[(count - 1) * channels + channel]);
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    TENON_NAME(channel_norm_sums)(const T* x, float* sums, i64 images, i64 count, i64 channels, i64 each, i64 group, i32 lanes) {
    __shared__ float shared[2 * V * THREADS];
    release_successor();
    await_predecessor();
    const i64 packs = channels / V;
    const int lines = THREADS / lanes;
    const int line = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const i64 from = static_cast<i64>(blockIdx.x) * each;
    const i64 end = from + each < count ? from + each : count;
    float* mine = shared + threadIdx.x;
    for (i64 image = blockIdx.z; image < images; image += gridDim.z) {
        for (i64 first = static_cast<i64>(blockIdx.y) * lanes; first < packs; first += static_cast<i64>(gridDim.y) * lanes) {
            const i64 pack = first + lane;
            float sum[V] = {}, squares[V] = {};
            if (pack < packs) {
                const T* start = x + image * count * channels;
                float pivots[V];
#pragma unroll
                for (int e = 0; e < V; e++) pivots[e] = pivot_of(start, count, channels, (pack * V + e) / group * group);
#pragma unroll 4
                for (i64 at = from + line; at < end; at += lines) {
                    Channels v = load_pack<T, V>(start, at * packs + pack);
#pragma unroll
                    for (int e = 0; e < V; e++) {
                        float off = to_compute(v.at[e]) - pivots[e];
                        sum[e] += off;
                        squares[e] += off * off;
                    }
                }
            }
            __syncthreads();
#pragma unroll
            for (int e = 0; e < V; e++) {
                mine[e * THREADS] = sum[e];
                mine[(V + e) * THREADS] = squares[e];
            }
            for (int half = lines / 2; half > 0; half /= 2) {
                __syncthreads();
                if (line < half) {
#pragma unroll
                    for (int e = 0; e < 2 * V; e++) mine[e * THREADS] += mine[e * THREADS + half * lanes];
                }
            }
            if (line == 0 && pack < packs) {
                float* to = sums + (image * gridDim.x + blockIdx.x) * 2 * channels + pack * V;
#pragma unroll
                for (int e = 0; e < V; e++) {
                    to[e] = mine[e * THREADS];
                    to[channels + e] = mine[(V + e) * THREADS];
                }
            }
        }
    }
}
TENON_ENTRY(channel_norm_sums)

extern "C" __global__ void __launch_bounds__(THREADS)
    TENON_NAME(channel_norm_scales)(const float* sums, float* shifts, i64 images, i64 count, i64 channels, i64 parts, i64 group, float epsilon) {
    __shared__ float shared[2][THREADS / 32];
    release_successor();
    await_predecessor();
    const i64 groups = channels / group;
    for (i64 one = blockIdx.x; one < images * groups; one += gridDim.x) {
        const i64 image = one / groups;
        const float* from = sums + image * parts * 2 * channels + (one - image * groups) * group;
        float sum = 0, squares = 0;
        for (i64 i = threadIdx.x; i < parts * group; i += THREADS) {
            const i64 part = i / group;
            const float* at = from + part * 2 * channels + (i - part * group);
            sum += at[0];
            squares += at[channels];
        }
        sum = sum_over_warp(sum);
        squares = sum_over_warp(squares);
        __syncthreads();
        if (threadIdx.x % 32 == 0) {
            shared[0][threadIdx.x / 32] = sum;
            shared[1][threadIdx.x / 32] = squares;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            sum = squares = 0;
#pragma unroll
            for (int i = 0; i < THREADS / 32; i++) {
                sum += shared[0][i];
                squares += shared[1][i];
            }
            const float elements = static_cast<float>(count * group);
            const float shift = sum / elements;
            shifts[one * 2] = shift;
            shifts[one * 2 + 1] = reciprocal_root(LayerNormRule<float>::about_rest(squares, sum, shift) / elements + epsilon);
        }
    }
}
TENON_ENTRY(channel_norm_scales)

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(channel_norm_apply)(
    const T* x, const T* scale, const T* bias, const float* shifts, T* y, i64 images, i64 count, i64 channels, i64 group) {
    release_successor();
    await_predecessor();
    const i64 packs = channels / V;
    const i64 groups = channels / group;
    const i64 step = static_cast<i64>(gridDim.x) * THREADS;
    for (i64 at = static_cast<i64>(blockIdx.x) * THREADS + threadIdx.x; at < images * count * packs; at += step) {
        const i64 place = at / packs;
        const i64 first = (at - place * packs) * V;
        const i64 image = place / count;
        const T* start = x + image * count * channels;
        const Channels v = load_pack<T, V>(x, at);
        Channels out;
#pragma unroll
        for (int e = 0; e < V; e++) {
            const i64 number = (first + e) / group;
            const float* shift = shifts + (image * groups + number) * 2;
            float r = (to_compute(v.at[e]) - pivot_of(start, count, channels, number * group) - shift[0]) * shift[1];
            if (scale) r = r * to_compute(scale[first + e]) + to_compute(bias[first + e]);
            out.at[e] = From<T>::of(r);
        }
        store_pack<T, V>(y, at, out);
    }
}
TENON_ENTRY(channel_norm_apply)
