// Short rows: one warp a row, the row in its registers, R packs of V elements a lane. Each element crosses the bus once each way.
// Launch: any number of warps a block, blocks of warps cover the rows.
#pragma once
#include "row_edges.cuh"

template <template <typename> class RuleOf, typename T, int V, int R>
__device__ __forceinline__ void row_warp(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y,
                                         i64 rows, i64 cols, typename Compute<T>::type epsilon) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    typedef typename Rule::State State;
    i64 row = static_cast<i64>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    const T* from = x + row * cols;
    T* to = y + row * cols;
    RowEdges<T, V> edges(from, cols);
    int packs = static_cast<int>(edges.packs);

    await_predecessor();
    Pack<T, V> held[R];
    int count = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (lane + 32 * r < packs) {
            held[r] = load_pack<T, V>(from + edges.head, lane + 32 * r);
            count = (r + 1) * V;
        }
    }
    LooseElement<Rule, T> loose(from, edges, lane, true);
    release_successor();

    A v[R * V];
    widen<T, V, R>(held, v);
    State mine = Rule::fold_last(loose.fold(Rule::none()), v, count);
    typename Rule::Scale scale = Rule::scale(merge_warp<Rule, A>(mine), mine, cols, epsilon);

#pragma unroll
    for (int r = 0; r < R; r++) {
        int pack = lane + 32 * r;
        if (pack < packs) {
            A result[V];
#pragma unroll
            for (int i = 0; i < V; i++) result[i] = Rule::apply_last(scale, v[r * V + i]);
            i64 column = edges.head + static_cast<i64>(pack) * V;
            store_pack<T, V>(to + edges.head, pack, with_affine<Rule, T, V>(result, gamma, beta, column));
        }
    }
    loose.finish(scale, gamma, beta, to);
}
