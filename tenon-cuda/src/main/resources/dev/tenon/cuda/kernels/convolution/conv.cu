// y[b, o, p] = residual + fn(bias[o] + sum of w[o, c, i] x[b, c of o's group, place(p, i)]) over the channels c of a group and the cells i whose
// place lies in x: p stride - before + i dilation. The plain form, for any sizes; cells in padding are left out.
//
//   conv2d conv3d       a thread a result, at most so many spatial dims
//   conv2d_8 conv3d_8  a thread 8 output channels of a position: x is read once for them
//   conv                a thread a result, at most 8 spatial dims
//   conv_mend            all results of the output channels whose weights are not all finite; a block an output channel
//
// Launch: 256 threads, any number of blocks; neighbours along the last dim. No shared memory. Everything lies row-major as the operation has
// it, or by other strides: x [b, groups channels, ...], w [groups outputs, channels, ...], y [b, groups outputs, ...].
// Variants: TENON_T one of float, double, f16, bf16; sums in Compute<T>.
#include "conv_direct.cuh"

#define KERNEL(name, ...)                                                                                                                \
    extern "C" __global__ void __launch_bounds__(256)                                                                                   \
        TENON_NAME(name)(const T* x, const T* w, const T* bias, const T* residual, T* y, ConvSizes sizes, i32 fn, A p0, A p1) {         \
        __VA_ARGS__(x, w, y, sizes, {bias, residual, fn, p0, p1});                                                                      \
    }                                                                                                                                   \
    TENON_ENTRY(name)

KERNEL(conv2d, convolve<2, 1, false>)
KERNEL(conv2d_8, convolve<2, 8, false>)
KERNEL(conv3d, convolve<3, 1, false>)
KERNEL(conv3d_8, convolve<3, 8, false>)
KERNEL(conv, convolve<0, 1, false>)
KERNEL(conv_mend, convolve_unbounded<false>)
