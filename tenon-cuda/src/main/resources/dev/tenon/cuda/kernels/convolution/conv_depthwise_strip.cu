// y[b, v, u, c] = the epilogue of sum of w[c, i, j] x[b, v S - top + i, u S - left + j, c] over K×K cells: convolution of each channel by
// itself, channels innermost, dilations 1. Cells in padding count as zeros: the weights are finite constants.
//
//   conv_depthwise_strip_k7s1 _k5s1 _k5s2 _k3s1 _k3s2   K×K cells, strides S
//
// Launch: 32 · lines threads, lines at most 8: a thread makes a strip of 7 positions of one row for 2 channels, a block `lines` rows of two
// strips of 32 channels. Grid (any number of blocks, parts of 32 channels at most 65535).
// Dynamic shared memory: the weights of the part as they lie, whose K² words (two each of f32) a lane spread lanes over the banks; then the
// ((lines - 1) S + K) rows of 13 S + K cells that the block reads, which are all fetched at once.
// x [images, height, width, channels], w [channels, K²], y [images, rows, columns, channels]; channels are whole 16 bytes.
// Variants: TENON_T one of float, f16, bf16.
#include "conv.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
typedef Pack<T, 2> Pair;

constexpr int R = 7;  // positions of a strip
constexpr int STRIPS = 2;
constexpr int LANES = 16;
constexpr int CHANNELS = 2 * LANES;                // of a part
constexpr int CHUNK = 16 / sizeof(T);              // channels
constexpr int CHUNKS = CHANNELS / CHUNK;           // of a cell

// Filled by DepthwiseStripConv.java.
struct DepthwiseStripSizes {
    i64 images;
    i64 channels;
    i64 height;
    i64 width;
    i64 rows;
    i64 columns;
    i64 top;
    i64 left;
    i64 lines;
};

// The cells that a block reads, in shared memory.
template <int K, int S>
struct Tile {
    static constexpr int WIDE = (STRIPS * R - 1) * S + K;
    static constexpr int READ = (R - 1) * S + K;

    // Asks for the cells from (line, column) of an image on; zeros outside of it.
    static __device__ __forceinline__ void fetch(T* tile, const T* x, const DepthwiseStripSizes& s, i64 image, i64 line, i64 column, int chunks) {
        const int high = (static_cast<int>(s.lines) - 1) * S + K;
        for (int i = threadIdx.x; i < high * WIDE * CHUNKS; i += static_cast<int>(blockDim.x)) {
            const int cell = i / CHUNKS;
            const int chunk = i - cell * CHUNKS;
            if (chunk >= chunks) continue;
            const int down = cell / WIDE;
            const i64 v = line + down;
            const i64 u = column + (cell - down * WIDE);
            const bool there = v >= 0 && v < s.height && u >= 0 && u < s.width;
            const T* from = x + (there ? ((image * s.height + v) * s.width + u) * s.channels : 0) + chunk * CHUNK;
            copy_async_16_if(tile + cell * CHANNELS + chunk * CHUNK, from, there);
        }
    }

    // Adds the products of a strip, whose first cell and weights are given.
    static __device__ __forceinline__ void add(A (&sums)[R][2], const T* cells, const T* w, i64 line, i64 height) {
#pragma unroll
        for (int i = 0; i < K; i++) {
            if (line + i >= 0 && line + i < height) {
                Pair v[READ];
#pragma unroll
                for (int j = 0; j < READ; j++) v[j] = *reinterpret_cast<const Pair*>(cells + (i * WIDE + j) * CHANNELS);
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    A weights[K], cell[READ];
#pragma unroll
                    for (int j = 0; j < K; j++) weights[j] = to_compute(w[e * K * K + i * K + j]);
#pragma unroll
                    for (int j = 0; j < READ; j++) cell[j] = to_compute(v[j].at[e]);
#pragma unroll
                    for (int t = 0; t < R; t++) {
#pragma unroll
                        for (int j = 0; j < K; j++) sums[t][e] += cell[t * S + j] * weights[j];
                    }
                }
            }
        }
    }
};

template <int K, int S>
__device__ __forceinline__ void convolve(const T* x, const T* w, T* y, const DepthwiseStripSizes& s, const ConvEpilogue<T>& epilogue) {
    TENON_DYNAMIC_SHARED(uint4, shared);
    typedef Tile<K, S> Cells;
    T* tile = reinterpret_cast<T*>(shared) + CHANNELS * K * K;
    const int lane = static_cast<int>(threadIdx.x) % LANES;
    const int strip = static_cast<int>(threadIdx.x) / LANES % STRIPS;
    const int line = static_cast<int>(threadIdx.x) / (LANES * STRIPS);
    const i64 across = (s.columns + STRIPS * R - 1) / (STRIPS * R);
    const i64 tiles = (s.rows + s.lines - 1) / s.lines;
    const i64 pieces = s.images * tiles * across;
    release_successor();
    for (i64 part = blockIdx.y; part * CHANNELS < s.channels; part += gridDim.y) {
        const i64 left = s.channels - part * CHANNELS;
        const int here = static_cast<int>(left < CHANNELS ? left : CHANNELS);
        const uint4* weights = reinterpret_cast<const uint4*>(w + part * CHANNELS * K * K);
        __syncthreads();
        for (int i = threadIdx.x; i < here / CHUNK * K * K; i += static_cast<int>(blockDim.x)) {
            copy_async_16(shared + i, weights + i);  // constants: before the predecessor has ended
        }
        await_predecessor();
        for (i64 piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
            const i64 image = piece / (tiles * across);
            const i64 rest = piece - image * tiles * across;
            const i64 row = rest / across * s.lines;
            const i64 column = (rest - rest / across * across) * STRIPS * R;
            Cells::fetch(tile, x + part * CHANNELS, s, image, row * S - s.top, column * S - s.left, here / CHUNK);
            copy_async_commit();
            copy_async_wait<0>();
            __syncthreads();
            const i64 first = column + strip * R;
            if (lane * 2 < here && row + line < s.rows && first < s.columns) {
                A sums[R][2] = {};
                const T* cells = tile + (line * S * Cells::WIDE + strip * R * S) * CHANNELS + lane * 2;
                Cells::add(sums, cells, reinterpret_cast<const T*>(shared) + lane * 2 * K * K, (row + line) * S - s.top, s.height);
                const i64 channel = part * CHANNELS + lane * 2;
#pragma unroll
                for (int t = 0; t < R; t++) {
                    if (first + t >= s.columns) break;
                    const i64 to = ((image * s.rows + row + line) * s.columns + first + t) * s.channels + channel;
                    Pair out;
#pragma unroll
                    for (int e = 0; e < 2; e++) out.at[e] = From<T>::of(epilogue.of(sums[t][e], channel + e, to + e));
                    store_pack<T, 2>(y + to, 0, out);
                }
            }
            __syncthreads();
        }
    }
}

#define KERNEL(name, K, S)                                                                                                                \
    extern "C" __global__ void __launch_bounds__(256, 3)                                                                                  \
        TENON_NAME(name)(const T* x, const T* w, const T* bias, const T* residual, T* y, DepthwiseStripSizes sizes, i32 fn, A p0, A p1) { \
        convolve<K, S>(x, w, y, sizes, {bias, residual, fn, p0, p1});                                                                     \
    }                                                                                                                                     \
    TENON_ENTRY(name)

KERNEL(conv_depthwise_strip_k7s1, 7, 1)
KERNEL(conv_depthwise_strip_k5s1, 5, 1)
KERNEL(conv_depthwise_strip_k5s2, 5, 2)
KERNEL(conv_depthwise_strip_k3s1, 3, 1)
KERNEL(conv_depthwise_strip_k3s2, 3, 2)
