// Short rows: one warp a row, the row in its registers, R packs of V elements a lane. Each element crosses the bus once each way.
// Launch: any number of warps a block, blocks of warps cover the rows.
#pragma once
#include "row_rules.cuh"

template <template <typename> class RuleOf, typename T, int V, int R>
__device__ __forceinline__ void row_warp(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y,
                                         i64 rows, i64 cols, typename Compute<T>::type epsilon) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    i64 row = static_cast<i64>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
    release_successor();
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    int packs = static_cast<int>(cols / V);
    const T* from = x + row * cols;
    T* to = y + row * cols;

    await_predecessor();
    Pack<T, V> held[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (lane + 32 * r < packs) held[r] = load_pack<T, V>(from, lane + 32 * r);
    }

    A v[R * V];
    int count = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (lane + 32 * r < packs) {
            count = (r + 1) * V;
#pragma unroll
            for (int i = 0; i < V; i++) v[r * V + i] = to_compute(held[r].at[i]);
        }
    }
    typename Rule::State state = merge_warp<Rule, A>(Rule::fold(Rule::none(), v, count));
    typename Rule::Scale scale = Rule::scale(state, cols, epsilon);

#pragma unroll
    for (int r = 0; r < R; r++) {
        int pack = lane + 32 * r;
        if (pack < packs) {
            Pack<T, V> g, b, out;
            if (Rule::AFFINE && gamma != nullptr) g = load_pack<T, V>(gamma, pack);
            if (Rule::AFFINE && beta != nullptr) b = load_pack<T, V>(beta, pack);
#pragma unroll
            for (int i = 0; i < V; i++) {
                A result = Rule::apply(scale, v[r * V + i]);
                if (Rule::AFFINE && gamma != nullptr) result *= to_compute(g.at[i]);
                if (Rule::AFFINE && beta != nullptr) result += to_compute(b.at[i]);
                out.at[i] = From<T>::of(result);
            }
            store_pack<T, V>(to, pack, out);
        }
    }
}
