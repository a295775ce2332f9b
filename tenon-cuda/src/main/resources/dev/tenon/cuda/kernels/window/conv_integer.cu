// y[b, o, p] = the sum over the channels of o's group and the cells of the window at p of (x - zero of x) · (w - zero of w[o]), in i32 that wraps;
// padding stands for the zero of x.
//
// Launch: 256 threads, any number of blocks; a thread a result, neighbours along the last dim. At most 8 spatial dims. No shared memory.
// Variants: one; x and w are bytes, signed or not by arguments. The plain form of every such convolution.
#include "walk.cuh"

constexpr int CONV_DIMS = 8;

// Filled by ConvIntegerLowering.java.
struct ConvSpace {
    i64 dims;
    i64 results;
    i64 outputs;   // channels of y
    i64 channels;  // of a group of x
    i64 each;      // outputs of a group
    i64 input[CONV_DIMS];
    i64 output[CONV_DIMS];
    i64 kernel[CONV_DIMS];
    i64 stride[CONV_DIMS];
    i64 before[CONV_DIMS];
    i64 dilation[CONV_DIMS];
    i64 x_signed;
    i64 w_signed;
    i64 zeros_w;  // how many there are: 0, 1, or one an output channel
};

__device__ __forceinline__ i32 byte_at(const void* p, i64 at, bool has_sign) {
    return has_sign ? static_cast<i32>(static_cast<const i8*>(p)[at]) : static_cast<i32>(static_cast<const u8*>(p)[at]);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(conv_integer)(const void* x, const void* w, const void* zero_x, const void* zeros_w, void* y, ConvSpace space) {
    release_successor();
    await_predecessor();
    int dims = static_cast<int>(space.dims);
    i64 cells = 1, area = 1;
    for (int d = 0; d < dims; d++) {
        cells *= space.kernel[d];
        area *= space.input[d];
    }
    i32 zx = zero_x == nullptr ? 0 : byte_at(zero_x, 0, space.x_signed);
    i64 groups = space.outputs / space.each;
    for (i64 result = global_thread(); result < space.results; result += global_threads()) {
        i64 start[CONV_DIMS];
        i64 rest = result;
        for (int d = dims - 1; d >= 0; d--) {
            i64 up = rest / space.output[d];
            start[d] = (rest - up * space.output[d]) * space.stride[d] - space.before[d];
            rest = up;
        }
        i64 batch = rest / space.outputs;
        i64 o = rest - batch * space.outputs;
        i32 zw = space.zeros_w == 0 ? 0 : byte_at(zeros_w, space.zeros_w == 1 ? 0 : o, space.w_signed);
        i64 from = (batch * groups + o / space.each) * space.channels * area;
        i64 weights = o * space.channels * cells;
        u32 sum = 0;
        for (i64 cell = 0; cell < cells; cell++) {
            i64 left = cell, place = 0, step = 1;
            bool inside = true;
            for (int d = dims - 1; d >= 0; d--) {
                i64 up = left / space.kernel[d];
                i64 at = start[d] + (left - up * space.kernel[d]) * space.dilation[d];
                inside = inside && at >= 0 && at < space.input[d];
                place += at * step;
                step *= space.input[d];
                left = up;
            }
            if (!inside) continue;
            for (i64 channel = 0; channel < space.channels; channel++) {
                i32 a = byte_at(x, from + channel * area + place, space.x_signed) - zx;
                i32 b = byte_at(w, weights + channel * cells + cell, space.w_signed) - zw;
                sum += static_cast<u32>(a * b);
            }
        }
        static_cast<i32*>(y)[result] = static_cast<i32>(sum);
    }
}
TENON_ENTRY(conv_integer)
