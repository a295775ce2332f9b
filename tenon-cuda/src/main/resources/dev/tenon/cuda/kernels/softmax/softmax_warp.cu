// y = e^(x - max) / sum e^(x - max) along rows of at most 32·V·R elements, one warp a row (row_warp.cuh).
//
//   *_v1rR   element by element: rows that do not lie on 16-byte boundaries
//   *_v16rR  16 bytes an access
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_LOG 1 for the logarithm. A row of all -inf gives NaN, like the formula.
#include "row_warp.cuh"
#include "softmax_rule.cuh"

typedef TENON_T T;
constexpr int W = Widest<T>::value;

template <typename A>
using Rule = SoftmaxRule<A, TENON_LOG>;

#define KERNEL(name, V, R)                                                                                    \
    extern "C" __global__ void __launch_bounds__(128, 5) TENON_NAME(name)(const T* x, T* y, i64 rows, i64 cols) { \
        row_warp<Rule, T, V, R>(x, nullptr, nullptr, y, rows, cols, 0);                                        \
    }                                                                                                          \
    TENON_ENTRY(name)

KERNEL(softmax_warp_v1r1, 1, 1)
KERNEL(softmax_warp_v1r4, 1, 4)
KERNEL(softmax_warp_v1r16, 1, 16)
KERNEL(softmax_warp_v1r32, 1, 32)
KERNEL(softmax_warp_v16r1, W, 1)
KERNEL(softmax_warp_v16r2, W, 2)
KERNEL(softmax_warp_v16r4, W, 4)
KERNEL(softmax_warp_v16r8, W, 8)
