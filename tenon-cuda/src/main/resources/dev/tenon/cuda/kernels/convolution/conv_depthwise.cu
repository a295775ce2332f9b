// y[p, v, u] = residual + fn(bias[c] + sum of w[c, i, j] x[p, v S - top + i, u S - left + j]) for planes p of channel c = p mod channels:
// convolution of each channel by itself, windows of K×K cells, strides S. Cells in padding are left out.
//
//   conv_depthwise_k3s1 conv_depthwise_k3s2 conv_depthwise_k5s1 conv_depthwise_k5s2   K and S
//
// Launch: 256 threads, any number of blocks; a thread 4 results of a row, so that it reads a cell of x once for those that share it. No shared
// memory. x [planes, height, width], w [channels, K, K], y [planes, rows, columns]. Variants: TENON_T one of float, double, f16, bf16.
#include "conv.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

// Filled by DepthwiseConv.java.
struct DepthwiseSizes {
    i64 planes;
    i64 channels;
    i64 height;
    i64 width;
    i64 rows;
    i64 columns;
    i64 top;
    i64 left;
};

constexpr int TOGETHER = 4;

template <int K, int S>
__device__ __forceinline__ void convolve(const T* x, const T* w, T* y, const DepthwiseSizes& s, const ConvEpilogue<T>& epilogue) {
    constexpr int READ = (TOGETHER - 1) * S + K;
    release_successor();
    await_predecessor();
    u32 across = static_cast<u32>((s.columns + TOGETHER - 1) / TOGETHER);
    i64 each = across * s.rows;
    for (i64 piece = global_thread(); piece < s.planes * each; piece += global_threads()) {
        i64 plane = piece / each;
        u32 rest = static_cast<u32>(piece - plane * each);
        int row = static_cast<int>(rest / across);
        int column = static_cast<int>(rest - row * across) * TOGETHER;
        i64 channel = plane % s.channels;
        const T* weights = w + channel * (K * K);
        const T* from = x + plane * s.height * s.width;
        int first = column * S - static_cast<int>(s.left);
        A sums[TOGETHER] = {};
#pragma unroll
        for (int i = 0; i < K; i++) {
            int line = row * S - static_cast<int>(s.top) + i;
            if (line < 0 || line >= s.height) continue;
            const T* cells = from + line * s.width + first;
            A v[READ];
            bool inside[READ];
#pragma unroll
            for (int j = 0; j < READ; j++) {
                inside[j] = first + j >= 0 && first + j < s.width;
                v[j] = inside[j] ? to_compute(cells[j]) : A(0);
            }
#pragma unroll
            for (int j = 0; j < K; j++) {
                A weight = to_compute(weights[i * K + j]);
#pragma unroll
                for (int t = 0; t < TOGETHER; t++) {
                    if (inside[t * S + j]) sums[t] += weight * v[t * S + j];
                }
            }
        }
        i64 to = (plane * s.rows + row) * s.columns + column;
#pragma unroll
        for (int t = 0; t < TOGETHER; t++) {
            if (column + t < s.columns) y[to + t] = From<T>::of(epilogue.of(sums[t], channel, to + t));
        }
    }
}

#define KERNEL(name, K, S)                                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                                                                   \
        TENON_NAME(name)(const T* x, const T* w, const T* bias, const T* residual, T* y, DepthwiseSizes sizes, i32 fn, A p0, A p1) {    \
        convolve<K, S>(x, w, y, sizes, {bias, residual, fn, p0, p1});                                                                   \
    }                                                                                                                                   \
    TENON_ENTRY(name)

KERNEL(conv_depthwise_k3s1, 3, 1)
KERNEL(conv_depthwise_k3s2, 3, 2)
KERNEL(conv_depthwise_k5s1, 5, 1)
KERNEL(conv_depthwise_k5s2, 5, 2)
