// y = e^(x - max) / sum e^(x - max) along an axis whose elements lie `inner` apart: x, y [outer, n, inner] (row_strided.cuh).
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_LOG 1 for the logarithm. A row of all -inf gives NaN, like the formula.
#include "row_strided.cuh"
#include "softmax_rule.cuh"

typedef TENON_T T;

template <typename A>
using Rule = SoftmaxRule<A, TENON_LOG>;

extern "C" __global__ void __launch_bounds__(1024) TENON_NAME(softmax_strided)(const T* x, T* y, i64 outer, i64 n, i64 inner) {
    row_strided<Rule, T>(x, y, outer, n, inner);
}
TENON_ENTRY(softmax_strided)
