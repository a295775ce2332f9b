// y = x / sqrt(mean of squares + epsilon) · gamma along rows that the registers of a block, or of a cluster, hold (row_team.cuh).
// gamma may be null.
//
//   *_v8        one block of 128 threads a row, 8 values a thread (2 doubles)
//   *_v32       one block a row, 32 values a thread (8 doubles)
//   *_cluster   a cluster of blocks a row, as many
//
// Variants: TENON_T one of float, double, f16, bf16.
#include "norm_rules.cuh"
#include "row_team.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

#define KERNEL(name, VALUES, THREADS, WARPS, CLUSTER)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                  \
        TENON_NAME(name)(const T* x, const T* gamma, T* y, i64 rows, i64 cols, A epsilon, i32 blocks) { \
        row_team<RmsNormRule, T, TeamPacks<T, VALUES>::value, WARPS, CLUSTER>(x, gamma, nullptr, y, cols, epsilon, blocks);                            \
    }                                                                                                                      \
    TENON_ENTRY(name)

KERNEL(rmsnorm_team_v8, 8, 128, 4, false)
KERNEL(rmsnorm_team_v32, 32, 1024, 0, false)
KERNEL(rmsnorm_team_cluster, 32, 1024, 0, true)
