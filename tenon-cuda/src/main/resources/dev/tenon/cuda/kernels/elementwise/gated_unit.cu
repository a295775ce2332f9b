// y[i,j] = fn(x[i,j]) x[i,n+j], or with `second` x[i,j] fn(x[i,n+j]): gated linear units. x [rows, 2 n], y [rows, n], row-major.
// Values of fn are rounded to T.
//
//   gated_unit     element by element
//   gated_unit_vw  16 bytes an access: n is a multiple of that many elements
//
// Launch: 256 threads, any number of blocks in x. No shared memory.
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_FN the function of unary_fn.cuh, which fn then is, too; -1 for any, looked up
// for each element.
#include "short_fn.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

// Accesses that a thread has under way, of each half.
constexpr int UNDER_WAY = 2;

__device__ __forceinline__ A function(int fn, A v, A p0, A p1) {
#if TENON_FN < 0
    return unary_fn_call(fn, v, p0, p1);
#else
    return ShortFnIn<T, A, TENON_FN>::of(v, p0, p1);
#endif
}

#define KERNEL(name, V)                                                                                              \
    extern "C" __global__ void __launch_bounds__(256, 4) TENON_NAME(name)(                                           \
        const T* x, T* y, i64 rows, i64 n, i32 second, i32 fn, A p0, A p1) {                                         \
        await_predecessor();                                                                                         \
        i64 columns = n / V;                                                                                         \
        i64 packs = rows * columns;                                                                                  \
        i64 step = static_cast<i64>(gridDim.x) * 256;                                                                \
        i64 at = static_cast<i64>(blockIdx.x) * 256 + threadIdx.x;                                                   \
        /* row and column go on by a step's quotient and remainder: a division a thread, none a pack */              \
        i64 row = at / columns;                                                                                      \
        i64 column = at - row * columns;                                                                             \
        i64 down = step / columns;                                                                                   \
        i64 turn = step - down * columns;                                                                            \
        for (; at < packs; at += step * UNDER_WAY) {                                                                 \
            Pack<T, V> a[UNDER_WAY], b[UNDER_WAY];                                                                   \
            _Pragma("unroll") for (int u = 0; u < UNDER_WAY; u++) {                                                  \
                if (at + u * step < packs) {                                                                         \
                    i64 first = 2 * row * columns + column;                                                          \
                    a[u] = load_pack<T, V>(x, second ? first + columns : first);                                     \
                    b[u] = load_pack<T, V>(x, second ? first : first + columns);                                     \
                }                                                                                                    \
                row += down;                                                                                         \
                column += turn;                                                                                      \
                if (column >= columns) {                                                                             \
                    column -= columns;                                                                               \
                    row++;                                                                                           \
                }                                                                                                    \
            }                                                                                                        \
            _Pragma("unroll") for (int u = 0; u < UNDER_WAY; u++) {                                                  \
                if (at + u * step >= packs) break;                                                                   \
                Pack<T, V> out;                                                                                      \
                _Pragma("unroll") for (int i = 0; i < V; i++) {                                                      \
                    T gate = From<T>::of(function(fn, to_compute(a[u].at[i]), p0, p1));                              \
                    out.at[i] = From<T>::of(to_compute(gate) * to_compute(b[u].at[i]));                              \
                }                                                                                                    \
                store_pack<T, V>(y, at + u * step, out);                                                             \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    TENON_ENTRY(name)

KERNEL(gated_unit, 1)
KERNEL(gated_unit_vw, Widest<T>::value)
