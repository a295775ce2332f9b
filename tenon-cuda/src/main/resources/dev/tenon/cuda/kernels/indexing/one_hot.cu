// y[o][d][i] = values[d == indices[o][i] ? 1 : 0]; indices below 0 count from the end, those out of range are nowhere. Packs of 16 bytes
// where inner is 1 and no lane cuts one.
//
// Launch: 256 threads, any number of blocks; y on a 16-byte boundary. Variants: TENON_T an unsigned integer as wide as the elements.
#include "indices.cuh"

typedef TENON_T T;

template <int V, typename I>
__device__ __forceinline__ void one_hot_all(const void* indices, i32 wide, const T* values, T* y, i64 elements, I depth, I inner) {
    T off = values[0];
    T on = values[1];
    for (i64 pack = global_thread(); pack < elements / V; pack += global_threads()) {
        I position = static_cast<I>(pack * V);
        I row = position / inner;
        I i = position - row * inner;
        I o = row / depth;
        i64 d = static_cast<i64>(row - o * depth);
        i64 hot = from_front(index_at(indices, wide, static_cast<i64>(o * inner + i)), static_cast<i64>(depth));
        Pack<T, V> v;
#pragma unroll
        for (int k = 0; k < V; k++) v.at[k] = d + k == hot ? on : off;
        store_pack<T, V>(y, pack, v);
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(one_hot)(const void* indices, const void* values, void* y, i32 wide, i64 elements, i64 depth, i64 inner) {
    release_successor();
    await_predecessor();
    constexpr int V = 16 / sizeof(T);
    const T* two = static_cast<const T*>(values);
    T* to = static_cast<T*>(y);
    bool packed = inner == 1 && depth % V == 0;
    if (elements > 0x7fffffff) {
        if (packed) {
            one_hot_all<V, u64>(indices, wide, two, to, elements, static_cast<u64>(depth), static_cast<u64>(inner));
        } else {
            one_hot_all<1, u64>(indices, wide, two, to, elements, static_cast<u64>(depth), static_cast<u64>(inner));
        }
    } else if (packed) {
        one_hot_all<V, u32>(indices, wide, two, to, elements, static_cast<u32>(depth), static_cast<u32>(inner));
    } else {
        one_hot_all<1, u32>(indices, wide, two, to, elements, static_cast<u32>(depth), static_cast<u32>(inner));
    }
}
TENON_ENTRY(one_hot)
