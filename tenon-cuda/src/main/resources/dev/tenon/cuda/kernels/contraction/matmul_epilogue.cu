// y[i,j] = residual[i,j] + fn(x[i,j] + bias[j]): what a library's product still lacks. One read, one write; y may be x or residual.
//
//   matmul_epilogue     element by element
//   matmul_epilogue_vw  16 bytes an access: n is a multiple of that many elements
//
// Launch: 256 threads, any number of blocks in x. bias and residual may be null (then n may be all there is: rows = 1); fn 0 leaves the sum as it is.
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_FN the function of unary_fn.cuh, which fn then is, too; -1 for any, looked up
// for each element, which costs several times what memory does.
#include "short_fn.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

// Accesses that a thread has under way: with two, a multiprocessor that is half full still asks for more than memory's delay hides.
constexpr int UNDER_WAY = 2;

__device__ __forceinline__ A function(int fn, A v, A p0, A p1) {
#if TENON_FN < 0
    return fn ? unary_fn_call(fn, v, p0, p1) : v;
#else
    return ShortFnIn<T, A, TENON_FN>::of(v, p0, p1);
#endif
}

#define KERNEL(name, V)                                                                                              \
    extern "C" __global__ void __launch_bounds__(256, 5) TENON_NAME(name)(                                           \
        const T* x, const T* bias, const T* residual, T* y, i64 rows, i64 n, i32 fn, A p0, A p1) {                   \
        await_predecessor();                                                                                         \
        i64 columns = n / V;                                                                                         \
        i64 packs = rows * columns;                                                                                  \
        i64 step = static_cast<i64>(gridDim.x) * 256;                                                                \
        i64 first = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;                                                \
        /* the column goes on by a step's remainder: a division a thread, none a pack */                             \
        i64 column = bias ? first % columns : 0;                                                                     \
        i64 turn = bias ? step % columns : 0;                                                                        \
        for (; first < packs; first += step * UNDER_WAY) {                                                           \
            Pack<T, V> in[UNDER_WAY], add[UNDER_WAY], shift[UNDER_WAY];                                              \
            _Pragma("unroll") for (int u = 0; u < UNDER_WAY; u++) {                                                  \
                i64 at = first + u * step;                                                                           \
                if (at < packs) {                                                                                    \
                    in[u] = load_pack<T, V>(x, at);                                                                  \
                    if (residual) add[u] = load_pack<T, V>(residual, at);                                            \
                    if (bias) shift[u] = load_pack<T, V>(bias, column);                                              \
                }                                                                                                    \
                column += turn;                                                                                      \
                if (column >= columns) column -= columns;                                                            \
            }                                                                                                        \
            _Pragma("unroll") for (int u = 0; u < UNDER_WAY; u++) {                                                  \
                i64 at = first + u * step;                                                                           \
                if (at >= packs) break;                                                                              \
                Pack<T, V> out;                                                                                      \
                _Pragma("unroll") for (int i = 0; i < V; i++) {                                                      \
                    A v = to_compute(in[u].at[i]);                                                                   \
                    if (bias) v += to_compute(shift[u].at[i]);                                                       \
                    v = function(fn, v, p0, p1);                                                                     \
                    if (residual) v += to_compute(add[u].at[i]);                                                     \
                    out.at[i] = From<T>::of(v);                                                                      \
                }                                                                                                    \
                store_pack<T, V>(y, at, out);                                                                        \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    TENON_ENTRY(name)

KERNEL(matmul_epilogue, 1)
KERNEL(matmul_epilogue_vw, Widest<T>::value)
