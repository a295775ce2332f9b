// Quantised tensors: where scales and zero points lie over a tensor, and the rounding of quotients.
#pragma once
#include "types.cuh"
#include "walk.cuh"

// One for all; one for each index of an axis; one for each run of `block` elements along it.
constexpr int SCALES_ONE = 0;
constexpr int SCALES_AXIS = 1;
constexpr int SCALES_BLOCK = 2;

// Of one tensor of scales or zero points: what an index of the axis and one of the blocks count for in its own. A product, not a branch: a
// compiler that makes a copy of the loop for each mode and type made 87,000 lines of PTX of this, on which the driver's spent a minute.
struct ScaleSteps {
    i64 axis, block;

    __device__ __forceinline__ explicit ScaleSteps(i32 mode) : axis(mode == SCALES_AXIS), block(mode == SCALES_BLOCK) {}
};

// `inner` elements follow each other at one index of the axis, which has `size` indices; `block` is 0 where nothing lies by blocks.
struct Scales {
    bool counted;  // whether anything but SCALES_ONE asks for places
    i64 size;
    i64 inner;
    i64 block;
};

// The place of neighbours along the axis: divided for once, then counted on.
struct ScalePlace {
    i64 outer, along, in, block, within, blocks, inner;

    __device__ __forceinline__ ScalePlace(i64 element, const Scales& s) : outer(0), along(0), in(0), block(0), within(0), blocks(0), inner(0x7fffffffffffffff) {
        if (!s.counted) return;
        inner = s.inner;
        i64 row = element / inner;
        in = element - row * inner;
        outer = row / s.size;
        along = row - outer * s.size;
        if (s.block == 0) return;
        block = along / s.block;
        within = along - block * s.block;
        blocks = (s.size + s.block - 1) / s.block;
    }

    __device__ __forceinline__ void next(const Scales& s) {
        if (++in < inner) return;
        in = 0;
        if (++within == s.block) {
            within = 0;
            block++;
        }
        if (++along < s.size) return;
        along = block = within = 0;
        outer++;
    }

    __device__ __forceinline__ i64 index(const ScaleSteps& by) const { return along * by.axis + ((outer * blocks + block) * inner + in) * by.block; }
};

// The integer nearest to a quotient, even on ties, plus a zero point, within bounds of at most 17 bits; NaN is 0.
template <typename A>
__device__ __forceinline__ i32 quantized(A quotient, i32 zero, i32 least, i32 most) {
    if (quotient != quotient) return 0;
    A nearest = rint(quotient);
    i32 v = static_cast<i32>(nearest < A(-1048576) ? A(-1048576) : nearest > A(1048576) ? A(1048576) : nearest) + zero;
    return v < least ? least : v > most ? most : v;
}
