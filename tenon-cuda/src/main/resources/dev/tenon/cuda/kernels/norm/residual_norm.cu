// sum = x + residual; y = LayerNorm or RmsNorm of the sum before it is rounded, · gamma + beta. 16 bytes an access; x, residual, y and sum
// lie equally far from 16-byte boundaries. gamma, beta and sum may be null.
//
//   *_rR  one warp a row of at most 32·W·R elements (row_warp.cuh); W elements are 16 bytes
//   *_tN  one block of N threads a row of at most 32·N elements, 16·N doubles (row_residual_block.cuh)
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_RULE one of LayerNormRule, RmsNormRule.
#include "norm_rules.cuh"
#include "row_residual_block.cuh"
#include "row_warp.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int W = Widest<T>::value;
constexpr int LONGEST = (sizeof(T) == 8 ? 16 : 32) / W;  // packs of a thread

#define WARP(name, R)                                                                                                                \
    extern "C" __global__ void __launch_bounds__(128, 4)                                                                             \
        TENON_NAME(name)(const T* x, const T* residual, const T* gamma, const T* beta, T* y, T* sum, i64 rows, i64 cols, A epsilon) { \
        row_warp<TENON_RULE, T, W, R, true>(x, gamma, beta, y, rows, cols, epsilon, residual, sum);                                  \
    }                                                                                                                                \
    TENON_ENTRY(name)

#define BLOCK(name, THREADS)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS)                                                         \
        TENON_NAME(name)(const T* x, const T* residual, const T* gamma, const T* beta, T* y, T* sum, i64 rows, i64 cols, A epsilon) { \
        row_residual_block<TENON_RULE, T, W, LONGEST, THREADS>(x, gamma, beta, y, cols, epsilon, residual, sum);                 \
    }                                                                                                                            \
    TENON_ENTRY(name)

WARP(residual_norm_r1, 1)
WARP(residual_norm_r2, 2)
WARP(residual_norm_r4, 4)
WARP(residual_norm_r8, 8)
BLOCK(residual_norm_t128, 128)
BLOCK(residual_norm_t512, 512)
