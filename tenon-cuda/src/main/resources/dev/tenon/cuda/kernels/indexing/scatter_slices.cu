// y[slice] = fn(data[slice], updates[i]) for all updates i of a slice, in index order, so that results do not depend on timing: the copy of data
// and the updates in one pass, after a stable sort by slice. Kept in the compute type on the way.
//
//   scatter_starts   starts[slice] = 1 + the number of its first update among the sorted ones; the zeros before are scatter_clear's
//   scatter_clear    starts = 0
//   scatter_slices   a warp takes AHEAD packs a lane of a slice; it reads the slice's places together, and the updates of several then wait for
//                    memory at the same time
//
// Launch: 256 threads, any number of blocks. `keys` in 32 bits or 64 (wide), ascending; `fn` is a number of binary_fn.cuh; inner, the elements
// of a slice, is a multiple of 16 bytes, values on such boundaries. y may not overlap data. Variants: TENON_T float, double, f16, bf16.
#include "binary_fn.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int V = Widest<T>::value;
constexpr int AHEAD = 4;

__device__ __forceinline__ i64 key_at(const void* keys, i32 wide, i64 i) {
    return wide ? static_cast<i64>(static_cast<const u64*>(keys)[i]) : static_cast<i64>(static_cast<const u32*>(keys)[i]);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_clear)(u32* starts, i64 slices) {
    release_successor();
    await_predecessor();
    for (i64 i = global_thread(); i < slices; i += global_threads()) starts[i] = 0;
}
TENON_ENTRY(scatter_clear)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_starts)(const void* keys, u32* starts, i32 wide, i64 count, i64 slices) {
    release_successor();
    await_predecessor();
    for (i64 i = global_thread(); i < count; i += global_threads()) {
        i64 key = key_at(keys, wide, i);
        if (key < slices && (i == 0 || key_at(keys, wide, i - 1) != key)) starts[key] = static_cast<u32>(i) + 1;
    }
}
TENON_ENTRY(scatter_starts)

__device__ __forceinline__ A join(i32 fn, A a, A b) {
    switch (fn) {
        case FN_ADD: return a + b;
        case FN_MUL: return a * b;
        case FN_MAX: return greatest(a, b);
        default: return least(a, b);
    }
}

// Joins `updates`, slices of them by number in `places`, to the values of a lane; FN is the function where it is known, else -1.
template <int FN>
__device__ __forceinline__ void join_all(A (&v)[AHEAD][V], const T* updates, u32 places, int many, i64 inner, i64 first, i64 packs, i32 fn) {
    for (int u = 0; u < many; u++) {
        const T* from = updates + static_cast<i64>(__shfl_sync(0xffffffffu, places, u)) * inner;
        Pack<T, V> some[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + 32 * a < packs) some[a] = load_pack<T, V>(from, first + 32 * a);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + 32 * a < packs) {
#pragma unroll
                for (int i = 0; i < V; i++) v[a][i] = join(FN < 0 ? fn : FN, v[a][i], to_compute(some[a].at[i]));
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scatter_slices)(const T* data, const void* keys, const u32* places, const u32* starts, const T* updates, T* y, i32 wide, i32 fn, i64 count, i64 inner, i64 slices) {
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32;
    i64 packs = inner / V;
    i64 groups = (packs + 32 * AHEAD - 1) / (32 * AHEAD);  // of a slice
    for (i64 work = global_thread() / 32; work < slices * groups; work += global_threads() / 32) {
        i64 slice = work / groups;
        i64 first = (work - slice * groups) * (32 * AHEAD) + lane;
        u32 start = starts[slice];
        const T* from = data + slice * inner;
        A v[AHEAD][V];
        Pack<T, V> some[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + 32 * a < packs) some[a] = load_pack<T, V>(from, first + 32 * a);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + 32 * a < packs) {
#pragma unroll
                for (int i = 0; i < V; i++) v[a][i] = to_compute(some[a].at[i]);
            }
        }
        int many = start > 0 ? 32 : 0;
        for (i64 next = static_cast<i64>(start) - 1; many == 32; next += 32) {
            bool mine = next + lane < count && key_at(keys, wide, next + lane) == slice;
            u32 place = mine ? places[next + lane] : 0;
            many = __popc(__ballot_sync(0xffffffffu, mine));
            if (fn == FN_ADD) {
                join_all<FN_ADD>(v, updates, place, many, inner, first, packs, fn);
            } else {
                join_all<-1>(v, updates, place, many, inner, first, packs, fn);
            }
        }
        T* to = y + slice * inner;
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (first + 32 * a < packs) {
                Pack<T, V> result;
#pragma unroll
                for (int i = 0; i < V; i++) result.at[i] = From<T>::of(v[a][i]);
                store_pack<T, V>(to, first + 32 * a, result);
            }
        }
    }
}
TENON_ENTRY(scatter_slices)
