// y[o, c] = the sum, mean, maximum or minimum of x[o, j, c] over j: reductions of a middle dim whose results are few, such as means over the
// positions of an image whose channels lie innermost.
//
//   reduce_middle   lanes side by side take 16 bytes of c each; the lines of a block take every lines-th j and meet in a fixed order
//
// Launch: 256 threads, lanes a power of two up to 32; grid (outer, parts of c at most 65535). 8 KiB of static shared memory. Rows of c are whole
// 16 bytes. A NaN is the maximum and the minimum. Sums in f32, of a line in blocks of 4. Variants: TENON_T one of float, f16, bf16.
#include "binary_fn.cuh"
#include "pack.cuh"

typedef TENON_T T;

constexpr int V = Widest<T>::value;
typedef Pack<T, V> Columns;
constexpr int THREADS = 256;
constexpr int BLOCK = 4;  // loads in flight

constexpr int MIDDLE_SUM = 0;
constexpr int MIDDLE_MEAN = 1;
constexpr int MIDDLE_MAX = 2;

template <int FN>
__device__ __forceinline__ float fold(float a, float b) {
    return FN == MIDDLE_SUM ? a + b : FN == MIDDLE_MAX ? greatest(a, b) : least(a, b);
}

// FN is that of a sum for a mean too.
template <int FN>
__device__ __forceinline__ void reduce(const T* x, T* y, i64 outer, i64 count, i64 packs, int lanes, bool mean, float* shared) {
    const float none = FN == MIDDLE_SUM ? 0.0f : FN == MIDDLE_MAX ? -TENON_INFINITY : TENON_INFINITY;
    const int lines = THREADS / lanes;
    const int line = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    for (i64 o = blockIdx.x; o < outer; o += gridDim.x) {
        for (i64 first = blockIdx.y; first * lanes < packs; first += gridDim.y) {
            const i64 pack = first * lanes + lane;
            float values[V];
#pragma unroll
            for (int e = 0; e < V; e++) values[e] = none;
            if (pack < packs) {
                const Columns* from = reinterpret_cast<const Columns*>(x) + o * count * packs + pack;
                i64 j = line;
                for (; j + (BLOCK - 1) * lines < count; j += BLOCK * lines) {
                    Columns v[BLOCK];
#pragma unroll
                    for (int k = 0; k < BLOCK; k++) v[k] = from[(j + k * lines) * packs];
#pragma unroll
                    for (int e = 0; e < V; e++) {
                        float block = to_compute(v[0].at[e]);
#pragma unroll
                        for (int k = 1; k < BLOCK; k++) block = fold<FN>(block, to_compute(v[k].at[e]));
                        values[e] = fold<FN>(values[e], block);
                    }
                }
                for (; j < count; j += lines) {
                    Columns v = from[j * packs];
#pragma unroll
                    for (int e = 0; e < V; e++) values[e] = fold<FN>(values[e], to_compute(v.at[e]));
                }
            }
            float* mine = shared + threadIdx.x;
#pragma unroll
            for (int e = 0; e < V; e++) mine[e * THREADS] = values[e];
            for (int half = lines / 2; half > 0; half /= 2) {
                __syncthreads();
                if (line < half) {
#pragma unroll
                    for (int e = 0; e < V; e++) mine[e * THREADS] = fold<FN>(mine[e * THREADS], mine[e * THREADS + half * lanes]);
                }
            }
            if (line == 0 && pack < packs) {
                Columns out;
#pragma unroll
                for (int e = 0; e < V; e++) {
                    out.at[e] = From<T>::of(mean ? mine[e * THREADS] / static_cast<float>(count) : mine[e * THREADS]);
                }
                store_pack<T, V>(y, o * packs + pack, out);
            }
            __syncthreads();
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    TENON_NAME(reduce_middle)(const T* x, T* y, i64 outer, i64 count, i64 packs, i32 lanes, i32 fn) {
    __shared__ float shared[THREADS * V];
    release_successor();
    await_predecessor();
    if (fn <= MIDDLE_MEAN) {
        reduce<MIDDLE_SUM>(x, y, outer, count, packs, lanes, fn == MIDDLE_MEAN, shared);
    } else if (fn == MIDDLE_MAX) {
        reduce<MIDDLE_MAX>(x, y, outer, count, packs, lanes, false, shared);
    } else {
        reduce<MIDDLE_MAX + 1>(x, y, outer, count, packs, lanes, false, shared);
    }
}
TENON_ENTRY(reduce_middle)
