// Passes over all elements of a result whose operands are broadcast. A functor does V elements, or 1, at a position:
//   template <int W> void run(i64 position, const i64 (&at)[N], const Walk<N>& walk)
// V at a time where no pack can cross a row. A result may lie over an operand that has its shape and width: elements are read first.
#pragma once
#include "types.cuh"
#include "walk.cuh"

// What an elementwise kernel is told beside its operands (ElementwiseKernels.java).
struct Options {
    i32 fn;    // of unary_fn.cuh, binary_fn.cuh or the comparisons
    i32 then;  // a function of one number after it
    i32 type;  // of the operands, for integers
    i32 to;    // of a cast
    double p0;
    double p1;
};

template <int N, int V, typename F>
__device__ __forceinline__ void elementwise(const Walk<N>& walk, i64 elements, F f) {
    release_successor();
    await_predecessor();
    bool small = elements <= 0x7fffffff;
    bool packed = walk.dims <= 1 || walk.inner() % V == 0;
    i64 packs = packed ? elements / V : 0;
    i64 at[N];
    for (i64 pack = global_thread(); pack < packs; pack += global_threads()) {
        locate(walk, pack * V, small, at);
        f.template run<V>(pack * V, at, walk);
    }
    for (i64 one = packs * V + global_thread(); one < elements; one += global_threads()) {
        locate(walk, one, small, at);
        f.template run<1>(one, at, walk);
    }
}

// W neighbours of an operand, or one of them W times.
template <typename T, int W>
__device__ __forceinline__ Pack<T, W> load_some(const T* p, i64 at, i64 stride) {
    if (W == 1 || stride != 0) return *reinterpret_cast<const Pack<T, W>*>(p + at);
    Pack<T, W> r;
    T v = p[at];
#pragma unroll
    for (int i = 0; i < W; i++) r.at[i] = v;
    return r;
}

template <typename T, int W>
__device__ __forceinline__ void store_some(T* p, i64 at, const Pack<T, W>& v) {
    *reinterpret_cast<Pack<T, W>*>(p + at) = v;
}
