// y = c ? a : b, operands broadcast; elements are moved as bits.
//
// Launch: 256 threads, any number of blocks; c booleans, a, b, y of the variant's width, all on 16-byte boundaries, y may be an operand of
// its shape and width. Variants: TENON_T an unsigned integer as wide as the elements.
#include "elementwise.cuh"

typedef TENON_T T;
constexpr int V = 16 / sizeof(T);

struct F {
    const u8* c;
    const T* a;
    const T* b;
    T* y;

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[3], const Walk3& walk) {
        Pack<u8, W> when = load_some<u8, W>(c, at[0], walk.inner_stride(0));
        Pack<T, W> u = load_some<T, W>(a, at[1], walk.inner_stride(1));
        Pack<T, W> v = load_some<T, W>(b, at[2], walk.inner_stride(2));
        Pack<T, W> r;
#pragma unroll
        for (int i = 0; i < W; i++) r.at[i] = when.at[i] != 0 ? u.at[i] : v.at[i];
        store_some<T, W>(y, position, r);
    }
};

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(where_select)(const void* c, const void* a, const void* b, void* y, i64 elements, Walk3 walk, Options options, void* faults, i32 step) {
    elementwise<3, V>(walk, elements, F{static_cast<const u8*>(c), static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(y)});
}
TENON_ENTRY(where_select)
