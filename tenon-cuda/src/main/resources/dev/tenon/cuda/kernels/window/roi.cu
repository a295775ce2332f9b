// Regions of an image pooled to one size.
//
//   roi_align      each bin is the mean of bilinear samples on a regular grid in it, or the largest weighted tap among them
//   max_roi_pool   each bin is the maximum of the whole elements in it, 0 where it has none; NaN wins
//
// x [B, C, H, W] -> y [R, C, rows, columns]. A region of an image that is not there, or without finite places, is reported and gives zeros: its
// number twice, plus 1 where the places are at fault.
// Launch: 256 threads, any number of blocks; a thread a result. Places in double and without contracted products, as the reference rounds them.
// Variants: TENON_T float, double, f16, bf16, of x and of the regions.
#include "binary_fn.cuh"
#include "sample.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr double MOST_SAMPLES = 16384;

// Filled by RoiLowering.java.
struct RoiSpace {
    i64 images;
    i64 channels;
    i64 height;
    i64 width;
    i64 rows;
    i64 columns;
    i64 results;
    i64 samples;
    double scale;
    i64 half_pixel;
    i64 max;
    i64 wide;  // whether the images' numbers are i64, else i32
};

struct RoiBin {
    i64 roi;
    i64 channel;
    i64 row;
    i64 column;
};

__device__ __forceinline__ RoiBin roi_bin(const RoiSpace& s, i64 result) {
    i64 line = result / s.columns;
    i64 plane = line / s.rows;
    i64 roi = plane / s.channels;
    return {roi, plane - roi * s.channels, line - plane * s.rows, result - line * s.columns};
}

// A side of a region: where it starts, how long a bin is, how many samples a bin has; negative for one without finite places.
struct RoiSide {
    double start;
    double bin;
    i64 samples;

    __device__ __forceinline__ double sample(i64 bins, i64 index) const {
        double within = __dmul_rn(static_cast<double>(index) + 0.5, bin) / static_cast<double>(samples);
        return __dadd_rn(__dadd_rn(start, __dmul_rn(static_cast<double>(bins), bin)), within);
    }
};

__device__ __forceinline__ RoiSide roi_side(const RoiSpace& s, const T* rois, i64 roi, int axis, i64 bins) {
    double shift = s.half_pixel ? 0.5 : 0;
    double start = __dadd_rn(__dmul_rn(static_cast<double>(to_compute(rois[roi * 4 + axis])), s.scale), -shift);
    double length = __dadd_rn(__dmul_rn(static_cast<double>(to_compute(rois[roi * 4 + 2 + axis])), s.scale), -shift) - start;
    double bin = (s.half_pixel || !(length < 1) ? length : 1) / static_cast<double>(bins);
    double whole = ceil(bin);
    double count = s.samples > 0 ? static_cast<double>(s.samples) : whole < 0 ? 0 : whole;
    bool good = count <= MOST_SAMPLES && isfinite(start);
    return {start, bin, good ? static_cast<i64>(count) : -1};
}

// One axis of a bilinear sample: two elements and the weight of the second; none outside.
struct RoiBetween {
    i64 low;
    i64 high;
    double weight;
};

__device__ __forceinline__ RoiBetween roi_between(double at, i64 size) {
    if (!(at >= -1) || at > static_cast<double>(size)) return {-1, -1, 0};
    double inside = at > 0 ? at : 0;
    i64 low = static_cast<i64>(inside);
    if (low >= size - 1) return {size - 1, size - 1, 0};
    return {low, low + 1, inside - static_cast<double>(low)};
}

__device__ __forceinline__ A roi_pool(const RoiSpace& s, const T* plane, const RoiSide& height, i64 row, const RoiSide& width, i64 column) {
    A result = A(0);
    bool first = true;
    for (i64 i = 0; i < height.samples; i++) {
        RoiBetween y = roi_between(height.sample(row, i), s.height);
        const T* low = plane + y.low * s.width;
        const T* high = plane + y.high * s.width;
        for (i64 j = 0; j < width.samples; j++) {
            RoiBetween z = roi_between(width.sample(column, j), s.width);
            A a = A(0), b = A(0), c = A(0), d = A(0);
            if (y.low >= 0 && z.low >= 0) {
                a = static_cast<A>((1 - y.weight) * (1 - z.weight)) * to_compute(low[z.low]);
                b = static_cast<A>((1 - y.weight) * z.weight) * to_compute(low[z.high]);
                c = static_cast<A>(y.weight * (1 - z.weight)) * to_compute(high[z.low]);
                d = static_cast<A>(y.weight * z.weight) * to_compute(high[z.high]);
            }
            if (s.max) {
                A largest = greatest(greatest(a, b), greatest(c, d));
                result = first ? largest : greatest(result, largest);
            } else {
                result += a + b + c + d;
            }
            first = false;
        }
    }
    i64 samples = height.samples * width.samples;
    return s.max ? result : result / static_cast<A>(samples < 1 ? 1 : samples);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(roi_align)(const void* x, const void* rois, const void* images, void* y, RoiSpace space, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    for (i64 result = global_thread(); result < space.results; result += global_threads()) {
        RoiBin bin = roi_bin(space, result);
        i64 image = space.wide ? static_cast<const i64*>(images)[bin.roi] : static_cast<const i32*>(images)[bin.roi];
        RoiSide height = roi_side(space, static_cast<const T*>(rois), bin.roi, 1, space.rows);
        RoiSide width = roi_side(space, static_cast<const T*>(rois), bin.roi, 0, space.columns);
        bool there = image >= 0 && image < space.images;
        A value = A(0);
        if (!there || height.samples < 0 || width.samples < 0) {
            report_fault(faults, step, bin.roi * 2 + (there ? 1 : 0));
        } else {
            const T* plane = static_cast<const T*>(x) + (image * space.channels + bin.channel) * space.height * space.width;
            value = roi_pool(space, plane, height, bin.row, width, bin.column);
        }
        static_cast<T*>(y)[result] = From<T>::of(value);
    }
}
TENON_ENTRY(roi_align)

// The elements [from, to) of a bin along one axis.
struct RoiRange {
    i64 from;
    i64 to;
};

__device__ __forceinline__ RoiRange roi_range(const RoiSpace& s, const T* roi, int first, i64 bin, i64 bins, i64 size) {
    double start = floor(__dadd_rn(__dmul_rn(static_cast<double>(to_compute(roi[first])), s.scale), 0.5));
    double end = floor(__dadd_rn(__dmul_rn(static_cast<double>(to_compute(roi[first + 2])), s.scale), 0.5));
    double length = end - start + 1;
    double each = (length < 1 ? 1 : length) / static_cast<double>(bins);
    double low = start + floor(__dmul_rn(static_cast<double>(bin), each));
    double high = start + ceil(__dmul_rn(static_cast<double>(bin + 1), each));
    return {whole_of(bounded(low, 0, static_cast<double>(size))), whole_of(bounded(high, 0, static_cast<double>(size)))};
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(max_roi_pool)(const void* x, const void* rois, void* y, RoiSpace space, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    for (i64 result = global_thread(); result < space.results; result += global_threads()) {
        RoiBin bin = roi_bin(space, result);
        const T* roi = static_cast<const T*>(rois) + bin.roi * 5;
        double image = to_compute(roi[0]);
        A most = A(0);
        if (!(image >= 0 && image < static_cast<double>(space.images))) {
            report_fault(faults, step, bin.roi * 2);
        } else {
            RoiRange vertical = roi_range(space, roi, 2, bin.row, space.rows, space.height);
            RoiRange across = roi_range(space, roi, 1, bin.column, space.columns, space.width);
            const T* plane = static_cast<const T*>(x) + (static_cast<i64>(image) * space.channels + bin.channel) * space.height * space.width;
            if (vertical.from < vertical.to && across.from < across.to) most = A(-TENON_INFINITY);
            for (i64 i = vertical.from; i < vertical.to; i++) {
                for (i64 j = across.from; j < across.to; j++) most = greatest(most, to_compute(plane[i * space.width + j]));
            }
        }
        static_cast<T*>(y)[result] = From<T>::of(most);
    }
}
TENON_ENTRY(max_roi_pool)
