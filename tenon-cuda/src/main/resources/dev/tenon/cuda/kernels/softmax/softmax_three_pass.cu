// y = e^(x - max) / sum e^(x - max) along rows, the plain form that the fast ones are measured against: one block a row, three passes over
// global memory (maximum, sum, result), reductions by warp shuffles, then in shared memory.
//
// Launch: a block of whole warps, at least one; one block a row (grid.x walks). Shared memory: 32 values, static.
// Variants: TENON_T one of float, double, f16, bf16. A row of all -inf gives NaN, like the formula.
#include "softmax_rule.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

template <bool MAX>
__device__ __forceinline__ A combine(A a, A b) {
    return MAX ? larger(a, b) : a + b;
}

template <bool MAX>
__device__ __forceinline__ A over_block(A v, A* slots) {
    for (int lanes = 16; lanes > 0; lanes /= 2) v = combine<MAX>(v, __shfl_xor_sync(0xffffffffu, v, lanes));
    __syncthreads();
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
    __syncthreads();
    v = slots[0];
    for (int warp = 1; warp < static_cast<int>(blockDim.x / 32); warp++) v = combine<MAX>(v, slots[warp]);
    return v;
}

extern "C" __global__ void __launch_bounds__(1024) TENON_NAME(softmax_three_pass)(const T* x, T* y, i64 rows, i64 cols) {
    __shared__ A slots[32];
    for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* from = x + row * cols;
        T* to = y + row * cols;
        A largest = Lowest<A>::value();
        for (i64 i = threadIdx.x; i < cols; i += blockDim.x) largest = larger(largest, to_compute(from[i]));
        largest = over_block<true>(largest, slots);
        A base = SoftmaxRule<A, false>::base(largest);
        A sum = 0;
        for (i64 i = threadIdx.x; i < cols; i += blockDim.x) sum += exp_of(to_compute(from[i]) - base);
        sum = over_block<false>(sum, slots);
        for (i64 i = threadIdx.x; i < cols; i += blockDim.x) to[i] = From<T>::of(exp_of(to_compute(from[i]) - base) / sum);
    }
}
TENON_ENTRY(softmax_three_pass)
