// y[i,j] = residual[i,j] + fn(x[i,j] + bias[j]): what a library's product still lacks. One read, one write; y may be x or residual.
//
//   matmul_epilogue     element by element
//   matmul_epilogue_vw  16 bytes of y an access: n is a multiple of that many elements, addresses of their bytes in x and y
//
// Launch: 256 threads, any number of blocks in x. bias and residual may be null (then n may be all there is: rows = 1); fn 0 is none.
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_X the type of x: T, or float for halves, so that a sum is rounded once.
#include "pack.cuh"
#include "unary_fn.cuh"

typedef TENON_T T;
typedef TENON_X X;
typedef Compute<T>::type A;

#define KERNEL(name, V)                                                                                              \
    extern "C" __global__ void __launch_bounds__(256) TENON_NAME(name)(                                              \
        const X* x, const T* bias, const T* residual, T* y, i64 rows, i64 n, i32 fn, A p0, A p1) {                   \
        await_predecessor();                                                                                         \
        i64 columns = n / V;                                                                                         \
        i64 packs = rows * columns;                                                                                  \
        i64 step = static_cast<i64>(gridDim.x) * 256;                                                                \
        i64 at = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;                                                   \
        /* the column goes on by a step's remainder: a division a thread, none a pack */                             \
        i64 column = bias ? at % columns : 0;                                                                        \
        i64 turn = bias ? step % columns : 0;                                                                        \
        for (; at < packs; at += step) {                                                                             \
            Pack<X, V> in = load_pack<X, V>(x, at);                                                                  \
            Pack<T, V> add, shift, out;                                                                              \
            if (residual) add = load_pack<T, V>(residual, at);                                                       \
            if (bias) shift = load_pack<T, V>(bias, column);                                                         \
            _Pragma("unroll") for (int i = 0; i < V; i++) {                                                          \
                A v = to_compute(in.at[i]);                                                                          \
                if (bias) v += to_compute(shift.at[i]);                                                              \
                if (fn) v = unary_fn_call(fn, v, p0, p1);                                                            \
                if (residual) v += to_compute(add.at[i]);                                                            \
                out.at[i] = From<T>::of(v);                                                                          \
            }                                                                                                        \
            store_pack<T, V>(y, at, out);                                                                            \
            column += turn;                                                                                          \
            if (column >= columns) column -= columns;                                                                \
        }                                                                                                            \
    }                                                                                                                \
    TENON_ENTRY(name)

KERNEL(matmul_epilogue, 1)
KERNEL(matmul_epilogue_vw, Widest<T>::value)
