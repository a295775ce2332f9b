// columns[b, c · cells + cell, p] = mask · x[b, c] sampled bilinearly, zeros outside, at the place that the cell has in the window at p, moved by
// its offset: what the weights of a deformable convolution are multiplied by.
//
// Launch: 256 threads, any number of blocks; a thread a cell at a place and some channels of the cell's group. Places in double.
// Variants: TENON_T float, double, f16, bf16.
#include "sample.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

// Two numbers each: along the height, along the width. Filled by SampleLowering.java.
struct DeformSpace {
    i64 input[2];
    i64 kernel[2];
    i64 stride[2];
    i64 before[2];
    i64 dilation[2];
    i64 groups;
    i64 across;     // places along the width
    Chunks chunks;  // channels are those of a group, planes the cells of all groups and images
};

__device__ __forceinline__ double deform_place(const DeformSpace& s, int axis, i64 place, i64 cell, double offset) {
    return static_cast<double>(place * s.stride[axis] - s.before[axis] + cell * s.dilation[axis]) + offset;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(deform_columns)(const void* x, const void* offsets, const void* mask, void* columns, DeformSpace space) {
    release_successor();
    await_predecessor();
    const T* moves = static_cast<const T*>(offsets);
    i64 places = space.chunks.places, channels = space.chunks.channels;
    i64 cells = space.kernel[0] * space.kernel[1];
    i64 area = space.input[0] * space.input[1];
    i64 count = chunk_count(space.chunks);
    for (i64 at = global_thread(); at < count; at += global_threads()) {
        Chunk chunk = chunk_of(space.chunks, at);
        i64 unit = chunk.plane, place = chunk.place;
        i64 group = unit / cells;  // of all images
        i64 cell = unit - group * cells;
        i64 line = place / space.across;
        double y = deform_place(space, 0, line, cell / space.kernel[1], to_compute(moves[2 * unit * places + place]));
        double z = deform_place(space, 1, place - line * space.across, cell % space.kernel[1], to_compute(moves[(2 * unit + 1) * places + place]));
        A factor = mask == nullptr ? A(1) : to_compute(static_cast<const T*>(mask)[unit * places + place]);
        double top = floor(y), left = floor(z);
        i64 offset[4];
        A weight[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            double row = top + (i >> 1), column = left + (i & 1);
            bool inside = row >= 0 && row < static_cast<double>(space.input[0]) && column >= 0 && column < static_cast<double>(space.input[1]);
            offset[i] = inside ? static_cast<i64>(row) * space.input[1] + static_cast<i64>(column) : -1;
            weight[i] = static_cast<A>((1 - fabs(y - row)) * (1 - fabs(z - column)));
        }
        A start = y + z != y + z ? A(TENON_NAN) : A(0);
        i64 first = group * channels;
        for (i64 channel = first + chunk.from; channel < first + chunk.to; channel++) {
            const T* plane = static_cast<const T*>(x) + channel * area;
            A sum = start;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                if (offset[i] >= 0) sum += weight[i] * to_compute(plane[offset[i]]);
            }
            static_cast<T*>(columns)[(channel * cells + cell) * places + place] = From<T>::of(factor * sum);
        }
    }
}
TENON_ENTRY(deform_columns)
