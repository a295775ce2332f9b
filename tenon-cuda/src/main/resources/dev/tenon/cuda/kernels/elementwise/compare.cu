// y = a < b and its kin as booleans, operands broadcast, the comparison by number (binary_fn.cuh). NaN is unequal to everything.
//
// Launch: 256 threads, any number of blocks; a and b of one type, all on 16-byte boundaries, y may be an operand of its shape and width.
// Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type (bool among them) an argument.
#include "elementwise.cuh"
#include "binary_fn.cuh"

#if TENON_INTEGERS
typedef u8 T;
constexpr int V = 1;
#else
typedef TENON_T T;
constexpr int V = 16 / sizeof(T);
#endif

struct F {
    const void* a;
    const void* b;
    u8* y;
    Options options;

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[2], const Walk2& walk) {
#if TENON_INTEGERS
        i64 u = load_integer(options.type, a, at[0]);
        i64 v = load_integer(options.type, b, at[1]);
        y[position] = integer_compare_fn(options.fn, options.type, u, v);
#else
        Pack<T, W> u = load_some<T, W>(static_cast<const T*>(a), at[0], walk.inner_stride(0));
        Pack<T, W> v = load_some<T, W>(static_cast<const T*>(b), at[1], walk.inner_stride(1));
        Pack<u8, W> r;
#pragma unroll
        for (int i = 0; i < W; i++) r.at[i] = compare_fn(options.fn, to_compute(u.at[i]), to_compute(v.at[i]));
        store_some<u8, W>(y, position, r);
#endif
    }
};

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(compare)(const void* a, const void* b, void* y, i64 elements, Walk2 walk, Options options, void* faults, i32 step) {
    elementwise<2, V>(walk, elements, F{a, b, static_cast<u8*>(y), options});
}
TENON_ENTRY(compare)
