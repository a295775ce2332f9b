// y = e^(x - max) / sum e^(x - max) along rows that the registers of a block, or of a cluster, hold (row_team.cuh).
//
//   *_v8        one block of 128 threads a row, 8 values a thread (2 doubles)
//   *_v32       one block a row, 32 values a thread (8 doubles)
//   *_cluster   a cluster of blocks a row, as many
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_LOG 1 for the logarithm. A row of all -inf gives NaN, like the formula.
#include "row_team.cuh"
#include "softmax_rule.cuh"

typedef TENON_T T;

template <typename A>
using Rule = SoftmaxRule<A, TENON_LOG>;

#define KERNEL(name, VALUES, THREADS, WARPS, CLUSTER)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                  \
        TENON_NAME(name)(const T* x, T* y, i64 rows, i64 cols, i32 blocks) { \
        row_team<Rule, T, TeamPacks<T, VALUES>::value, WARPS, CLUSTER>(x, nullptr, nullptr, y, cols, 0, blocks);                            \
    }                                                                                                                      \
    TENON_ENTRY(name)

KERNEL(softmax_team_v8, 8, 128, 4, false)
KERNEL(softmax_team_v32, 32, 1024, 0, false)
KERNEL(softmax_team_cluster, 32, 1024, 0, true)
