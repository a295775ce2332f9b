// y[t][i] = data[batch of t][slice of tuple t][i]; a tuple is `tuple` indices, batches have `tuples` each. An index out of range is reported
// and gives zeros.
//
// Launch: 256 threads, any number of blocks; values on boundaries of an element. The walk has a dim for each index of a tuple, data's sizes
// and its strides in slices. Slices are told as few wide elements, up to 16 bytes. Variants: TENON_T an unsigned integer as wide as the
// elements, or uint4.
#include "indices.cuh"

typedef TENON_T T;

template <typename I>
__device__ __forceinline__ void gather_tuples(const T* data, const i64* indices, T* y, I elements, I inner, I tuples, i64 slices, const Walk1& walk, void* faults, i32 step) {
    for (i64 at = global_thread(); at < static_cast<i64>(elements); at += global_threads()) {
        I t = static_cast<I>(at) / inner;
        I i = static_cast<I>(at) - t * inner;
        i64 slice = slice_of(indices + static_cast<i64>(t) * walk.dims, walk, faults, step);
        y[at] = slice < 0 ? T() : data[(static_cast<i64>(t / tuples) * slices + slice) * static_cast<i64>(inner) + static_cast<i64>(i)];
    }
}

// inner: elements of a slice; tuples and slices: of a batch
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(gather_nd)(const void* data, const void* indices, void* y, i64 elements, i64 inner, i64 tuples, i64 slices, Walk1 walk, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    const T* from = static_cast<const T*>(data);
    const i64* places = static_cast<const i64*>(indices);
    T* to = static_cast<T*>(y);
    if (elements <= 0x7fffffff) {
        gather_tuples<u32>(from, places, to, static_cast<u32>(elements), static_cast<u32>(inner), static_cast<u32>(tuples), slices, walk, faults, step);
    } else {
        gather_tuples<u64>(from, places, to, static_cast<u64>(elements), static_cast<u64>(inner), static_cast<u64>(tuples), slices, walk, faults, step);
    }
}
TENON_ENTRY(gather_nd)
