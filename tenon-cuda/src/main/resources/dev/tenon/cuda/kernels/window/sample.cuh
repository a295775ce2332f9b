// What kernels share that sample images at computed places: floats of a type that is an argument, positions in double.
#pragma once
#include "types.cuh"
#include "walk.cuh"

__device__ __forceinline__ double load_float(int type, const void* p, i64 at) {
    switch (type) {
        case TYPE_F64: return static_cast<const double*>(p)[at];
        case TYPE_F32: return static_cast<const float*>(p)[at];
        case TYPE_F16: return to_f32(static_cast<const f16*>(p)[at]);
        default: return to_f32(static_cast<const bf16*>(p)[at]);
    }
}

// Truncated, NaN is 0, too large is the largest.
__device__ __forceinline__ i64 whole_of(double v) {
    return v != v ? 0 : v >= 9.2e18 ? 0x7fffffffffffffffll : v <= -9.2e18 ? static_cast<i64>(0x8000000000000000ull) : static_cast<i64>(v);
}

__device__ __forceinline__ double bounded(double v, double low, double high) { return v < low ? low : v > high ? high : v; }

// Threads that go over places, `channels_each` channels of each: neighbours have neighbouring places.
struct Chunks {
    i64 places;
    i64 channels;
    i64 channels_each;
    i64 planes;  // whatever else there is: images, cells
};

struct Chunk {
    i64 place;
    i64 plane;
    i64 from;  // channels [from, to)
    i64 to;
};

__device__ __forceinline__ i64 chunk_count(const Chunks& c) { return c.planes * ((c.channels + c.channels_each - 1) / c.channels_each) * c.places; }

__device__ __forceinline__ Chunk chunk_of(const Chunks& c, i64 unit) {
    i64 chunks = (c.channels + c.channels_each - 1) / c.channels_each;
    i64 rest = unit / c.places;
    i64 plane = rest / chunks;
    i64 from = (rest - plane * chunks) * c.channels_each;
    return {unit - rest * c.places, plane, from, min(from + c.channels_each, c.channels)};
}
