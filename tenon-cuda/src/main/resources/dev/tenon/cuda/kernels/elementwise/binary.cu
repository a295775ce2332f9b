// y = f(a, b) and y = g(f(a, b)), operands broadcast, f and g by number (binary_fn.cuh, unary_fn.cuh). An integer quotient or power that has
// no value is 0 and reported.
//
// Launch: 256 threads, any number of blocks; a, b, y of one type on 16-byte boundaries, y may be an operand of its shape.
// Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type (bool among them) an argument.
#include "elementwise.cuh"
#include "binary_fn.cuh"

#if TENON_INTEGERS
template <bool THEN>
struct F {
    const void* a;
    const void* b;
    void* y;
    Options options;
    void* faults;
    i32 step;

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[2], const Walk2&) {
        i64 u = load_integer(options.type, a, at[0]);
        i64 v = load_integer(options.type, b, at[1]);
        i64 r = 0;
        if (has_no_integer(options.fn, options.type, u, v)) {
            report_fault(faults, step, v);
        } else {
            r = integer_binary_fn(options.fn, options.type, u, v);
        }
        if (THEN) r = integer_unary_fn(options.then, options.type, wrapped(options.type, r), options.p0, options.p1);
        store_integer(options.type, y, position, r);
    }
};
constexpr int V = 1;
#else
typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int V = 16 / sizeof(T);

template <bool THEN>
struct F {
    const void* a;
    const void* b;
    void* y;
    Options options;
    void* faults;
    i32 step;

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[2], const Walk2& walk) {
        Pack<T, W> u = load_some<T, W>(static_cast<const T*>(a), at[0], walk.inner_stride(0));
        Pack<T, W> v = load_some<T, W>(static_cast<const T*>(b), at[1], walk.inner_stride(1));
        A p0 = static_cast<A>(options.p0);
        A p1 = static_cast<A>(options.p1);
        Pack<T, W> r;
#pragma unroll
        for (int i = 0; i < W; i++) {
            A value = binary_fn<A>(options.fn, to_compute(u.at[i]), to_compute(v.at[i]));
            if (THEN) value = unary_fn<A>(options.then, value, p0, p1);
            r.at[i] = From<T>::of(value);
        }
        store_some<T, W>(static_cast<T*>(y), position, r);
    }
};
#endif

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(binary)(const void* a, const void* b, void* y, i64 elements, Walk2 walk, Options options, void* faults, i32 step) {
    elementwise<2, V>(walk, elements, F<false>{a, b, y, options, faults, step});
}
TENON_ENTRY(binary)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(fused_binary_unary)(const void* a, const void* b, void* y, i64 elements, Walk2 walk, Options options, void* faults, i32 step) {
    elementwise<2, V>(walk, elements, F<true>{a, b, y, options, faults, step});
}
TENON_ENTRY(fused_binary_unary)
