// Where the elements of a resampling come from, axis by axis: the coordinate arithmetic of ResizeTaps.java, in double and without contracted
// products, so that every rounding decision is the reference's.
#pragma once
#include "walk.cuh"

constexpr int RESIZE_AXES = 8;
constexpr i32 RESIZE_NOTHING = static_cast<i32>(0x80000000u);  // no element: the extrapolation value

constexpr int RESIZE_NEAREST = 0;
constexpr int RESIZE_LINEAR = 1;

// As WindowCodes.java numbers them.
constexpr int RESIZE_HALF_PIXEL = 0;
constexpr int RESIZE_HALF_PIXEL_SYMMETRIC = 1;
constexpr int RESIZE_PYTORCH_HALF_PIXEL = 2;
constexpr int RESIZE_ALIGN_CORNERS = 3;
constexpr int RESIZE_ASYMMETRIC = 4;
constexpr int RESIZE_TF_HALF_PIXEL_FOR_NN = 5;

// As WindowCodes.java numbers them.
constexpr int RESIZE_PREFER_FLOOR = 0;
constexpr int RESIZE_PREFER_CEIL = 1;
constexpr int RESIZE_FLOOR = 2;

// The resampled axes, filled by ResizeTables.java. Each has a table in the workspace: the first element of each result, then its weights.
struct ResizeAxes {
    i64 mode;
    i64 coordinates;
    i64 nearest;
    i64 exclude;
    i64 antialias;
    double cubic;
    i64 input[RESIZE_AXES];
    i64 output[RESIZE_AXES];
    double scale[RESIZE_AXES];
    double resized[RESIZE_AXES];
    double start[RESIZE_AXES];
    double end[RESIZE_AXES];
    i64 taps[RESIZE_AXES];
    i64 first[RESIZE_AXES];    // byte offset of i32 [output]
    i64 weights[RESIZE_AXES];  // byte offset of [output, taps]
};

// The result's dims, outermost first; `axis` says which resampled axis a dim is, -1 for none. Strides are the input's.
struct ResizeWalk {
    i64 dims;
    i64 sizes[WALK_DIMS];
    i64 strides[WALK_DIMS];
    i64 axis[WALK_DIMS];
};

__device__ __forceinline__ i64 saturated(double v) {
    return v != v ? 0 : v >= 9.2e18 ? 0x7fffffffffffffffll : v <= -9.2e18 ? static_cast<i64>(0x8000000000000000ull) : static_cast<i64>(v);
}

__device__ __forceinline__ double resize_coordinate(const ResizeAxes& r, int axis, i64 at) {
    double scale = r.scale[axis], resized = r.resized[axis], n = static_cast<double>(r.input[axis]), i = static_cast<double>(at);
    switch (static_cast<int>(r.coordinates)) {
        case RESIZE_HALF_PIXEL: return (i + 0.5) / scale - 0.5;
        case RESIZE_HALF_PIXEL_SYMMETRIC:
            return __dadd_rn(__dmul_rn(n / 2.0, 1 - static_cast<double>(r.output[axis]) / resized), (i + 0.5) / scale) - 0.5;
        case RESIZE_PYTORCH_HALF_PIXEL: return resized > 1 ? (i + 0.5) / scale - 0.5 : 0;
        case RESIZE_ALIGN_CORNERS: return resized == 1 ? 0 : __dmul_rn(i, n - 1) / (resized - 1);
        case RESIZE_ASYMMETRIC: return i / scale;
        case RESIZE_TF_HALF_PIXEL_FOR_NN: return (i + 0.5) / scale;
        default: {
            double start = r.start[axis], end = r.end[axis];
            return resized == 1 ? __dmul_rn((start + end) / 2, n - 1)
                                : __dadd_rn(__dmul_rn(start, n - 1), __dmul_rn(__dmul_rn(i, end - start), n - 1) / (resized - 1));
        }
    }
}

// What is nearly an integer, or half of one, is meant to be it.
__device__ __forceinline__ double resize_snapped(double x) {
    double half = rint(x * 2) / 2;
    double most = fabs(x) > 1 ? fabs(x) : 1;
    return fabs(x - half) <= __dmul_rn(1e-9, most) ? half : x;
}

__device__ __forceinline__ bool resize_outside(const ResizeAxes& r, int axis, double x) {
    return r.coordinates > RESIZE_TF_HALF_PIXEL_FOR_NN && (x < 0 || x > static_cast<double>(r.input[axis] - 1));
}

__device__ __forceinline__ i64 resize_nearest_to(const ResizeAxes& r, double x) {
    switch (static_cast<int>(r.nearest)) {
        case RESIZE_PREFER_FLOOR: return saturated(ceil(x - 0.5));
        case RESIZE_PREFER_CEIL: return saturated(floor(x + 0.5));
        case RESIZE_FLOOR: return saturated(floor(x));
        default: return saturated(ceil(x));
    }
}

// The weight of an element at a distance: a tent, or Keys' cubic convolution.
__device__ __forceinline__ double resize_kernel(const ResizeAxes& r, double distance) {
    if (r.mode == RESIZE_LINEAR) return distance >= 1 ? 0 : 1 - distance;
    double a = r.cubic;
    if (distance <= 1) return __dadd_rn(__dmul_rn(__dmul_rn(__dadd_rn(__dmul_rn(a + 2, distance), -(a + 3)), distance), distance), 1);
    if (!(distance < 2)) return 0;
    return __dadd_rn(__dmul_rn(__dmul_rn(__dadd_rn(__dmul_rn(distance - 5, distance), 8), distance), a), -__dmul_rn(4, a));
}

__device__ __forceinline__ i64 clamped(i64 index, i64 low, i64 high) { return index < low ? low : index > high ? high : index; }

// Fills the table of one result of one axis. Weights of 0 stand for taps that are left out.
template <typename A>
__device__ __forceinline__ void resize_fill(const ResizeAxes& r, int axis, i64 at, u8* workspace) {
    i32* first = reinterpret_cast<i32*>(workspace + r.first[axis]) + at;
    double x = resize_snapped(resize_coordinate(r, axis, at));
    i64 n = r.input[axis];
    if (resize_outside(r, axis, x)) {
        *first = RESIZE_NOTHING;
        return;
    }
    if (r.mode == RESIZE_NEAREST) {
        *first = static_cast<i32>(clamped(resize_nearest_to(r, x), 0, n - 1));
        return;
    }
    A* weights = reinterpret_cast<A*>(workspace + r.weights[axis]) + at * r.taps[axis];
    double shrink = r.antialias ? (r.scale[axis] < 1 ? r.scale[axis] : 1) : 1;
    i64 taps = r.taps[axis];
    i64 low = saturated(ceil(x)) - taps / 2;
    double sum = 0;
    bool some = false;
    for (i64 tap = 0; tap < taps; tap++) {
        double weight = resize_kernel(r, __dmul_rn(fabs(static_cast<double>(low + tap) - x), shrink));
        if (weight != 0 && (!r.exclude || (low + tap >= 0 && low + tap < n))) {
            sum += weight;
            some = true;
        }
    }
    for (i64 tap = 0; tap < taps; tap++) {
        double weight = resize_kernel(r, __dmul_rn(fabs(static_cast<double>(low + tap) - x), shrink));
        bool counts = !r.exclude || (low + tap >= 0 && low + tap < n);
        weights[tap] = weight != 0 && counts ? static_cast<A>(weight / sum) : A(0);
    }
    // past the ends all taps are the end element, however far
    *first = some ? static_cast<i32>(clamped(low, -taps, n)) : RESIZE_NOTHING;
}

template <typename A>
__device__ __forceinline__ void resize_fill_all(const ResizeAxes& r, u8* workspace) {
    release_successor();
    await_predecessor();
    int axis = blockIdx.y;
    for (i64 at = global_thread(); at < r.output[axis]; at += global_threads()) resize_fill<A>(r, axis, at, workspace);
}
