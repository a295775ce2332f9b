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

// DIMS 0 stands for the number that the space has. MEND makes only results that are NaN.
template <int DIMS, int R, bool TRANSPOSED, bool MEND = false>
__device__ __forceinline__ void convolve(const T* x, const T* w, T* y, const ConvSizes& s, const ConvEpilogue<T>& epilogue) {
    constexpr int MOST = DIMS == 0 ? CONV_DIMS : DIMS;
    const int dims = DIMS == 0 ? static_cast<int>(s.dims) : DIMS;
    release_successor();
    await_predecessor();
    i64 positions = 1, area = 1;
#pragma unroll
    for (int d = 0; d < MOST; d++) {
        if (d >= dims) break;
        positions *= s.output[d];
        area *= s.input[d];
    }
    i64 blocks = (s.outputs + R - 1) / R;
    i64 pieces = s.batch * s.groups * blocks * positions;
    for (i64 piece = global_thread(); piece < pieces; piece += global_threads()) {
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
        if (MEND) {
            static_assert(!MEND || R == 1, "a thread looks at one result");
            T made = y[image * s.groups * s.outputs * positions + (of * s.outputs + first) * s.y_channel + position * s.y_place];
            if (to_compute(made) == to_compute(made)) continue;
        }
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
}
