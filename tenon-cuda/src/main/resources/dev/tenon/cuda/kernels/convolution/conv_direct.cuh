// Convolution in its plain form, for any sizes: a thread sums R output channels of a position over channels and cells; cells in padding are
// left out. Along an axis the place of cell i at position p is p stride - before + i dilation; of a transposed convolution it is
// (p + before - i dilation) / stride where that is whole.
#pragma once
#include "conv.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int CONV_DIMS = 8;

// Filled by ConvGeometry.java.
struct ConvSizes {
    i64 dims;
    i64 batch;
    i64 groups;
    i64 channels;   // of a group of x
    i64 outputs;    // of a group of y
    i64 w_channel;  // elements of w from one channel to the next
    i64 w_output;
    i64 w_cell;
    i64 x_channel;
    i64 x_place;
    i64 y_channel;
    i64 y_place;
    i64 input[CONV_DIMS];
    i64 output[CONV_DIMS];
    i64 kernel[CONV_DIMS];
    i64 stride[CONV_DIMS];
    i64 before[CONV_DIMS];
    i64 dilation[CONV_DIMS];
};

struct ConvCounts {
    int dims;
    i64 positions;
    i64 area;
};

template <int DIMS>
__device__ __forceinline__ ConvCounts counts(const ConvSizes& s) {
    ConvCounts counts = {DIMS == 0 ? static_cast<int>(s.dims) : DIMS, 1, 1};
    for (int d = 0; d < counts.dims; d++) {
        counts.positions *= s.output[d];
        counts.area *= s.input[d];
    }
    return counts;
}

// A piece is R output channels of a position, counted by image, group, R channels, position.
template <int DIMS, int R, bool TRANSPOSED>
__device__ __forceinline__ void convolve_piece(
    i64 piece, const ConvCounts& counts, const T* x, const T* w, T* y, const ConvSizes& s, const ConvEpilogue<T>& epilogue) {
    constexpr int MOST = DIMS == 0 ? CONV_DIMS : DIMS;
    const int dims = counts.dims;
    const i64 positions = counts.positions;
    const i64 area = counts.area;
    i64 blocks = (s.outputs + R - 1) / R;
    i64 rest = piece / positions;
    i64 position = piece - rest * positions;
    i64 start[MOST];
    i64 left = position;
#pragma unroll
    for (int d = MOST - 1; d >= 0; d--) {
        if (d >= dims) continue;
        i64 up = left / s.output[d];
        i64 p = left - up * s.output[d];
        start[d] = TRANSPOSED ? p + s.before[d] : p * s.stride[d] - s.before[d];
        left = up;
    }
    i64 group = rest / blocks;  // of all images
    i64 first = (rest - group * blocks) * R;
    i64 image = group / s.groups;
    i64 of = group - image * s.groups;
    const T* from = x + image * s.groups * s.channels * area + of * s.channels * s.x_channel;
    const T* weights[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
        i64 output = first + r < s.outputs ? first + r : s.outputs - 1;
        weights[r] = w + (TRANSPOSED ? of * s.channels * s.w_channel : of * s.outputs * s.w_output) + output * s.w_output;
    }
    A sums[R] = {};
    i64 index[MOST] = {};
    for (i64 cell = 0;; cell++) {
        i64 place = 0;
        bool inside = true;
#pragma unroll
        for (int d = 0; d < MOST; d++) {
            if (d >= dims) break;
            i64 at = TRANSPOSED ? start[d] - index[d] * s.dilation[d] : start[d] + index[d] * s.dilation[d];
            if (TRANSPOSED) {
                i64 whole = at / s.stride[d];
                inside = inside && at >= 0 && whole * s.stride[d] == at;
                at = whole;
            }
            inside = inside && at >= 0 && at < s.input[d];
            place = place * s.input[d] + at;
        }
        if (inside) {
            for (i64 channel = 0; channel < s.channels; channel++) {
                A v = to_compute(from[channel * s.x_channel + place * s.x_place]);
#pragma unroll
                for (int r = 0; r < R; r++) sums[r] += v * to_compute(weights[r][channel * s.w_channel + cell * s.w_cell]);
            }
        }
        bool more = false;
#pragma unroll
        for (int d = MOST - 1; d >= 0; d--) {
            if (d >= dims || more) continue;
            index[d]++;
            more = index[d] < s.kernel[d];
            if (!more) index[d] = 0;
        }
        if (!more) break;
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (first + r < s.outputs) {
            i64 channel = of * s.outputs + first + r;
            i64 at = image * s.groups * s.outputs * positions + channel * s.y_channel + position * s.y_place;
            y[at] = From<T>::of(epilogue.of(sums[r], channel, at));
        }
    }
}

// DIMS 0 stands for the number that the space has.
template <int DIMS, int R, bool TRANSPOSED>
__device__ __forceinline__ void convolve(const T* x, const T* w, T* y, const ConvSizes& s, const ConvEpilogue<T>& epilogue) {
    release_successor();
    await_predecessor();
    const ConvCounts of = counts<DIMS>(s);
    i64 pieces = s.batch * s.groups * ((s.outputs + R - 1) / R) * of.positions;
    for (i64 piece = global_thread(); piece < pieces; piece += global_threads()) {
        convolve_piece<DIMS, R, TRANSPOSED>(piece, of, x, w, y, s, epilogue);
    }
}

// All results of those output channels whose weights are not all finite; a block an output channel at a time.
template <bool TRANSPOSED>
__device__ __forceinline__ void convolve_unbounded(const T* x, const T* w, T* y, const ConvSizes& s, const ConvEpilogue<T>& epilogue) {
    release_successor();
    await_predecessor();
    const ConvCounts of = counts<0>(s);
    i64 cells = 1;
    for (int d = 0; d < of.dims; d++) cells *= s.kernel[d];
    for (i64 channel = blockIdx.x; channel < s.groups * s.outputs; channel += gridDim.x) {
        i64 group = channel / s.outputs;
        i64 output = channel - group * s.outputs;
        const T* weights = w + (TRANSPOSED ? group * s.channels * s.w_channel : group * s.outputs * s.w_output) + output * s.w_output;
        bool finite = true;
        for (i64 i = threadIdx.x; i < s.channels * cells; i += blockDim.x) {
            i64 input = i / cells;
            A v = to_compute(weights[input * s.w_channel + (i - input * cells) * s.w_cell]);
            finite = finite && v - v == 0;
        }
        if (!__syncthreads_or(!finite)) continue;
        for (i64 i = threadIdx.x; i < s.batch * of.positions; i += blockDim.x) {
            i64 image = i / of.positions;
            i64 piece = (image * s.groups * s.outputs + channel) * of.positions + (i - image * of.positions);
            convolve_piece<0, 1, TRANSPOSED>(piece, of, x, w, y, s, epilogue);
        }
    }
}
