// y[b, v, u, o] = the epilogue of sum of w[o, i, j, c] x[b, v S - before + i D, u S - before + j D, c]: convolution of 1 to 4 channels in one
// group, with channels innermost or not. Plain multiplications in f32, so that f32 stays exact. Cells in padding count as zeros: weights are
// finite, or windows meet no padding.
//
//   conv_few_channels_8 _4   8 or 4 positions of 8 output channels per thread
//
// Launch: up to 128 threads; grid (tiles of positions, parts of 8 shares output channels at most 65535). A tile is 2^columns positions wide;
// neighbouring lanes take the output channels of a position, and each group of lanes every (threads / shares)-th position of the tile.
// Dynamic shared memory, in floats: the weights of the part, [cells, channels, 8 shares]; then the cells that the tile reads, [line, column mod
// S, column / S, channel], so that neighbouring positions read neighbouring cells at any stride.
// x, w and y lie by the strides they are given; outputs is a multiple of 8. y and residual [.., o] begin on 16-byte boundaries where channels
// are innermost. bias [o]; bias and residual may be null.
// Variants: TENON_T one of float, f16, bf16.
#include "few_channels.cuh"

typedef TENON_T T;

constexpr int THREADS = 128;
constexpr int AT_ONCE = 12;  // lines that a thread asks for together

// What a block makes, and how the cells that it reads lie in shared memory.
struct Tile : PositionTile {
    int rest;  // floats from one remainder of columns by the stride to the next
    int line;

    static __device__ __forceinline__ Tile of(const FewChannelsSizes& s) {
        Tile tile;
        tile.begin(s, static_cast<int>(blockIdx.x), [](int a, int b) { return a / b; });
        const int stride = static_cast<int>(s.stride[1]);
        tile.rest = (tile.wide + stride - 1) / stride * static_cast<int>(s.channels);
        tile.line = stride * tile.rest;
        return tile;
    }

    // Brings the cells into shared memory; zeros for those outside of x. Neighbouring threads read neighbouring elements, and walk over lines.
    __device__ __forceinline__ void fetch(float* cells, const T* x, const FewChannelsSizes& s) const {
        const int channels = static_cast<int>(s.channels);
        const int stride = static_cast<int>(s.stride[1]);
        const int height = static_cast<int>(s.input[0]);
        const int width = static_cast<int>(s.input[1]);
        const int top = this->top(s);
        const int left = this->left(s);
        const int elements = wide * channels;
        const int threads = static_cast<int>(blockDim.x);
        const int together = (elements + 31) / 32 * 32 < threads ? (elements + 31) / 32 * 32 : threads;
        const int groups = threads / together;
        const int group = static_cast<int>(threadIdx.x) / together;
        if (group >= groups) return;
        const T* const from = x + image * s.x_image;
        const i64 step = width * s.x_place;
        for (int e = static_cast<int>(threadIdx.x) - group * together; e < elements; e += together) {
            const int u = s.x_channel == 1 ? e / channels : e % wide;
            const int c = s.x_channel == 1 ? e - u * channels : e / wide;
            const bool inside = static_cast<u32>(left + u) < static_cast<u32>(width);
            const T* const at = from + (left + u) * s.x_place + c * s.x_channel;
            float* const to = cells + u % stride * rest + u / stride * channels + c;
            for (int first = group; first < high; first += AT_ONCE * groups) {
                float v[AT_ONCE];
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++) {
                    const int l = first + k * groups;
                    const bool there = inside && l < high && static_cast<u32>(top + l) < static_cast<u32>(height);
                    v[k] = there ? to_compute(at[(top + l) * step]) : 0.0f;
                }
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++) {
                    if (first + k * groups < high) to[(first + k * groups) * line] = v[k];
                }
            }
        }
    }
};

// Brings the weights of output channels from `output0` on into shared memory, those of a cell and channel side by side.
__device__ __forceinline__ void fetch_weights(float* to, const T* w, const FewChannelsSizes& s, int output0) {
    const int channels = static_cast<int>(s.channels);
    const int depth = static_cast<int>(s.kernel[0] * s.kernel[1]) * channels;
    const int side = OUTPUTS * static_cast<int>(s.shares);
    const int o = static_cast<int>(threadIdx.x) % side;
    const bool there = output0 + o < s.outputs;
    const T* const from = w + (output0 + o) * s.w_output;
#pragma unroll 4
    for (int k = static_cast<int>(threadIdx.x) / side; k < depth; k += static_cast<int>(blockDim.x) / side) {
        const int cell = k / channels;
        to[k * side + o] = there ? to_compute(from[cell * s.w_cell + (k - cell * channels) * s.w_channel]) : 0.0f;
    }
}

// Where a thread's positions lie: each is as far from the one before.
struct Walk {
    int row;  // of the tile
    int column;
    int down;  // to the next
    int aside;

    static __device__ __forceinline__ Walk of(const FewChannelsSizes& s) {
        const int lanes = static_cast<int>(s.shares);
        const int number = static_cast<int>(threadIdx.x) / lanes;
        const int step = static_cast<int>(blockDim.x) / lanes;
        Walk walk;
        walk.row = number >> s.columns;
        walk.column = number & ((1 << s.columns) - 1);
        walk.down = step >> s.columns;
        walk.aside = walk.down == 0 ? step : 0;
        return walk;
    }
};

// R positions of a thread.
template <int R>
struct Positions {
    PositionSums<R> sums;

    // w: of the thread's output channels.
    template <int C>
    __device__ __forceinline__ void add(const float* cells, const float* w, const Tile& tile, const FewChannelsSizes& s) {
        const int side = OUTPUTS * static_cast<int>(s.shares);
        const int stride = static_cast<int>(s.stride[1]);
        const int whole = static_cast<int>(s.dilation[1]) / stride;
        const int part = static_cast<int>(s.dilation[1]) - whole * stride;
        constexpr int WIDE = C % 2 == 0 ? 2 : 1;  // channels of an access
        const Walk walk = Walk::of(s);
        const int below = static_cast<int>(s.stride[0]) * tile.line;
        const float* const from = cells + walk.row * below + walk.column * C;
        const int step = walk.down * below + walk.aside * C;
#pragma unroll 1
        for (int i = 0; i < static_cast<int>(s.kernel[0]); i++) {
            int at = i * static_cast<int>(s.dilation[0]) * tile.line;
            int remainder = 0;
#pragma unroll 1
            for (int j = 0; j < static_cast<int>(s.kernel[1]); j++) {
#pragma unroll
                for (int first = 0; first < C; first += WIDE) {
                    Pack<float, WIDE> v[R];
#pragma unroll
                    for (int t = 0; t < R; t++) v[t] = *reinterpret_cast<const Pack<float, WIDE>*>(from + at + t * step + first);
#pragma unroll
                    for (int c = 0; c < WIDE; c++, w += side) {
                        const Pack<float, OUTPUTS> weights = *reinterpret_cast<const Pack<float, OUTPUTS>*>(w);
#pragma unroll
                        for (int t = 0; t < R; t++) {
#pragma unroll
                            for (int o = 0; o < OUTPUTS; o++) sums.at[t][o] += v[t].at[c] * weights.at[o];
                        }
                    }
                }
                at += whole * C + part * tile.rest;
                remainder += part;
                if (remainder >= stride) remainder -= stride, at += C - stride * tile.rest;
            }
        }
    }

    // For each position of the result, what is done with its sums and the elements from y to its first output channel.
    template <typename Do>
    __device__ __forceinline__ void each(const Tile& tile, const FewChannelsSizes& s, int output, Do act) {
        const Walk walk = Walk::of(s);
        const int v = tile.row + walk.row;
        const int u = tile.column + walk.column;
        const i64 first = tile.image * s.y_image + (v * s.output[1] + u) * s.y_place + output * s.y_channel;
        const i64 step = (walk.down * s.output[1] + walk.aside) * s.y_place;
        if (output >= s.outputs) return;
#pragma unroll
        for (int t = 0; t < R; t++) {
            if (v + t * walk.down < s.output[0] && u + t * walk.aside < s.output[1]) act(sums.at[t], first + t * step);
        }
    }

    __device__ __forceinline__ void add_residual(const T* residual, const Tile& tile, const FewChannelsSizes& s, int output) {
        each(tile, s, output, [&](float(&sum)[OUTPUTS], i64 at) {
            Pack<T, OUTPUTS> added;
            if (s.y_channel == 1) {
                added = *reinterpret_cast<const Pack<T, OUTPUTS>*>(residual + at);
            } else {
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) added.at[o] = residual[at + o * s.y_channel];
            }
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) sum[o] += to_compute(added.at[o]);
        });
    }

    __device__ __forceinline__ void finish(const ConvEpilogue<T>& epilogue, const Tile& tile, const FewChannelsSizes& s, int output) {
        if (epilogue.bias && output < s.outputs) sums.add(epilogue.bias + output);
        sums.finish(epilogue, [&] { add_residual(epilogue.residual, tile, s, output); });
    }

    __device__ __forceinline__ void store(T* y, const Tile& tile, const FewChannelsSizes& s, int output) {
        each(tile, s, output, [&](const float(&sum)[OUTPUTS], i64 at) {
            Pack<T, OUTPUTS> out;
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) out.at[o] = From<T>::of(sum[o]);
            if (s.y_channel == 1) {
                *reinterpret_cast<Pack<T, OUTPUTS>*>(y + at) = out;
            } else {
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) y[at + o * s.y_channel] = out.at[o];
            }
        });
    }
};

template <int R>
__device__ __forceinline__ void convolve(const T* x, const T* w, T* y, const FewChannelsSizes& s, const ConvEpilogue<T>& epilogue) {
    TENON_DYNAMIC_SHARED(float, shared);
    const int side = OUTPUTS * static_cast<int>(s.shares);
    const int output0 = static_cast<int>(blockIdx.y) * side;
    const int own = static_cast<int>(threadIdx.x) % static_cast<int>(s.shares) * OUTPUTS;
    __shared__ Tile kept;  // what is known again after the sums, without registers meanwhile
    const Tile tile = Tile::of(s);
    if (threadIdx.x == 0) kept = tile;
    float* const cells = shared + static_cast<int>(s.kernel[0] * s.kernel[1] * s.channels) * side;
    release_successor();
    await_predecessor();
    fetch_weights(shared, w, s, output0);
    tile.fetch(cells, x, s);
    __syncthreads();
    Positions<R> positions = {};
    switch (s.channels) {
        case 1: positions.template add<1>(cells, shared + own, tile, s); break;
        case 2: positions.template add<2>(cells, shared + own, tile, s); break;
        case 3: positions.template add<3>(cells, shared + own, tile, s); break;
        default: positions.template add<4>(cells, shared + own, tile, s); break;
    }
    positions.finish(epilogue, kept, s, output0 + own);
    positions.store(y, kept, s, output0 + own);
}

#define KERNEL(name, R, BLOCKS)                                                                                                           \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                                                        \
        TENON_NAME(name)(const T* x, const T* w, const T* bias, const T* residual, T* y, FewChannelsSizes sizes, i32 fn, float p0, float p1) { \
        convolve<R>(x, w, y, sizes, {bias, residual, fn, p0, p1});                                                                        \
    }                                                                                                                                     \
    TENON_ENTRY(name)

KERNEL(conv_few_channels_8, 8, 4)
KERNEL(conv_few_channels_4, 4, 5)
