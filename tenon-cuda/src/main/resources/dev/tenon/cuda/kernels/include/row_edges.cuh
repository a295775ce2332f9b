// A row that need not start on a 16-byte boundary: a body of whole packs between a few loose elements at either end, one a lane.
#pragma once
#include "row_rules.cuh"

template <typename T, int V>
struct RowEdges {
    int head;   // elements before the first boundary
    int loose;  // elements outside the body
    i64 packs;  // of the body

    __device__ __forceinline__ RowEdges(const T* row, i64 cols) {
        int past = V == 1 ? 0 : static_cast<int>(reinterpret_cast<u64>(row) / sizeof(T) % V);
        head = past == 0 ? 0 : V - past;
        if (head > cols) head = static_cast<int>(cols);
        packs = (cols - head) / V;
        loose = head + static_cast<int>(cols - head - packs * V);
    }

    // Where the loose element of that number lies in the row.
    __device__ __forceinline__ i64 column(int number) const { return number < head ? number : packs * V + number; }
};

template <typename T, int V, int N>
__device__ __forceinline__ void widen(const Pack<T, V>* packs, typename Compute<T>::type (&v)[N * V]) {
#pragma unroll
    for (int r = 0; r < N; r++) {
#pragma unroll
        for (int i = 0; i < V; i++) v[r * V + i] = to_compute(packs[r].at[i]);
    }
}

// V factors or summands of the columns from `column` on, which need not lie on a boundary.
template <typename T, int V>
__device__ __forceinline__ void load_affine(const T* base, i64 column, bool aligned, typename Compute<T>::type (&v)[V]) {
    if (aligned) {
        Pack<T, V> pack = *reinterpret_cast<const Pack<T, V>*>(base + column);
        widen<T, V, 1>(&pack, v);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++) v[i] = to_compute(base[column + i]);
    }
}

template <typename T, int V>
__device__ __forceinline__ bool on_boundary(const T* p) {
    return reinterpret_cast<u64>(p) % (sizeof(T) * V) == 0;
}

// The results of V columns from `column` on, with gamma and beta where the rule has them.
template <typename Rule, typename T, int V>
__device__ __forceinline__ Pack<T, V> with_affine(typename Compute<T>::type (&v)[V], const T* gamma, const T* beta, i64 column) {
    typedef typename Compute<T>::type A;
    if (Rule::AFFINE && gamma != nullptr) {
        A g[V];
        load_affine<T, V>(gamma, column, on_boundary<T, V>(gamma + column), g);
#pragma unroll
        for (int i = 0; i < V; i++) v[i] *= g[i];
    }
    if (Rule::AFFINE && beta != nullptr) {
        A b[V];
        load_affine<T, V>(beta, column, on_boundary<T, V>(beta + column), b);
#pragma unroll
        for (int i = 0; i < V; i++) v[i] += b[i];
    }
    Pack<T, V> out;
#pragma unroll
    for (int i = 0; i < V; i++) out.at[i] = From<T>::of(v[i]);
    return out;
}

// The loose elements of a row: which one a thread has, if any, its value, and the writing of its result.
template <typename Rule, typename T>
struct LooseElement {
    typedef typename Compute<T>::type A;
    bool there;
    i64 column;
    A v[1];

    template <int V>
    __device__ __forceinline__ LooseElement(const T* row, RowEdges<T, V> edges, int thread, bool mine) {
        there = mine && thread < edges.loose;
        column = there ? edges.column(thread) : 0;
        if (there) v[0] = to_compute(row[column]);
    }

    __device__ __forceinline__ typename Rule::State fold(typename Rule::State s) const { return there ? Rule::fold(s, v, 1) : s; }

    __device__ __forceinline__ void finish(typename Rule::Scale scale, const T* gamma, const T* beta, T* row) const {
        if (!there) return;
        A result[1] = {Rule::apply(scale, v[0])};
        row[column] = with_affine<Rule, T, 1>(result, gamma, beta, column).at[0];
    }
};
