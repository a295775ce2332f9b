// Quantised tensors: where scales and zero points lie over a tensor, and the rounding of quotients.
#pragma once
#include "types.cuh"
#include "walk.cuh"

// One for all; one for each index of an axis; one for each run of `block` elements along it.
constexpr int SCALES_ONE = 0;
constexpr int SCALES_AXIS = 1;
constexpr int SCALES_BLOCK = 2;

// `inner` elements follow each other at one index of the axis, which has `size` indices. Counted where any mode is not SCALES_ONE.
struct Scales {
    i32 mode;
    bool counted;
    i64 size;
    i64 inner;
    i64 block;
};

// The place of neighbours along the axis: divided for once, then counted on.
struct ScalePlace {
    i64 outer, along, in;

    __device__ __forceinline__ ScalePlace(i64 element, const Scales& s) : outer(0), along(0), in(0) {
        if (!s.counted) return;
        i64 row = element / s.inner;
        in = element - row * s.inner;
        outer = row / s.size;
        along = row - outer * s.size;
    }

    __device__ __forceinline__ void next(const Scales& s) {
        if (++in < s.inner) return;
        in = 0;
        if (++along < s.size) return;
        along = 0;
        outer++;
    }

    __device__ __forceinline__ i64 index(int mode, const Scales& s) const {
        if (mode == SCALES_ONE) return 0;
        if (mode == SCALES_AXIS) return along;
        return (outer * ((s.size + s.block - 1) / s.block) + along / s.block) * s.inner + in;
    }
};

// The integer nearest to a quotient, even on ties, plus a zero point, within bounds of at most 17 bits; NaN is 0.
template <typename A>
__device__ __forceinline__ i32 quantized(A quotient, i32 zero, i32 least, i32 most) {
    if (quotient != quotient) return 0;
    A nearest = rint(quotient);
    i32 v = static_cast<i32>(nearest < A(-1048576) ? A(-1048576) : nearest > A(1048576) ? A(1048576) : nearest) + zero;
    return v < least ? least : v > most ? most : v;
}
