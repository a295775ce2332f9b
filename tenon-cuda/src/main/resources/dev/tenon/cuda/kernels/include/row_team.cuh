// A block a row, or a cluster of blocks a row, the row in its threads' registers, R packs of V elements each. Each element crosses the bus
// once each way, and the threads meet once: each warp makes the state of its values, and all warps merge all states, in the same order.
// Launch: at least 128 threads, WARPS · 32 of them where that is given; `of_row` blocks a row, a cluster of as many where there are several.
#pragma once
#include "row_edges.cuh"

// Packs of a thread that has so many values, as the sources name the forms; a quarter as many doubles.
template <typename T, int VALUES>
struct TeamPacks {
    static constexpr int value = (sizeof(T) == 8 ? VALUES / 4 : VALUES) / Widest<T>::value;
};

// The states of all warps of a row, one after the other, in every block of its cluster.
template <typename Rule, typename A, int WARPS, bool CLUSTER>
__device__ __forceinline__ typename Rule::State merge_team(typename Rule::State mine, typename Rule::State* slots, int warps, int blocks, int part) {
    typedef typename Rule::State State;
    constexpr int FIELDS = sizeof(State) / sizeof(A);
    int lane = threadIdx.x % 32;
    State* slot = slots + part * warps + threadIdx.x / 32;
    if (CLUSTER) {
        wait_for_cluster();  // all blocks have begun
        if (lane < blocks) {
#pragma unroll
            for (int f = 0; f < FIELDS; f++) store_in_cluster(reinterpret_cast<A*>(slot) + f, lane, reinterpret_cast<A*>(&mine)[f]);
        }
        arrive_at_cluster();
        wait_for_cluster();
    } else {
        if (lane == 0) *slot = mine;
        __syncthreads();
    }
    return WARPS > 0 ? Rule::template over_slots<WARPS, false>(slots, WARPS)
                     : Rule::template over_slots<CLUSTER ? 8 : 1, true>(slots, blocks * warps);
}

// WARPS: of a block, where that is known; else 0.
template <template <typename> class RuleOf, typename T, int R, int WARPS, bool CLUSTER>
__device__ __forceinline__ void row_team(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y,
                                         i64 cols, typename Compute<T>::type epsilon, int of_row) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    constexpr int V = Widest<T>::value;
    constexpr int LINE = 128 / (V * sizeof(T));  // packs
    __shared__ __align__(16) typename Rule::State slots[WARPS > 0 ? WARPS : CLUSTER ? 8 * 32 : 32];
    int thread = threadIdx.x, threads = WARPS > 0 ? WARPS * 32 : blockDim.x;
    int blocks = CLUSTER ? of_row : 1;
    int part = CLUSTER ? blockIdx.x % blocks : 0;
    i64 start = static_cast<i64>(CLUSTER ? blockIdx.x / blocks : blockIdx.x) * cols;
    const T* from = x + start;
    RowEdges<T, V, 128, int> edges(from, static_cast<int>(cols));
    int each = CLUSTER ? (edges.packs + blocks * LINE - 1) / (blocks * LINE) * LINE : edges.packs;
    int first = edges.head + each * part * V;
    int left = edges.packs - each * part;
    int packs = left < each ? left : each;
    bool loose = part == 0 && thread < edges.loose;
    int loose_column = loose ? edges.column(thread) : 0;
    const T* body = from + first;
    if (CLUSTER) begin_cluster();

    await_predecessor();
    Pack<T, V> held[R];
    int count = 0;  // packs
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (thread + threads * r < packs) {
            held[r] = load_pack<T, V>(body, thread + threads * r);
            count = r + 1;
        }
    }
    A v[R * V + 1];  // the loose one last
    if (loose) v[R * V] = to_compute(from[loose_column]);
    release_successor();
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
        for (int i = 0; i < V; i++) v[r * V + i] = to_compute(held[r].at[i]);
    }
    typename Rule::State own = Rule::template gather<V>(v, count, loose);
    typename Rule::State whole = merge_team<Rule, A, WARPS, CLUSTER>(own, slots, threads / 32, blocks, part);
    typename Rule::Scale scale = Rule::rescale(own, whole, cols, epsilon);

    Affine<T, V> affine(gamma, beta, edges.head);
    T* to = y + start + first;
#pragma unroll
    for (int r = 0; r < R; r++) {
        int pack = thread + threads * r;
        if (pack < packs) {
            A result[V];
#pragma unroll
            for (int i = 0; i < V; i++) result[i] = Rule::apply_last(scale, v[r * V + i]);
            store_pack<T, V>(to, pack, with_affine<Rule, T, V>(result, affine, first + pack * V));
        }
    }
    if (loose) {
        A result[1] = {Rule::apply_last(scale, v[R * V])};
        y[start + loose_column] = with_affine<Rule, T, 1>(result, Affine<T, 1>(gamma, beta, 0), loose_column).at[0];
    }
}
