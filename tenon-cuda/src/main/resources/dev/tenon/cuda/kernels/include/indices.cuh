// Indices that name places of data: 32 or 64 bits wide, below 0 from the end.
#pragma once
#include "walk.cuh"

__device__ __forceinline__ i64 index_at(const void* indices, i32 wide, i64 at) {
    return wide ? static_cast<const i64*>(indices)[at] : static_cast<const i32*>(indices)[at];
}

// The index from the front, or -1 out of range.
__device__ __forceinline__ i64 from_front(i64 index, i64 n) {
    i64 front = index < 0 ? index + n : index;
    return front < 0 || front >= n ? -1 : front;
}

// Where the slice of a tuple lies, in slices; -1, and a report, where one of its indices is out of range. The walk has a dim for each index
// of a tuple, data's sizes and its strides in slices.
__device__ __forceinline__ i64 slice_of(const i64* tuple, const Walk1& walk, void* faults, i32 step) {
    i64 at = 0;
    for (int d = 0; d < static_cast<int>(walk.dims); d++) {
        i64 front = from_front(tuple[d], walk.sizes[d]);
        if (front < 0) {
            report_fault(faults, step, tuple[d]);
            return -1;
        }
        at += front * walk.strides[0][d];
    }
    return at;
}
