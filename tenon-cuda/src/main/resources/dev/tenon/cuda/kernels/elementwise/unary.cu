// y = f(x), f by number (unary_fn.cuh; for integers those of binary_fn.cuh).
//
// Launch: 256 threads, any number of blocks; x and y of one type on 16-byte boundaries, y may be x. is_nan and is_inf give booleans: to is
// then TYPE_BOOL. Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type an argument.
#include "elementwise.cuh"
#include "binary_fn.cuh"

#if TENON_INTEGERS
struct F {
    const void* x;
    void* y;
    Options options;

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[1], const Walk1&) {
        i64 v = load_integer(options.type, x, at[0]);
        store_integer(options.type, y, position, integer_unary_fn(options.fn, options.type, v, options.p0, options.p1));
    }
};
constexpr int V = 1;
#else
typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int V = 16 / sizeof(T);

struct F {
    const void* x;
    void* y;
    Options options;

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[1], const Walk1& walk) {
        Pack<T, W> v = load_some<T, W>(static_cast<const T*>(x), at[0], walk.inner_stride(0));
        A p0 = static_cast<A>(options.p0);
        A p1 = static_cast<A>(options.p1);
        Pack<T, W> r;
        Pack<u8, W> flags;
#pragma unroll
        for (int i = 0; i < W; i++) {
            A value = unary_fn<A>(options.fn, to_compute(v.at[i]), p0, p1);
            r.at[i] = From<T>::of(value);
            flags.at[i] = value != 0;
        }
        if (options.to == TYPE_BOOL) {
            store_some<u8, W>(static_cast<u8*>(y), position, flags);
        } else {
            store_some<T, W>(static_cast<T*>(y), position, r);
        }
    }
};
#endif

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(unary)(const void* x, void* y, i64 elements, Walk1 walk, Options options, void* faults, i32 step) {
    elementwise<1, V>(walk, elements, F{x, y, options});
}
TENON_ENTRY(unary)
