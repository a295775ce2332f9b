// y[b, c, p] = residual + fn(y[b, c, p] + bias[c]): what a library's convolution still lacks. One read, one write, in place.
//
//   conv_finish     element by element
//   conv_finish_vw  16 bytes an access: the positions of a channel are a multiple of that many elements
//
// Launch: 256 threads, any number of blocks. y [planes, positions], planes of channel c = plane mod channels. bias and residual may be null; fn 0 is
// none. Variants: TENON_T one of float, f16, bf16.
#include "conv.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

template <int V>
__device__ __forceinline__ void finish(T* y, i64 elements, i64 positions, i64 channels, const ConvEpilogue<T>& epilogue) {
    await_predecessor();
    i64 each = positions / V;
    for (i64 pack = global_thread(); pack < elements / V; pack += global_threads()) {
        i64 channel = pack / each % channels;
        Pack<T, V> v = load_pack<T, V>(y, pack);
#pragma unroll
        for (int i = 0; i < V; i++) v.at[i] = From<T>::of(epilogue.of(to_compute(v.at[i]), channel, pack * V + i));
        store_pack<T, V>(y, pack, v);
    }
}

#define KERNEL(name, V)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(256) TENON_NAME(name)(                                                       \
        T* y, const T* bias, const T* residual, i64 elements, i64 positions, i64 channels, i32 fn, A p0, A p1) {              \
        finish<V>(y, elements, positions, channels, {bias, residual, fn, p0, p1});                                            \
    }                                                                                                                         \
    TENON_ENTRY(name)

KERNEL(conv_finish, 1)
KERNEL(conv_finish_vw, Widest<T>::value)
