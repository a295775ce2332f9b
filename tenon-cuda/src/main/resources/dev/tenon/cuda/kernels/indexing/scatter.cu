// Where updates go: destinations[i] = the number of the slice of data that update i names, or `slices` where an index is out of range, which
// is reported. Then y, a copy of data, takes an update where it is the last for its slice.
//
//   scatter_elements_places  a slice is an element; the walk goes over the indices, its operand is data with 0 along the axis
//   scatter_tuples_places    the walk has a dim for each index of a tuple, data's sizes and its strides in slices
//   scatter_claim            last[slice] = the highest number of an update for it, and 1
//   scatter_write            y[slice] = updates[i] where it is that one: width variants
//
// Both of the first also zero `last`, where it is not null, for the slices that updates name: others are never read.
// Launch: 256 threads, any number of blocks; values on boundaries of an element. Slices are told as few wide elements, up to 16 bytes. Fewer
// than 2^32 - 1 updates. Variants: TENON_T an unsigned integer as wide as the elements, or uint4; only scatter_write depends on it.
#include "indices.cuh"

typedef TENON_T T;

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_elements_places)(const void* indices, void* destinations, void* last, i32 wide, i64 updates, i64 n, i64 stride, i64 slices, Walk1 walk, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    bool small = updates <= 0x7fffffff;
    for (i64 i = global_thread(); i < updates; i += global_threads()) {
        i64 at[1];
        locate(walk, i, small, at);
        i64 index = index_at(indices, wide, i);
        i64 front = from_front(index, n);
        if (front < 0) report_fault(faults, step, index);
        i64 slice = front < 0 ? slices : at[0] + front * stride;
        static_cast<i64*>(destinations)[i] = slice;
        if (last != nullptr && front >= 0) atomicExch(static_cast<u32*>(last) + slice, 0u);
    }
}
TENON_ENTRY(scatter_elements_places)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_tuples_places)(const void* indices, void* destinations, void* last, i64 updates, i64 slices, Walk1 walk, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    for (i64 i = global_thread(); i < updates; i += global_threads()) {
        i64 slice = slice_of(static_cast<const i64*>(indices) + i * walk.dims, walk, faults, step);
        static_cast<i64*>(destinations)[i] = slice < 0 ? slices : slice;
        if (last != nullptr && slice >= 0) atomicExch(static_cast<u32*>(last) + slice, 0u);
    }
}
TENON_ENTRY(scatter_tuples_places)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_claim)(const void* destinations, void* last, i64 updates, i64 slices) {
    release_successor();
    await_predecessor();
    for (i64 i = global_thread(); i < updates; i += global_threads()) {
        i64 slice = static_cast<const i64*>(destinations)[i];
        if (slice < slices) atomicMax(static_cast<u32*>(last) + slice, static_cast<u32>(i) + 1);
    }
}
TENON_ENTRY(scatter_claim)

template <typename I>
__device__ __forceinline__ void write_last(const i64* destinations, const u32* last, const T* updates, T* y, I elements, I inner, i64 slices) {
    for (i64 at = global_thread(); at < static_cast<i64>(elements); at += global_threads()) {
        I update = static_cast<I>(at) / inner;
        I i = static_cast<I>(at) - update * inner;
        i64 slice = destinations[update];
        if (slice < slices && last[slice] == static_cast<u32>(update) + 1) y[slice * static_cast<i64>(inner) + static_cast<i64>(i)] = updates[at];
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_write)(const void* destinations, const void* last, const void* updates, void* y, i64 elements, i64 inner, i64 slices) {
    release_successor();
    await_predecessor();
    const i64* to = static_cast<const i64*>(destinations);
    const u32* claims = static_cast<const u32*>(last);
    if (elements <= 0x7fffffff) {
        write_last<u32>(to, claims, static_cast<const T*>(updates), static_cast<T*>(y), static_cast<u32>(elements), static_cast<u32>(inner), slices);
    } else {
        write_last<u64>(to, claims, static_cast<const T*>(updates), static_cast<T*>(y), static_cast<u64>(elements), static_cast<u64>(inner), slices);
    }
}
TENON_ENTRY(scatter_write)
