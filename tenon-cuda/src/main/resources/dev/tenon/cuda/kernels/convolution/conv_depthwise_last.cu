// y[b, v, u, c] = the epilogue of sum of w[c, i, j] x[b, v SH - top + i DH, u SW - left + j DW, c]: convolution of each channel by itself, channels
// innermost. Cells in padding are left out.
//
//   conv_depthwise_last                                windows, strides and dilations by the sizes; a thread one position
//   conv_depthwise_last_k3s1 _k3s2 _k5s1 _k5s2 _k7s1   K×K cells, strides S, dilations 1; a thread 2 positions of a row, which share cells of x
//   … _1                                               the same, a thread one position, where there are few
//
// Launch: 256 threads as lines of `lanes` threads, a thread 16 bytes of channels; grid (any number of blocks, parts of the channels at most 65535).
// Dynamic shared memory: the weights of a part in f32, turned so that lanes lie side by side, and 16 bytes more a cell, which spread cells over the
// banks. Few lanes a block, so that these weights are few, too.
// x [images, height, width, channels], w [channels, cells], y [images, rows, columns, channels]; channels are whole 16 bytes.
// Variants: TENON_T one of float, f16, bf16.
#include "conv.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int V = Widest<T>::value;
typedef Pack<T, V> Channels;

// Of a cell and lane.
struct alignas(16) Weights {
    A at[V];
};

constexpr int PAD = 16 / sizeof(A);

// Filled by DepthwiseLastConv.java.
struct DepthwiseLastSizes {
    i64 images;
    i64 channels;
    i64 height;
    i64 width;
    i64 rows;
    i64 columns;
    i64 top;
    i64 left;
    i64 high;  // cells of a window
    i64 wide;
    i64 down;  // strides
    i64 right;
    i64 apart_down;  // dilations
    i64 apart_right;
    i64 lanes;
};

// The results of R positions for V channels.
template <int R>
struct Sums {
    A at[R][V];

    __device__ __forceinline__ void store(T* y, const DepthwiseLastSizes& s, const ConvEpilogue<T>& epilogue, i64 place, int count, i64 pack) const {
#pragma unroll
        for (int t = 0; t < R; t++) {
            if (t >= count) break;
            i64 to = (place + t) * s.channels + pack * V;
            Channels out;
#pragma unroll
            for (int e = 0; e < V; e++) out.at[e] = From<T>::of(epilogue.of(at[t][e], pack * V + e, to + e));
            store_pack<T, V>(y + to, 0, out);
        }
    }
};

// K 0 stands for the windows of the sizes. A row's cells are all loaded before the first is used: what lies outside is not read, nor multiplied.
template <int K, int S, int R>
__device__ __forceinline__ Sums<R> sums_of(
    const Channels* x, const A* w, const DepthwiseLastSizes& s, i64 image, int row, int column, i64 packs) {
    Sums<R> sums = {};
    const int pitch = static_cast<int>(s.lanes) * V + PAD;
    const int high = K == 0 ? static_cast<int>(s.high) : K;
    const int wide = K == 0 ? static_cast<int>(s.wide) : K;
    const i64 first_line = row * (K == 0 ? s.down : S) - s.top;
    const i64 first = column * (K == 0 ? s.right : S) - s.left;
    constexpr int READ = K == 0 ? 1 : (R - 1) * S + K;
    bool inside[READ];
    if (K != 0) {
#pragma unroll
        for (int j = 0; j < READ; j++) inside[j] = first + j >= 0 && first + j < s.width;
    }
    constexpr int ROWS = K == 3 ? 3 : 1;  // unrolled: more would take more registers than there are
#pragma unroll ROWS
    for (int i = 0; i < high; i++) {
        i64 line = first_line + i * (K == 0 ? s.apart_down : 1);
        if (line < 0 || line >= s.height) continue;
        const Channels* cells = x + ((image * s.height + line) * s.width + first) * packs;
        if (K == 0) {
            for (int j = 0; j < wide; j++) {
                i64 at = j * s.apart_right;
                if (first + at < 0 || first + at >= s.width) continue;
                Channels v = cells[at * packs];
                Weights weight = *reinterpret_cast<const Weights*>(w + (i * wide + j) * pitch);
#pragma unroll
                for (int e = 0; e < V; e++) sums.at[0][e] += to_compute(v.at[e]) * weight.at[e];
            }
        } else {
            Channels v[READ];
#pragma unroll
            for (int j = 0; j < READ; j++) {
                if (inside[j]) v[j] = cells[j * packs];
            }
            Weights weights[K == 0 ? 1 : K];
#pragma unroll
            for (int j = 0; j < K; j++) weights[j] = *reinterpret_cast<const Weights*>(w + (i * K + j) * pitch);
#pragma unroll
            for (int j = 0; j < READ; j++) {
                if (!inside[j]) continue;
#pragma unroll
                for (int t = 0; t < R; t++) {
                    const int cell = j - t * S;
                    if (cell < 0 || cell >= K) continue;
#pragma unroll
                    for (int e = 0; e < V; e++) sums.at[t][e] += to_compute(v[j].at[e]) * weights[cell < 0 ? 0 : cell >= K ? 0 : cell].at[e];
                }
            }
        }
    }
    return sums;
}

template <int K, int S, int R>
__device__ __forceinline__ void convolve(const T* x, const T* w, T* y, const DepthwiseLastSizes& s, const ConvEpilogue<T>& epilogue) {
    TENON_DYNAMIC_SHARED(uint4, shared);
    release_successor();
    await_predecessor();
    const int lanes = static_cast<int>(s.lanes);
    const int lines = static_cast<int>(blockDim.x) / lanes;
    const int line = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) - line * lanes;
    const int cells = K == 0 ? static_cast<int>(s.high * s.wide) : K * K;
    const i64 packs = s.channels / V;
    const u32 across = static_cast<u32>((s.columns + R - 1) / R);
    const i64 each = across * s.rows;
    const i64 pieces = s.images * each;
    A* turned = reinterpret_cast<A*>(shared);
    for (i64 part = blockIdx.y; part * lanes < packs; part += gridDim.y) {
        const i64 pack = part * lanes + lane;
        const i64 left = packs - part * lanes;
        const int here = static_cast<int>(left < lanes ? left : lanes);
        const T* weights = w + part * lanes * V * cells;
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < here * V * cells; i += static_cast<int>(blockDim.x)) {
            int channel = i / cells;
            turned[(i - channel * cells) * (lanes * V + PAD) + channel] = to_compute(weights[i]);
        }
        __syncthreads();
        if (line >= lines || lane >= here) continue;
        const Channels* from = reinterpret_cast<const Channels*>(x) + pack;
        const A* mine = turned + lane * V;
        for (i64 piece = static_cast<i64>(blockIdx.x) * lines + line; piece < pieces; piece += static_cast<i64>(gridDim.x) * lines) {
            i64 image = piece / each;
            u32 rest = static_cast<u32>(piece - image * each);
            int row = static_cast<int>(rest / across);
            int column = static_cast<int>(rest - row * across) * R;
            Sums<R> sums = sums_of<K, S, R>(from, mine, s, image, row, column, packs);
            int count = static_cast<int>(s.columns - column < R ? s.columns - column : R);
            sums.store(y, s, epilogue, (image * s.rows + row) * s.columns + column, count, pack);
        }
    }
}

#define KERNEL(name, K, S, R)                                                                                                            \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                                                 \
        TENON_NAME(name)(const T* x, const T* w, const T* bias, const T* residual, T* y, DepthwiseLastSizes sizes, i32 fn, A p0, A p1) { \
        convolve<K, S, R>(x, w, y, sizes, {bias, residual, fn, p0, p1});                                                                 \
    }                                                                                                                                    \
    TENON_ENTRY(name)

KERNEL(conv_depthwise_last, 0, 1, 1)
KERNEL(conv_depthwise_last_k3s1, 3, 1, 2)
KERNEL(conv_depthwise_last_k3s2, 3, 2, 2)
KERNEL(conv_depthwise_last_k5s1, 5, 1, 2)
KERNEL(conv_depthwise_last_k5s2, 5, 2, 2)
KERNEL(conv_depthwise_last_k7s1, 7, 1, 2)
KERNEL(conv_depthwise_last_k3s1_1, 3, 1, 1)
KERNEL(conv_depthwise_last_k3s2_1, 3, 2, 1)
KERNEL(conv_depthwise_last_k5s1_1, 5, 1, 1)
KERNEL(conv_depthwise_last_k5s2_1, 5, 2, 1)
KERNEL(conv_depthwise_last_k7s1_1, 7, 1, 1)
