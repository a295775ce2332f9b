// Linear and cubic resampling: y = the sum over the taps of each axis of weight · x, axis by axis in the reference's order.
//
//   resize_taps   the taps of each resampled axis, once: a thread a result of the axis, blockIdx.y the axis
//   resize        all axes at once, at most 3 of them with few taps: a thread a result, x read through the caches
//   resize_axis   one axis [outer, n, inner] -> [outer, m, inner], for any number of axes and taps: a thread a result; between axes sums are
//                 kept in the workspace in the compute type
//
// Launch: 256 threads, any number of blocks. The workspace has the tables that ResizeAxes (resize.cuh) says.
// Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type an argument: sums in double, then truncated.
#include "resize.cuh"
#include "types.cuh"

#if TENON_INTEGERS
typedef double A;

__device__ __forceinline__ A load_value(const void* x, int type, i64 at) { return integer_to_double(type, load_integer(type, x, at)); }
__device__ __forceinline__ void store_value(void* y, int type, i64 at, A v) { store_integer(type, y, at, float_to_integer(type, v)); }
// Not contracted: truncation must not depend on it.
__device__ __forceinline__ A plus_weighted(A sum, A weight, A v) { return __dadd_rn(sum, __dmul_rn(weight, v)); }
#else
typedef TENON_T T;
typedef Compute<T>::type A;

__device__ __forceinline__ A load_value(const void* x, int, i64 at) { return to_compute(static_cast<const T*>(x)[at]); }
__device__ __forceinline__ void store_value(void* y, int, i64 at, A v) { static_cast<T*>(y)[at] = From<T>::of(v); }
__device__ __forceinline__ A plus_weighted(A sum, A weight, A v) { return sum + weight * v; }
#endif

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(resize_taps)(void* workspace, ResizeAxes axes) {
    resize_fill_all<A>(axes, static_cast<u8*>(workspace));
}
TENON_ENTRY(resize_taps)

// The taps of one result along one axis; an axis that is not there has one of weight 1.
struct Taps {
    const A* weights;
    i64 first;
    i64 last;  // of the axis
    i64 stride;
    int count;

    __device__ __forceinline__ A weight(int tap) const { return weights == nullptr ? A(1) : weights[tap]; }
    __device__ __forceinline__ i64 offset(int tap) const { return clamped(first + tap, 0, last) * stride; }
};

__device__ __forceinline__ Taps no_taps() { return {nullptr, 0, 0, 0, 1}; }

__device__ __forceinline__ Taps taps_of(const u8* workspace, const ResizeAxes& axes, int axis, i64 row, i64 stride) {
    i64 first = reinterpret_cast<const i32*>(workspace + axes.first[axis])[row];
    const A* weights = reinterpret_cast<const A*>(workspace + axes.weights[axis]) + row * axes.taps[axis];
    return {weights, first, axes.input[axis] - 1, stride, static_cast<int>(axes.taps[axis])};
}

// Taps of weight 0 are passed over: an infinity beside an element must not make it NaN.
__device__ __forceinline__ A weighted(const void* x, int type, i64 base, const Taps& a, const Taps& b, const Taps& c) {
    A all = A(0);
    for (int k = 0; k < c.count; k++) {
        A third = c.weight(k);
        if (third == A(0)) continue;
        i64 behind = base + c.offset(k);
        A plane = A(0);
        for (int j = 0; j < b.count; j++) {
            A second = b.weight(j);
            if (second == A(0)) continue;
            i64 middle = behind + b.offset(j);
            A line = A(0);
            for (int i = 0; i < a.count; i++) {
                A weight = a.weight(i);
                if (weight != A(0)) line = plus_weighted(line, weight, load_value(x, type, middle + a.offset(i)));
            }
            plane = plus_weighted(plane, second, line);
        }
        all = plus_weighted(all, third, plane);
    }
    return all;
}

template <typename I>
__device__ __forceinline__ void resize_all(const void* x, void* y, const u8* workspace, i64 elements, const ResizeAxes& axes, const ResizeWalk& walk, int type, A outside) {
    for (i64 to = global_thread(); to < elements; to += global_threads()) {
        I rest = static_cast<I>(to);
        i64 base = 0;
        bool inside = true;
        Taps a = no_taps(), b = no_taps(), c = no_taps();
        for (int d = static_cast<int>(walk.dims) - 1; d >= 0; d--) {
            I up = rest / static_cast<I>(walk.sizes[d]);
            i64 index = static_cast<i64>(rest - up * static_cast<I>(walk.sizes[d]));
            rest = up;
            int axis = static_cast<int>(walk.axis[d]);
            if (axis < 0) {
                base += index * walk.strides[d];
                continue;
            }
            Taps taps = taps_of(workspace, axes, axis, index, walk.strides[d]);
            inside = inside && taps.first != RESIZE_NOTHING;
            if (axis == 0) {
                a = taps;
            } else if (axis == 1) {
                b = taps;
            } else {
                c = taps;
            }
        }
        store_value(y, type, to, inside ? weighted(x, type, base, a, b, c) : outside);
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(resize)(const void* x, void* y, const void* workspace, i64 elements, ResizeAxes axes, ResizeWalk walk, i32 type, A outside) {
    release_successor();
    await_predecessor();
    if (elements <= 0x7fffffff) {
        resize_all<u32>(x, y, static_cast<const u8*>(workspace), elements, axes, walk, type, outside);
    } else {
        resize_all<u64>(x, y, static_cast<const u8*>(workspace), elements, axes, walk, type, outside);
    }
}
TENON_ENTRY(resize)

// x is in the storage type for the first axis, y for the last.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(resize_axis)(const void* x, void* y, const void* workspace, i64 elements, i64 inner, ResizeAxes axes, i32 axis, i32 first, i32 last, i32 type, A outside) {
    release_successor();
    await_predecessor();
    const u8* tables = static_cast<const u8*>(workspace);
    bool small = elements <= 0x7fffffff;
    i64 m = axes.output[axis], n = axes.input[axis];
    for (i64 to = global_thread(); to < elements; to += global_threads()) {
        i64 row = small ? static_cast<u32>(to) / static_cast<u32>(inner) : to / inner;
        i64 outer = small ? static_cast<u32>(row) / static_cast<u32>(m) : row / m;
        Taps taps = taps_of(tables, axes, axis, row - outer * m, inner);
        i64 base = outer * n * inner + (to - row * inner);
        A sum = A(0);
        for (int tap = 0; tap < taps.count; tap++) {
            A weight = taps.weight(tap);
            if (taps.first == RESIZE_NOTHING || weight == A(0)) continue;
            i64 at = base + taps.offset(tap);
            sum = plus_weighted(sum, weight, first ? load_value(x, type, at) : static_cast<const A*>(x)[at]);
        }
        A result = taps.first == RESIZE_NOTHING ? outside : sum;
        if (last) {
            store_value(y, type, to, result);
        } else {
            static_cast<A*>(y)[to] = result;
        }
    }
}
TENON_ENTRY(resize_axis)
