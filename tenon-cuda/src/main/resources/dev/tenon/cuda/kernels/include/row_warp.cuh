// Short rows: one warp a row, the row in its registers, R packs of V elements a lane. Each element crosses the bus once each way.
// With RESIDUAL the row is x + residual in the compute type, which is also stored, rounded, where sum is given; all four lie equally far
// from boundaries.
// Launch: any number of warps a block, blocks of warps cover the rows.
#pragma once
#include "row_edges.cuh"

template <template <typename> class RuleOf, typename T, int V, int R, bool RESIDUAL = false>
__device__ __forceinline__ void row_warp(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y,
                                         i64 rows, i64 cols, typename Compute<T>::type epsilon, const T* __restrict__ residual = nullptr,
                                         T* __restrict__ sum = nullptr) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    i64 row = static_cast<i64>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    const T* from = x + row * cols;
    T* to = y + row * cols;
    RowEdges<T, V, sizeof(T) * V, int> edges(from, static_cast<int>(cols));
    int packs = edges.packs;

    await_predecessor();
    Pack<T, V> held[R], added[R];
    int count = 0;  // packs
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (lane + 32 * r < packs) {
            held[r] = load_pack<T, V>(from + edges.head, lane + 32 * r);
            if (RESIDUAL) added[r] = load_pack<T, V>(residual + row * cols + edges.head, lane + 32 * r);
            count = r + 1;
        }
    }
    bool loose = lane < edges.loose;
    int loose_column = loose ? edges.column(lane) : 0;
    A v[R * V + 1];  // the loose one last
    if (loose) {
        v[R * V] = to_compute(from[loose_column]);
        if (RESIDUAL) {
            v[R * V] += to_compute(residual[row * cols + loose_column]);
            if (sum != nullptr) sum[row * cols + loose_column] = From<T>::of(v[R * V]);
        }
    }
    T* sums = sum == nullptr ? nullptr : sum + row * cols + edges.head;
    release_successor();
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
        for (int i = 0; i < V; i++) v[r * V + i] = to_compute(held[r].at[i]);
        if (RESIDUAL && lane + 32 * r < packs) {
            A more[V];
            widen<T, V, 1>(added + r, more);
            store_sum<T, V>(v + r * V, more, sums, lane + 32 * r);
        }
    }
    Affine<T, V> affine(gamma, beta, edges.head);
    // gamma is asked for before the lanes meet, which saves 3 % of the time of f32 rows of 1024; beta as well, or the more numerous
    // elements of narrow types, would take too many registers.
    bool early = Rule::AFFINE && sizeof(T) >= 4 && affine.aligned && gamma != nullptr && beta != nullptr;
    Pack<T, V> factors[R];
    if (early) {
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (lane + 32 * r < packs) factors[r] = load_pack<T, V>(gamma + edges.head, lane + 32 * r);
        }
    }
    typename Rule::State whole = Rule::template gather<V>(v, count, loose);
    typename Rule::Scale scale = Rule::rescale(whole, whole, cols, epsilon);

#pragma unroll
    for (int r = 0; r < R; r++) {
        int pack = lane + 32 * r;
        if (pack < packs) {
            A result[V];
#pragma unroll
            for (int i = 0; i < V; i++) result[i] = Rule::apply_last(scale, v[r * V + i]);
            i64 column = edges.head + static_cast<i64>(pack) * V;
            if (early) {
#pragma unroll
                for (int i = 0; i < V; i++) result[i] *= to_compute(factors[r].at[i]);
                store_pack<T, V>(to + edges.head, pack, with_affine<Rule, T, V>(result, affine.without_gamma(), column));
            } else {
                store_pack<T, V>(to + edges.head, pack, with_affine<Rule, T, V>(result, affine, column));
            }
        }
    }
    if (loose) {
        A result[1] = {Rule::apply_last(scale, v[R * V])};
        to[loose_column] = with_affine<Rule, T, 1>(result, Affine<T, 1>(gamma, beta, 0), loose_column).at[0];
    }
}
