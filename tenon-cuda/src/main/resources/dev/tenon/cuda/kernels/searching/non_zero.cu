// indices[d][s] = the index along dim d of the s-th element of x that is not zero, in row-major order; 0 past their number, which goes to
// count. NaN is not zero, and both zeros are.
//
//   non_zero_count  counts[chunk] = how many of the chunk's elements are not zero
//   non_zero_fill   the indices
//
// Launch: 256 threads, a block a chunk, a multiple of 256 elements each; at least one chunk, where x is empty too. The walk has the sizes of
// x. `ignored` are bits that do not count: the sign of floats. Variants: TENON_T an unsigned integer as wide as the elements.
#include "compact.cuh"

typedef TENON_T T;

struct NotZero {
    const T* x;
    T ignored;

    __device__ __forceinline__ bool operator()(i64 i) const { return static_cast<T>(x[i] & static_cast<T>(~ignored)) != 0; }
};

struct WriteIndices {
    i64* indices;
    i64 elements;
    const Walk1& walk;

    __device__ __forceinline__ void operator()(i64 i, bool kept, i64 at) const {
        if (!kept) return;
        u64 rest = static_cast<u64>(i);
        for (int d = static_cast<int>(walk.dims) - 1; d >= 0; d--) {
            u64 size = static_cast<u64>(walk.sizes[d]);
            u64 outer = d == 0 ? 0 : rest / size;
            indices[d * elements + at] = static_cast<i64>(rest - outer * size);
            rest = outer;
        }
    }
};

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(non_zero_count)(const void* x, void* counts, i64 ignored, i64 elements, i64 chunk) {
    release_successor();
    await_predecessor();
    count_kept(NotZero{static_cast<const T*>(x), static_cast<T>(ignored)}, elements, chunk, static_cast<i64*>(counts));
}
TENON_ENTRY(non_zero_count)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(non_zero_fill)(const void* x, const void* counts, void* indices, void* count, i64 ignored, i64 elements, i64 chunks, i64 chunk, Walk1 walk) {
    release_successor();
    await_predecessor();
    i64* to = static_cast<i64*>(indices);
    NotZero keep = {static_cast<const T*>(x), static_cast<T>(ignored)};
    WriteIndices put = {to, elements, walk};
    i64 kept = place_kept(keep, put, elements, chunks, chunk, static_cast<const i64*>(counts));
    for (int d = 0; d < static_cast<int>(walk.dims); d++) {
        for (i64 at = kept + global_thread(); at < elements; at += global_threads()) to[d * elements + at] = 0;
    }
    if (global_thread() == 0) *static_cast<i64*>(count) = kept;
}
TENON_ENTRY(non_zero_fill)
