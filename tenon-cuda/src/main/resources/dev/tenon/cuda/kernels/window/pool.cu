// y[plane][o] = the maximum, average or Lp norm of x[plane] over the window at o; the average divides by the cells inside the input, or by those
// inside the padded input. Maxima: the first, or the first NaN; where `indices` is given, its place in x too.
//
//   pool1d, pool2d, pool3d   a thread a result; neighbouring threads have neighbouring windows
//   pool                     the same for any number of spatial dims up to 8
//   pool_wide                a row of lanes a result, for large windows: lanes take neighbouring cells and meet in a fixed order
//
// Launch: 256 threads, any number of blocks; pool_wide: block (lanes, results side by side), lanes a power of two. Static shared memory.
// Averages are summed in Compute<T>, norms in double, whose powers do not overflow.
// Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS (maxima only), the type an argument.
#include "types.cuh"
#include "walk.cuh"

constexpr int POOL_DIMS = 8;

// Filled by PoolLowering.java.
struct PoolWindows {
    i64 dims;
    i64 input[POOL_DIMS];
    i64 output[POOL_DIMS];
    i64 kernel[POOL_DIMS];
    i64 stride[POOL_DIMS];
    i64 before[POOL_DIMS];
    i64 after[POOL_DIMS];
    i64 dilation[POOL_DIMS];
};

// What the kernels of this file are told beside the windows.
struct PoolOptions {
    i32 fn;
    i32 type;           // of integers
    i32 count_padding;  // for averages
    i32 column_major;   // for indices
    i64 p;              // for norms
    i64 results;
};

#if TENON_INTEGERS
typedef i64 V;
struct Elements {
    const void* x;
    int type;
    __device__ __forceinline__ V load(i64 at) const { return load_integer(type, x, at); }
    __device__ __forceinline__ bool beats(V a, V best) const { return less(type, best, a); }
    __device__ __forceinline__ void copy(void* y, i64 to, i64 from) const { store_integer(type, y, to, load(from)); }
};
#else
typedef TENON_T T;
typedef Compute<T>::type V;
struct Elements {
    const void* x;
    int type;
    __device__ __forceinline__ V load(i64 at) const { return to_compute(static_cast<const T*>(x)[at]); }
    __device__ __forceinline__ bool beats(V a, V best) const { return best == best && !(a <= best); }
    __device__ __forceinline__ void copy(void* y, i64 to, i64 from) const { static_cast<T*>(y)[to] = static_cast<const T*>(x)[from]; }
};
#endif

// The cells of a window along one dim that lie in the input, and how many lie in the padded input.
struct Span {
    i64 first;  // where the first one is
    i64 count;
    i64 padded;
};

__device__ __forceinline__ i64 steps(i64 room, i64 dilation) {
    return room <= 0 ? 0 : dilation == 1 ? room : (room + dilation - 1) / dilation;
}

__device__ __forceinline__ Span span_of(const PoolWindows& w, int d, i64 position) {
    i64 start = position * w.stride[d] - w.before[d];
    i64 skipped = steps(-start, w.dilation[d]);
    i64 end = min(steps(w.input[d] - start, w.dilation[d]), w.kernel[d]);
    i64 padded = min(steps(w.input[d] + w.after[d] - start, w.dilation[d]), w.kernel[d]);
    return {start + skipped * w.dilation[d], max(end - skipped, 0ll), padded};
}

// What is made of the cells: each is added with its place, cells of several threads are joined.
struct MaxFold {
    V value;
    i64 at;

    __device__ __forceinline__ void none() {
        value = V(0);
        at = -1;
    }
    __device__ __forceinline__ void add(const Elements& x, const PoolOptions&, i64 place) {
        V v = x.load(place);
        if (at < 0 || x.beats(v, value)) {
            value = v;
            at = place;
        }
    }
    // The lower place wins where neither is larger.
    __device__ __forceinline__ void join(const Elements& x, const MaxFold& other) {
        if (other.at < 0) return;
        bool later = other.at > at;
        if (at < 0 || (later ? x.beats(other.value, value) : !x.beats(value, other.value))) *this = other;
    }
    __device__ __forceinline__ void finish(const Elements& x, const PoolOptions&, i64, void* y, i64 to) const {
        x.copy(y, to, at);
    }
};

#if !TENON_INTEGERS
constexpr int POOL_MAX = 0;
constexpr int POOL_AVERAGE = 1;

struct AverageFold {
    V sum;

    __device__ __forceinline__ void none() { sum = V(0); }
    __device__ __forceinline__ void add(const Elements& x, const PoolOptions&, i64 place) { sum += x.load(place); }
    __device__ __forceinline__ void join(const Elements&, const AverageFold& other) { sum += other.sum; }
    __device__ __forceinline__ void finish(const Elements&, const PoolOptions&, i64 count, void* y, i64 to) const {
        static_cast<T*>(y)[to] = From<T>::of(sum / static_cast<V>(count));
    }
};

struct NormFold {
    double sum;

    __device__ __forceinline__ void none() { sum = 0; }
    __device__ __forceinline__ void add(const Elements& x, const PoolOptions& options, i64 place) {
        double v = fabs(static_cast<double>(x.load(place)));
        sum += options.p == 1 ? v : options.p == 2 ? v * v : pow(v, static_cast<double>(options.p));
    }
    __device__ __forceinline__ void join(const Elements&, const NormFold& other) { sum += other.sum; }
    __device__ __forceinline__ void finish(const Elements&, const PoolOptions& options, i64, void* y, i64 to) const {
        double root = options.p == 1 ? sum : options.p == 2 ? sqrt(sum) : pow(sum, 1.0 / static_cast<double>(options.p));
        static_cast<T*>(y)[to] = rounded_to<T>(root);
    }
};
#endif

// The spans of a result's window; D is the number of dims, 0 where only the windows know it. Returns the plane.
template <int D, typename I>
__device__ __forceinline__ i64 spans_in(const PoolWindows& w, i64 result, Span* spans) {
    I position = static_cast<I>(result);
#pragma unroll
    for (int d = (D == 0 ? static_cast<int>(w.dims) : D) - 1; d >= 0; d--) {
        I rest = position / static_cast<I>(w.output[d]);
        spans[d] = span_of(w, d, static_cast<i64>(position - rest * static_cast<I>(w.output[d])));
        position = rest;
    }
    return static_cast<i64>(position);
}

template <int D>
__device__ __forceinline__ i64 spans_of(const PoolWindows& w, i64 result, bool small, Span* spans) {
    return small ? spans_in<D, u32>(w, result, spans) : spans_in<D, u64>(w, result, spans);
}

__device__ __forceinline__ i64 area_of(const PoolWindows& w) {
    i64 area = 1;
    for (int d = 0; d < static_cast<int>(w.dims); d++) area *= w.input[d];
    return area;
}

// The cells of the dims from d on, row-major, below the place `base`.
template <int D, int d, typename F>
struct Cells {
    static __device__ __forceinline__ void fold(const PoolWindows& w, const Span* spans, i64 base, const Elements& x, const PoolOptions& options, F& f) {
        for (i64 i = 0; i < spans[d].count; i++) {
            i64 place = base * w.input[d] + spans[d].first + i * w.dilation[d];
            if (d == D - 1) {
                f.add(x, options, place);
            } else {
                Cells<D, d == D - 1 ? D : d + 1, F>::fold(w, spans, place, x, options, f);
            }
        }
    }
};

template <int D, typename F>
struct Cells<D, D, F> {
    static __device__ __forceinline__ void fold(const PoolWindows&, const Span*, i64, const Elements&, const PoolOptions&, F&) {}
};

template <int D>
__device__ __forceinline__ i64 cells_inside(const PoolWindows& w, const Span* spans) {
    i64 inside = 1;
#pragma unroll
    for (int d = 0; d < (D == 0 ? static_cast<int>(w.dims) : D); d++) inside *= spans[d].count;
    return inside;
}

// The cells that an average divides by.
template <int D>
__device__ __forceinline__ i64 cells_counted(const PoolWindows& w, const PoolOptions& options, const Span* spans) {
    i64 counted = 1;
#pragma unroll
    for (int d = 0; d < (D == 0 ? static_cast<int>(w.dims) : D); d++) counted *= options.count_padding ? spans[d].padded : spans[d].count;
    return counted;
}

// The place in x of a cell inside the input, by its number.
__device__ __forceinline__ i64 cell_at(const PoolWindows& w, const Span* spans, i64 plane_start, i64 cell) {
    i64 place = plane_start, step = 1;
    for (int d = static_cast<int>(w.dims) - 1; d >= 0; d--) {
        i64 rest = cell / spans[d].count;
        place += (spans[d].first + (cell - rest * spans[d].count) * w.dilation[d]) * step;
        step *= w.input[d];
        cell = rest;
    }
    return place;
}

__device__ __forceinline__ i64 index_of(const PoolWindows& w, const PoolOptions& options, i64 plane, i64 area, i64 at) {
    if (!options.column_major) return at;
    i64 rest = at - plane * area, index = 0;
    for (int d = static_cast<int>(w.dims) - 1; d >= 0; d--) {
        i64 up = rest / w.input[d];
        index = index * w.input[d] + (rest - up * w.input[d]);
        rest = up;
    }
    return plane * area + index;
}

template <typename F>
__device__ __forceinline__ i64 place_of(const F&) { return 0; }
__device__ __forceinline__ i64 place_of(const MaxFold& f) { return f.at; }

template <int D, typename F>
__device__ __forceinline__ void each_result(const Elements& x, void* y, i64* indices, const PoolWindows& w, const PoolOptions& options) {
    bool small = options.results <= 0x7fffffff;
    i64 area = area_of(w);
    for (i64 result = global_thread(); result < options.results; result += global_threads()) {
        Span spans[D == 0 ? POOL_DIMS : D];
        i64 plane = spans_of<D>(w, result, small, spans);
        F f;
        f.none();
        if (D == 0) {
            i64 count = cells_inside<0>(w, spans);
            for (i64 cell = 0; cell < count; cell++) f.add(x, options, cell_at(w, spans, plane * area, cell));
        } else {
            Cells<D == 0 ? 1 : D, 0, F>::fold(w, spans, plane, x, options, f);
        }
        f.finish(x, options, cells_counted<D>(w, options, spans), y, result);
        if (indices != nullptr) indices[result] = index_of(w, options, plane, area, place_of(f));
    }
}

template <typename F>
__device__ __forceinline__ void each_row(const Elements& x, void* y, i64* indices, const PoolWindows& w, const PoolOptions& options) {
    __shared__ F slots[256];
    bool small = options.results <= 0x7fffffff;
    i64 area = area_of(w);
    F* mine = slots + threadIdx.y * blockDim.x + threadIdx.x;
    int lanes = blockDim.x, lane = threadIdx.x;
    for (i64 first = static_cast<i64>(blockIdx.x) * blockDim.y; first < options.results; first += static_cast<i64>(gridDim.x) * blockDim.y) {
        i64 result = first + threadIdx.y;
        Span spans[POOL_DIMS];
        i64 plane = 0;
        F f;
        f.none();
        if (result < options.results) {
            plane = spans_of<0>(w, result, small, spans);
            i64 count = cells_inside<0>(w, spans);
            for (i64 cell = lane; cell < count; cell += lanes) f.add(x, options, cell_at(w, spans, plane * area, cell));
        }
        *mine = f;
        for (int half = lanes / 2; half > 0; half /= 2) {
            __syncthreads();
            if (lane < half) mine->join(x, mine[half]);
        }
        if (lane == 0 && result < options.results) {
            mine->finish(x, options, cells_counted<0>(w, options, spans), y, result);
            if (indices != nullptr) indices[result] = index_of(w, options, plane, area, place_of(*mine));
        }
        __syncthreads();
    }
}

#if TENON_INTEGERS
#define POOL_BODY(FORM, ...) FORM<__VA_ARGS__ MaxFold>(elements, y, static_cast<i64*>(indices), windows, options)
#else
#define POOL_BODY(FORM, ...)                                                                              \
    if (options.fn == POOL_MAX) {                                                                         \
        FORM<__VA_ARGS__ MaxFold>(elements, y, static_cast<i64*>(indices), windows, options);             \
    } else if (options.fn == POOL_AVERAGE) {                                                              \
        FORM<__VA_ARGS__ AverageFold>(elements, y, static_cast<i64*>(indices), windows, options);         \
    } else {                                                                                              \
        FORM<__VA_ARGS__ NormFold>(elements, y, static_cast<i64*>(indices), windows, options);            \
    }
#endif
#define COMMA ,

#define KERNEL(name, ...)                                                                                                                            \
    extern "C" __global__ void __launch_bounds__(256) TENON_NAME(name)(const void* x, void* y, void* indices, PoolWindows windows, PoolOptions options) { \
        release_successor();                                                                                                                         \
        await_predecessor();                                                                                                                         \
        Elements elements{x, options.type};                                                                                                          \
        POOL_BODY(__VA_ARGS__);                                                                                                                      \
    }                                                                                                                                                \
    TENON_ENTRY(name)

KERNEL(pool1d, each_result, 1 COMMA)
KERNEL(pool2d, each_result, 2 COMMA)
KERNEL(pool3d, each_result, 3 COMMA)
KERNEL(pool, each_result, 0 COMMA)
KERNEL(pool_wide, each_row, )
