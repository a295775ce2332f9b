// y[slice] += updates[i] for all updates i of a slice, by atomic additions in any order: sums depend on timing in their last digits. Additions
// of f32 may take subnormal numbers as 0.
//
// Launch: 256 threads, any number of blocks, an element of an update a thread; values on boundaries of an element. Destinations of `slices` go
// nowhere. Variants: TENON_T float, double.
#include "walk.cuh"

typedef TENON_T T;

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_add)(const i64* destinations, const T* updates, T* y, i64 count, i64 inner, i64 slices) {
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < count * inner; at += global_threads()) {
        i64 update = at / inner;
        i64 slice = destinations[update];
        if (slice < slices) atomicAdd(y + slice * inner + (at - update * inner), updates[at]);
    }
}
TENON_ENTRY(scatter_add)
