// Rows whose elements lie `inner` apart: a block of 32 columns by blockDim.y strands, each strand folds every blockDim.y-th element, so
// that neighbouring lanes read neighbouring addresses. Two reads, one write. Launch: block (32, strands), grid (ceil(inner / 32), outer).
#pragma once
#include "row_rules.cuh"

template <template <typename> class RuleOf, typename T>
__device__ __forceinline__ void row_strided(const T* __restrict__ x, T* __restrict__ y, i64 outer, i64 n, i64 inner) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    typedef typename Rule::State State;
    __shared__ State states[32][33];
    release_successor();
    await_predecessor();
    i64 column = static_cast<i64>(blockIdx.x) * 32 + threadIdx.x;
    for (i64 o = blockIdx.y; o < outer; o += gridDim.y) {
        const T* from = x + o * n * inner + column;
        T* to = y + o * n * inner + column;
        State state = Rule::none();
        if (column < inner) {
            for (i64 i = threadIdx.y; i < n; i += 4 * blockDim.y) {
                A v[4];
                int count = 0;
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    i64 at = i + static_cast<i64>(k) * blockDim.y;
                    if (at < n) {
                        v[k] = to_compute(from[at * inner]);
                        count = k + 1;
                    }
                }
                state = Rule::fold(state, v, count);
            }
        }
        states[threadIdx.y][threadIdx.x] = state;
        __syncthreads();
        state = Rule::none();
        for (int strand = 0; strand < static_cast<int>(blockDim.y); strand++) state = Rule::merge(state, states[strand][threadIdx.x]);
        __syncthreads();
        typename Rule::Scale scale = Rule::scale(state, n, A(0));
        if (column < inner) {
            for (i64 i = threadIdx.y; i < n; i += blockDim.y) to[i * inner] = From<T>::of(Rule::apply(scale, to_compute(from[i * inner])));
        }
    }
}
