// A norm of x + residual, and the sum itself where it is wanted, of rows that are too long for a warp: one block a row, the sum in the compute type in its
// registers, R packs of V elements a thread, so at most THREADS·R·V elements and one pack's worth of loose ones. Each element crosses the
// bus once each way. x, residual, y and sum lie equally far from boundaries.
// Launch: THREADS threads, a block a row.
#pragma once
#include "row_edges.cuh"

template <template <typename> class RuleOf, typename T, int V, int R, int THREADS>
__device__ __forceinline__ void row_residual_block(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta,
                                                   T* __restrict__ y, i64 cols, typename Compute<T>::type epsilon,
                                                   const T* __restrict__ residual, T* __restrict__ sum) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    __shared__ typename Rule::State slots[32];
    int thread = threadIdx.x;
    i64 start = static_cast<i64>(blockIdx.x) * cols;
    RowEdges<T, V> edges(x + start, cols);
    i64 body = start + edges.head;
    int packs = static_cast<int>(edges.packs);
    T* sums = sum == nullptr ? nullptr : sum + body;

    await_predecessor();
    A v[R * V];
    int count = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        int pack = thread + THREADS * r;
        if (pack < packs) {
            Pack<T, V> held = load_pack<T, V>(x + body, pack), added = load_pack<T, V>(residual + body, pack);
            A more[V];
            widen<T, V, 1>(&added, more);
#pragma unroll
            for (int i = 0; i < V; i++) v[r * V + i] = to_compute(held.at[i]);
            store_sum<T, V>(v + r * V, more, sums, pack);
            count = (r + 1) * V;
        }
    }
    LooseElement<Rule, T> loose(x + start, edges, thread, true);
    if (loose.there) {
        loose.v[0] += to_compute(residual[start + loose.column]);
        if (sum != nullptr) sum[start + loose.column] = From<T>::of(loose.v[0]);
    }
    release_successor();
    typename Rule::State state = loose.fold(Rule::fold(Rule::none(), v, count));
    typename Rule::Scale scale = Rule::scale(merge_block<Rule, A>(state, slots), cols, epsilon);

    Affine<T, V> affine(gamma, beta, edges.head);
#pragma unroll
    for (int r = 0; r < R; r++) {
        int pack = thread + THREADS * r;
        if (pack < packs) {
            A result[V];
#pragma unroll
            for (int i = 0; i < V; i++) result[i] = Rule::apply(scale, v[r * V + i]);
            store_pack<T, V>(y + body, pack, with_affine<Rule, T, V>(result, affine, edges.head + static_cast<i64>(pack) * V));
        }
    }
    loose.finish(scale, gamma, beta, y + start);
}
