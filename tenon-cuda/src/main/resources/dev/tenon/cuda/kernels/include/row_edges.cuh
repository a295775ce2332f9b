// A row that need not start on a boundary: a body of whole packs between a few loose elements at either end, one a thread.
#pragma once
#include "row_rules.cuh"

template <typename T, int V, int BOUNDARY = sizeof(T) * V, typename Int = i64>
struct RowEdges {
    int head;   // elements before the first boundary of that many bytes
    int loose;  // elements outside the body
    Int packs;  // of the body

    __device__ __forceinline__ RowEdges(const T* row, Int cols) {
        int past = V == 1 ? 0 : static_cast<int>(reinterpret_cast<u64>(row) % BOUNDARY / sizeof(T));
        head = past == 0 ? 0 : BOUNDARY / static_cast<int>(sizeof(T)) - past;
        if (head > cols) head = static_cast<int>(cols);
        packs = static_cast<Int>(cols - head) / V;
        loose = static_cast<int>(cols - packs * V);
    }

    // Where the loose element of that number lies in the row.
    __device__ __forceinline__ Int column(int number) const { return number < head ? number : packs * V + number; }
};

template <typename T, int V, int N>
__device__ __forceinline__ void widen(const Pack<T, V>* packs, typename Compute<T>::type (&v)[N * V]) {
#pragma unroll
    for (int r = 0; r < N; r++) {
#pragma unroll
        for (int i = 0; i < V; i++) v[r * V + i] = to_compute(packs[r].at[i]);
    }
}

// v += more, and the sum, rounded, into a pack where there is one for it.
template <typename T, int V>
__device__ __forceinline__ void store_sum(typename Compute<T>::type* v, const typename Compute<T>::type (&more)[V], T* sum, int pack) {
    Pack<T, V> rounded;
#pragma unroll
    for (int i = 0; i < V; i++) {
        v[i] += more[i];
        rounded.at[i] = From<T>::of(v[i]);
    }
    if (sum != nullptr) store_pack<T, V>(sum, pack, rounded);
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

// gamma and beta, and whether they lie on boundaries where the body of a row begins.
template <typename T, int V>
struct Affine {
    const T* gamma;
    const T* beta;
    bool aligned;

    __device__ __forceinline__ Affine(const T* g, const T* b, int head) : gamma(g), beta(b) {
        aligned = (reinterpret_cast<u64>(g + head) | reinterpret_cast<u64>(b == nullptr ? b : b + head)) % (sizeof(T) * V) == 0;
    }

    __device__ __forceinline__ Affine without_gamma() const {
        Affine rest = *this;
        rest.gamma = nullptr;
        return rest;
    }
};

// The results of V columns from `column` on, with gamma and beta where the rule has them.
template <typename Rule, typename T, int V>
__device__ __forceinline__ Pack<T, V> with_affine(typename Compute<T>::type (&v)[V], Affine<T, V> affine, i64 column) {
    typedef typename Compute<T>::type A;
    if (Rule::AFFINE && affine.gamma != nullptr) {
        A g[V];
        load_affine<T, V>(affine.gamma, column, affine.aligned, g);
#pragma unroll
        for (int i = 0; i < V; i++) v[i] *= g[i];
    }
    if (Rule::AFFINE && affine.beta != nullptr) {
        A b[V];
        load_affine<T, V>(affine.beta, column, affine.aligned, b);
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

    template <typename Edges>
    __device__ __forceinline__ LooseElement(const T* row, Edges edges, int thread, bool mine) {
        there = mine && thread < edges.loose;
        column = there ? edges.column(thread) : 0;
        if (there) v[0] = to_compute(row[column]);
    }

    __device__ __forceinline__ typename Rule::State fold(typename Rule::State s) const { return there ? Rule::fold(s, v, 1) : s; }

    __device__ __forceinline__ void finish(typename Rule::Scale scale, const T* gamma, const T* beta, T* row) const {
        if (!there) return;
        A result[1] = {Rule::apply(scale, v[0])};
        row[column] = with_affine<Rule, T, 1>(result, Affine<T, 1>(gamma, beta, 0), column).at[0];
    }
};
