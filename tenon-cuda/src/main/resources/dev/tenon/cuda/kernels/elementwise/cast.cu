// y = x in another type: to floats rounded once to nearest even (integers through double), floats to integers truncated and saturated with NaN
// 0, integers to integers wrapped, to booleans whether it is not 0.
//
// Launch: 256 threads, any number of blocks; x and y on 16-byte boundaries, y may be x where both are equally wide.
// Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type an argument. The target is an argument.
#include "elementwise.cuh"

#if TENON_INTEGERS
struct F {
    const void* x;
    void* y;
    Options options;

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[1], const Walk1&) {
        i64 v = load_integer(options.type, x, at[0]);
        if (options.to > TYPE_BF16) {
            store_integer(options.to, y, position, v);
            return;
        }
        double number = integer_to_double(options.type, v);
        switch (options.to) {
            case TYPE_F64: static_cast<double*>(y)[position] = number; break;
            case TYPE_F32: static_cast<float*>(y)[position] = rounded_to<float>(number); break;
            case TYPE_F16: static_cast<f16*>(y)[position] = rounded_to<f16>(number); break;
            default: static_cast<bf16*>(y)[position] = rounded_to<bf16>(number); break;
        }
    }
};
constexpr int V = 1;
#else
typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int V = 16 / sizeof(T);

struct F {
    const T* x;
    void* y;
    Options options;

    template <typename U, int W>
    __device__ __forceinline__ void floats(i64 position, const Pack<T, W>& v) {
        Pack<U, W> r;
#pragma unroll
        for (int i = 0; i < W; i++) r.at[i] = narrowed<U>(to_compute(v.at[i]));
        store_some<U, W>(static_cast<U*>(y), position, r);
    }

    template <int W>
    __device__ __forceinline__ void run(i64 position, const i64 (&at)[1], const Walk1& walk) {
        Pack<T, W> v = load_some<T, W>(x, at[0], walk.inner_stride(0));
        switch (options.to) {
            case TYPE_F64: floats<double, W>(position, v); break;
            case TYPE_F32: floats<float, W>(position, v); break;
            case TYPE_F16: floats<f16, W>(position, v); break;
            case TYPE_BF16: floats<bf16, W>(position, v); break;
            default:  // large ones are compiled as regions, whose stores are packs
#pragma unroll
                for (int i = 0; i < W; i++) store_integer(options.to, y, position + i, float_to_integer(options.to, to_compute(v.at[i])));
        }
    }
};
#endif

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(cast)(const void* x, void* y, i64 elements, Walk1 walk, Options options, void* faults, i32 step) {
#if TENON_INTEGERS
    elementwise<1, V>(walk, elements, F{x, y, options});
#else
    elementwise<1, V>(walk, elements, F{static_cast<const T*>(x), y, options});
#endif
}
TENON_ENTRY(cast)
