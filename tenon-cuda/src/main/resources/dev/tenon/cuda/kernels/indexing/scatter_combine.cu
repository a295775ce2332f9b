// y[slice] = fn(y[slice], updates[i]) for all updates i of a slice, in index order, so that results do not depend on timing: kept in the
// compute type on the way. The thread of a slice's first update takes them all, for its element of the slice.
//
//   scatter_keys     keys[i] = destinations[i], in 32 bits or 64, for a sort
//   scatter_sorted   after a stable sort by slice: keys, and places, which update each is
//   scatter_plain    unsorted: compares each update with all others; for few
//
// Launch: 256 threads, any number of blocks; values on boundaries of an element. `fn` is a number of binary_fn.cuh; destinations of `slices`
// go nowhere. Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type an argument.
#include "binary_fn.cuh"
#include "walk.cuh"

#if TENON_INTEGERS
struct Element {
    i64 v;

    __device__ __forceinline__ Element(int type, const void* p, i64 at) : v(load_integer(type, p, at)) {}
    __device__ __forceinline__ void join(int fn, int type, const void* p, i64 at) { v = integer_binary_fn(fn, type, v, load_integer(type, p, at)); }
    __device__ __forceinline__ void store(int type, void* p, i64 at) const { store_integer(type, p, at, v); }
};
#else
typedef TENON_T T;
typedef Compute<T>::type A;

struct Element {
    A v;

    __device__ __forceinline__ Element(int, const void* p, i64 at) : v(to_compute(static_cast<const T*>(p)[at])) {}
    __device__ __forceinline__ void join(int fn, int, const void* p, i64 at) {
        A u = to_compute(static_cast<const T*>(p)[at]);
        switch (fn) {
            case FN_ADD: v = v + u; break;
            case FN_MUL: v = v * u; break;
            case FN_MAX: v = greatest(v, u); break;
            default: v = least(v, u); break;
        }
    }
    __device__ __forceinline__ void store(int, void* p, i64 at) const { static_cast<T*>(p)[at] = From<T>::of(v); }
};
#endif

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_keys)(const void* destinations, void* keys, i32 wide, i64 updates) {
    release_successor();
    await_predecessor();
    const i64* slices = static_cast<const i64*>(destinations);
    for (i64 i = global_thread(); i < updates; i += global_threads()) {
        if (wide) {
            static_cast<u64*>(keys)[i] = static_cast<u64>(slices[i]);
        } else {
            static_cast<u32*>(keys)[i] = static_cast<u32>(slices[i]);
        }
    }
}
TENON_ENTRY(scatter_keys)

template <typename K>
__device__ __forceinline__ void combine_sorted(const K* keys, const u32* places, const void* updates, void* y, i32 fn, i32 type, i64 count, i64 inner, i64 slices) {
    for (i64 at = global_thread(); at < count * inner; at += global_threads()) {
        i64 first = at / inner;
        i64 i = at - first * inner;
        K key = keys[first];
        if (static_cast<i64>(key) >= slices || (first > 0 && keys[first - 1] == key)) continue;
        i64 to = static_cast<i64>(key) * inner + i;
        Element element(type, y, to);
        for (i64 next = first; next < count && keys[next] == key; next++) element.join(fn, type, updates, places[next] * inner + i);
        element.store(type, y, to);
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_sorted)(const void* keys, const void* places, const void* updates, void* y, i32 wide, i32 fn, i32 type, i64 count, i64 inner, i64 slices) {
    release_successor();
    await_predecessor();
    const u32* from = static_cast<const u32*>(places);
    if (wide) {
        combine_sorted(static_cast<const u64*>(keys), from, updates, y, fn, type, count, inner, slices);
    } else {
        combine_sorted(static_cast<const u32*>(keys), from, updates, y, fn, type, count, inner, slices);
    }
}
TENON_ENTRY(scatter_sorted)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_plain)(const void* destinations, const void* updates, void* y, i32 fn, i32 type, i64 count, i64 inner, i64 slices) {
    release_successor();
    await_predecessor();
    const i64* slice = static_cast<const i64*>(destinations);
    for (i64 at = global_thread(); at < count * inner; at += global_threads()) {
        i64 first = at / inner;
        i64 i = at - first * inner;
        i64 mine = slice[first];
        bool leads = mine < slices;
        for (i64 before = 0; before < first && leads; before++) leads = slice[before] != mine;
        if (!leads) continue;
        i64 to = mine * inner + i;
        Element element(type, y, to);
        for (i64 next = first; next < count; next++) {
            if (slice[next] == mine) element.join(fn, type, updates, next * inner + i);
        }
        element.store(type, y, to);
    }
}
TENON_ENTRY(scatter_plain)
