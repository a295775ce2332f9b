// y = x where column - row >= diagonal (upper) or <= diagonal (lower), 0 elsewhere, in each matrix of `rows` × `columns`. Packs of 16 bytes
// where no row cuts one.
//
// Launch: 256 threads, any number of blocks; x and y on 16-byte boundaries, y may be x.
// Variants: TENON_T an unsigned integer as wide as the elements.
#include "walk.cuh"

typedef TENON_T T;

template <int V, typename I>
__device__ __forceinline__ void keep_triangle(const T* x, T* y, i64 elements, I rows, I columns, i32 upper, i64 diagonal) {
    for (i64 pack = global_thread(); pack < elements / V; pack += global_threads()) {
        I position = static_cast<I>(pack * V);
        I row = position / columns;
        i64 above = static_cast<i64>(position - row * columns) - static_cast<i64>(row % rows);
        Pack<T, V> v = load_pack<T, V>(x, pack);
#pragma unroll
        for (int i = 0; i < V; i++) {
            if (upper ? above + i < diagonal : above + i > diagonal) v.at[i] = T();
        }
        store_pack<T, V>(y, pack, v);
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(trilu)(const void* x, void* y, i64 elements, i64 rows, i64 columns, i32 upper, i64 diagonal) {
    release_successor();
    await_predecessor();
    constexpr int V = 16 / sizeof(T);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    bool small = elements <= 0x7fffffff;
    if (columns % V != 0) {
        if (small) {
            keep_triangle<1, u32>(from, to, elements, static_cast<u32>(rows), static_cast<u32>(columns), upper, diagonal);
        } else {
            keep_triangle<1, u64>(from, to, elements, static_cast<u64>(rows), static_cast<u64>(columns), upper, diagonal);
        }
    } else if (small) {
        keep_triangle<V, u32>(from, to, elements, static_cast<u32>(rows), static_cast<u32>(columns), upper, diagonal);
    } else {
        keep_triangle<V, u64>(from, to, elements, static_cast<u64>(rows), static_cast<u64>(columns), upper, diagonal);
    }
}
TENON_ENTRY(trilu)
