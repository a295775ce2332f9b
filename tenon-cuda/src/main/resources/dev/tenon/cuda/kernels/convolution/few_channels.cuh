// What kernels for convolutions of 1 to 4 channels share: sizes, the tile of positions of a block, and what is done to sums before they are
// stored.
#pragma once
#include "conv.cuh"

constexpr int OUTPUTS = 8;  // neighbouring output channels of a thread

// Filled by FewChannelsConv.java; pairs are rows, columns.
struct FewChannelsSizes {
    i64 channels;
    i64 outputs;
    i64 x_image;  // elements from one image, position and channel to the next
    i64 x_place;
    i64 x_channel;
    i64 w_output;
    i64 w_cell;
    i64 w_channel;
    i64 y_image;
    i64 y_place;
    i64 y_channel;
    i64 input[2];
    i64 output[2];
    i64 kernel[2];
    i64 stride[2];
    i64 before[2];
    i64 dilation[2];
    i64 shares;   // of a block's output channels, made by different threads
    i64 rows;     // positions of a tile
    i64 columns;  // likewise, the binary logarithm
    i64 down;     // tiles of an image
    i64 across;
};

// The positions of a tile, and the cells that they read.
struct PositionTile {
    i64 image;
    int row;  // the first position
    int column;
    int high;  // cells
    int wide;

    template <typename Divide>
    __device__ __forceinline__ void begin(const FewChannelsSizes& s, int number, Divide quotient) {
        const int across = static_cast<int>(s.across);
        const int down = static_cast<int>(s.down);
        const int rest = quotient(number, across);
        image = quotient(rest, down);
        row = (rest - static_cast<int>(image) * down) * static_cast<int>(s.rows);
        column = (number - rest * across) << s.columns;
        high = (static_cast<int>(s.rows) - 1) * static_cast<int>(s.stride[0]) + static_cast<int>((s.kernel[0] - 1) * s.dilation[0]) + 1;
        wide = ((1 << s.columns) - 1) * static_cast<int>(s.stride[1]) + static_cast<int>((s.kernel[1] - 1) * s.dilation[1]) + 1;
    }

    // Of x, where the first cell lies.
    __device__ __forceinline__ int top(const FewChannelsSizes& s) const { return row * static_cast<int>(s.stride[0]) - static_cast<int>(s.before[0]); }
    __device__ __forceinline__ int left(const FewChannelsSizes& s) const { return column * static_cast<int>(s.stride[1]) - static_cast<int>(s.before[1]); }
};

// Sums of R positions of a thread.
template <int R>
struct PositionSums {
    float at[R][OUTPUTS];

    // Applies f to all sums a row at a time: they move round through the one place where it is inlined.
    template <typename F>
    __device__ __forceinline__ void apply(F f) {
#pragma unroll 1
        for (int t = 0; t < R; t++) {
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) {
                const float v = f(at[0][o]);
#pragma unroll
                for (int next = 1; next < R; next++) at[next - 1][o] = at[next][o];
                at[R - 1][o] = v;
            }
        }
    }

    // Adds the numbers of the thread's output channels.
    template <typename T>
    __device__ __forceinline__ void add(const T* bias) {
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) {
            const float b = to_compute(bias[o]);
#pragma unroll
            for (int t = 0; t < R; t++) at[t][o] += b;
        }
    }

    // The epilogue without the bias; `add_residual` adds the residual to all sums.
    template <typename T, typename Add>
    __device__ __forceinline__ void finish(const ConvEpilogue<T>& epilogue, Add add_residual) {
        if (epilogue.residual && epilogue.residual_first()) add_residual();
        switch (epilogue.function()) {
            case 0: break;
            case FN_RELU:
#pragma unroll
                for (int i = 0; i < R * OUTPUTS; i++) {
                    float& v = at[i / OUTPUTS][i % OUTPUTS];
                    v = max_or_nan(v, 0.0f);
                }
                break;
            case FN_HARD_SWISH: apply([&](float v) { return unary_fn(FN_HARD_SWISH, v, epilogue.p0, epilogue.p1); }); break;
            case FN_SILU: apply([&](float v) { return unary_fn(FN_SILU, v, epilogue.p0, epilogue.p1); }); break;
            default: apply([&](float v) { return unary_fn_call(epilogue.function(), v, epilogue.p0, epilogue.p1); }); break;
        }
        if (epilogue.residual && !epilogue.residual_first()) add_residual();
    }
};
