// y[b, c, p] = x[b, c] at the position that grid[b, p] gives, nearest, linear or cubic (a = -0.75): separable products over the dims.
//
//   grid_sample1d, grid_sample2d, grid_sample3d   a thread a place and some channels; the position's taps are worked out once for them
//   grid_sample                                   the same for any number of spatial dims up to 8
//
// Launch: 256 threads, any number of blocks. Positions in double and without contracted products, as the reference rounds them.
// Variants: TENON_T float, double, f16, bf16; the grid's type is an argument.
#include "sample.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int SAMPLE_DIMS = 8;
constexpr int SAMPLE_NEAREST = 0;
constexpr int SAMPLE_LINEAR = 1;
constexpr int PADDING_ZEROS = 0;
constexpr int PADDING_BORDER = 1;

// Filled by SampleLowering.java.
struct SampleSpace {
    i64 dims;
    i64 sizes[SAMPLE_DIMS];
    i64 strides[SAMPLE_DIMS];
    Chunks chunks;
    i64 mode;
    i64 padding;
    i64 align_corners;
    i64 grid_type;
};

// The taps of one axis: offsets in x, -1 for what counts as 0.
template <int COUNT>
struct SampleTaps {
    i64 offset[COUNT];
    A weight[COUNT];
};

// The position mirrored at both ends until it is between them.
__device__ __forceinline__ double reflected(double at, double low, double high) {
    double range = high - low;
    if (range <= 0) return low;
    double past = at < low ? low - at : at - high;
    double turns = floor(past / range);
    double rest = past - __dmul_rn(turns, range);
    bool even = fmod(turns, 2.0) == 0;
    return (at < low) == even ? low + rest : high - rest;
}

__device__ __forceinline__ double cubic_near(double x) { return ((-0.75 + 2) * x - (-0.75 + 3)) * x * x + 1; }
__device__ __forceinline__ double cubic_far(double x) { return ((-0.75 * x - 5 * -0.75) * x + 8 * -0.75) * x - 4 * -0.75; }

template <int COUNT>
__device__ __forceinline__ SampleTaps<COUNT> sample_taps(const SampleSpace& s, double position, i64 size, i64 stride) {
    double low = s.align_corners ? 0 : -0.5;
    double last = static_cast<double>(size - 1);
    double high = last - low;
    double at = COUNT == 1 ? rint(position) : position;
    if (at < low || at > high) {
        at = s.padding == PADDING_ZEROS ? at : s.padding == PADDING_BORDER ? bounded(at, 0, last) : reflected(at, low, high);
    }
    double first = COUNT == 1 ? at : COUNT == 2 ? floor(at) : floor(at) - 1;
    double t = at - floor(at);
    SampleTaps<COUNT> taps;
    if (COUNT == 1) {
        taps.weight[0] = static_cast<A>(at != at ? at : 1);
    } else if (COUNT == 2) {
        taps.weight[0] = static_cast<A>(1 - t);
        taps.weight[COUNT - 1] = static_cast<A>(t);
    } else {
        taps.weight[0] = static_cast<A>(cubic_far(t + 1));
        taps.weight[COUNT > 1 ? 1 : 0] = static_cast<A>(cubic_near(t));
        taps.weight[COUNT > 2 ? 2 : 0] = static_cast<A>(cubic_near(1 - t));
        taps.weight[COUNT - 1] = static_cast<A>(cubic_far(2 - t));
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        double index = first + i;
        bool inside = index >= 0 && index <= last;
        i64 found;
        if (inside) {
            found = static_cast<i64>(index);
        } else if (index != index) {
            found = 0;
        } else if (s.padding == PADDING_ZEROS) {
            found = -1;
        } else if (s.padding == PADDING_BORDER) {
            found = index < 0 ? 0 : size - 1;
        } else {
            found = whole_of(bounded(static_cast<double>(whole_of(reflected(index, low, high))), 0, last));
        }
        taps.offset[i] = found < 0 ? -1 : found * stride;
    }
    return taps;
}

// The sum over the dims from d on, of N.
template <int N, int COUNT, int d>
struct Sampled {
    static __device__ __forceinline__ A sum(const T* x, i64 base, const SampleTaps<COUNT>* taps) {
        A sum = A(0);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if (taps[d].offset[i] >= 0) {
                sum += taps[d].weight[i] * Sampled<N, COUNT, d + 1>::sum(x, base + taps[d].offset[i], taps);
            }
        }
        return sum;
    }
};

template <int COUNT>
struct Sampled<1, COUNT, 1> {
    static __device__ __forceinline__ A sum(const T* x, i64 base, const SampleTaps<COUNT>*) { return to_compute(x[base]); }
};
template <int COUNT>
struct Sampled<2, COUNT, 2> {
    static __device__ __forceinline__ A sum(const T* x, i64 base, const SampleTaps<COUNT>*) { return to_compute(x[base]); }
};
template <int COUNT>
struct Sampled<3, COUNT, 3> {
    static __device__ __forceinline__ A sum(const T* x, i64 base, const SampleTaps<COUNT>*) { return to_compute(x[base]); }
};

// Any number of dims: the same sums, dim by dim with counters.
template <int COUNT>
__device__ __forceinline__ A sum_of_any(const SampleSpace& s, const T* x, i64 base, const SampleTaps<COUNT>* taps) {
    int dims = static_cast<int>(s.dims);
    int at[SAMPLE_DIMS];
    i64 places[SAMPLE_DIMS + 1];
    A sums[SAMPLE_DIMS];
    int d = 0;
    at[0] = 0;
    places[0] = base;
    sums[0] = A(0);
    for (;;) {
        if (at[d] == COUNT) {
            if (d == 0) return sums[0];
            d--;
            sums[d] += taps[d].weight[at[d]] * sums[d + 1];
            at[d]++;
        } else if (taps[d].offset[at[d]] < 0) {
            at[d]++;
        } else {
            i64 place = places[d] + taps[d].offset[at[d]];
            if (d == dims - 1) {
                sums[d] += taps[d].weight[at[d]] * to_compute(x[place]);
                at[d]++;
            } else {
                d++;
                at[d] = 0;
                places[d] = place;
                sums[d] = A(0);
            }
        }
    }
}

template <int N, int COUNT>
__device__ __forceinline__ void sample_all(const T* x, const void* grid, T* y, const SampleSpace& s) {
    constexpr int MOST = N == 0 ? SAMPLE_DIMS : N;
    int dims = N == 0 ? static_cast<int>(s.dims) : N;
    i64 area = 1;
    for (int d = 0; d < dims; d++) area *= s.sizes[d];
    i64 count = chunk_count(s.chunks);
    for (i64 unit = global_thread(); unit < count; unit += global_threads()) {
        Chunk chunk = chunk_of(s.chunks, unit);
        SampleTaps<COUNT> taps[MOST];
        i64 first = (chunk.plane * s.chunks.places + chunk.place) * dims;
#pragma unroll
        for (int d = 0; d < dims; d++) {
            double normal = load_float(static_cast<int>(s.grid_type), grid, first + dims - 1 - d);
            double size = static_cast<double>(s.sizes[d]);
            double position = s.align_corners ? __dmul_rn((normal + 1) / 2, size - 1) : __dadd_rn(__dmul_rn(normal + 1, size), -1) / 2;
            taps[d] = sample_taps<COUNT>(s, position, s.sizes[d], s.strides[d]);
        }
        for (i64 channel = chunk.from; channel < chunk.to; channel++) {
            i64 plane = chunk.plane * s.chunks.channels + channel;
            A value;
            if constexpr (N == 0) {
                value = sum_of_any<COUNT>(s, x, plane * area, taps);
            } else {
                value = Sampled<N, COUNT, 0>::sum(x, plane * area, taps);
            }
            y[plane * s.chunks.places + chunk.place] = From<T>::of(value);
        }
    }
}

#define KERNEL(name, N)                                                                                                                   \
    extern "C" __global__ void __launch_bounds__(256) TENON_NAME(name)(const void* x, const void* grid, void* y, SampleSpace space) {     \
        release_successor();                                                                                                              \
        await_predecessor();                                                                                                              \
        const T* from = static_cast<const T*>(x);                                                                                         \
        T* to = static_cast<T*>(y);                                                                                                       \
        if (space.mode == SAMPLE_NEAREST) {                                                                                               \
            sample_all<N, 1>(from, grid, to, space);                                                                                      \
        } else if (space.mode == SAMPLE_LINEAR) {                                                                                         \
            sample_all<N, 2>(from, grid, to, space);                                                                                      \
        } else {                                                                                                                          \
            sample_all<N, 4>(from, grid, to, space);                                                                                      \
        }                                                                                                                                 \
    }                                                                                                                                     \
    TENON_ENTRY(name)

KERNEL(grid_sample1d, 1)
KERNEL(grid_sample2d, 2)
KERNEL(grid_sample3d, 3)
KERNEL(grid_sample, 0)
