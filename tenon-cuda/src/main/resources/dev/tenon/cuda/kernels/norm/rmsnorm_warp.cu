// y = x / sqrt(mean of squares + epsilon) · gamma along rows of at most 32·V·R elements, one warp a row (row_warp.cuh).
// gamma may be null; on 16-byte boundaries in the v16 forms.
//
//   *_v1rR   element by element: rows that do not lie on 16-byte boundaries
//   *_v16rR  16 bytes an access
//
// Variants: TENON_T one of float, double, f16, bf16.
#include "norm_rules.cuh"
#include "row_warp.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int W = Widest<T>::value;

#define KERNEL(name, V, R)                                                                                    \
    extern "C" __global__ void __launch_bounds__(128, 5)                                                          \
        TENON_NAME(name)(const T* x, const T* gamma, T* y, i64 rows, i64 cols, A epsilon) { \
        row_warp<RmsNormRule, T, V, R>(x, gamma, nullptr, y, rows, cols, epsilon);                            \
    }                                                                                                          \
    TENON_ENTRY(name)

KERNEL(rmsnorm_warp_v1r1, 1, 1)
KERNEL(rmsnorm_warp_v1r4, 1, 4)
KERNEL(rmsnorm_warp_v1r16, 1, 16)
KERNEL(rmsnorm_warp_v1r32, 1, 32)
KERNEL(rmsnorm_warp_v16r1, W, 1)
KERNEL(rmsnorm_warp_v16r2, W, 2)
KERNEL(rmsnorm_warp_v16r4, W, 4)
KERNEL(rmsnorm_warp_v16r8, W, 8)
