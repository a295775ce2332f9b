// What kernels of an encoder's layers know of their work. What one block makes and others read passes through L2: words that were NOT_YET before, as in
// resident.cuh.
#pragma once
#include "resident_attention.cuh"
#include "short_fn.cuh"

constexpr int HEAD = TENON_HEAD;
constexpr int GROUPS = 4;                // of warps, by columns, in products of rows that lie in shared memory
constexpr int MOST_LAYERS = 26;
constexpr int WIDE_HEAD = HEAD + (HEAD % (2 * CHUNK) == 0 ? CHUNK : 0);

// Filled by LayersWords.java; 128 bytes.
struct Layer {
    const T *qkv, *out, *up, *down;                          // packed weights
    const T *qkv_bias, *out_bias, *up_bias, *down_bias;
    const T *first_scale, *first_shift, *second_scale, *second_shift;
    const T* mask;
    i32 mask_dims;
    float factor;
    float first_epsilon, second_epsilon;
    i32 fn;
    float alpha;
};

// How a product is cut: chunks of a batch, batches of a round of columns, rounds; warps that share k.
struct Cut {
    i32 chunks, batches, rounds, splits;
};

struct alignas(16) Encoder {
    Layer at[MOST_LAYERS];
    const T* x;       // [rows, hidden]
    void* y;          // of T, or of float where `wide`
    T* words;         // of each layer: mixed [rows, hidden], first [rows, hidden], middle [rows, inner], second [rows, hidden], and where a sequence is
                      // longer than a tile handed [heads, 2, rows, HEAD]
    u32* counters;    // 2, 0 before and after
    const T *before_scale, *before_shift;  // of the norm of x that the first layer starts with, or null
    i32 layers, rows, keys, hidden;
    i32 inner, heads, wide, unused;
    Cut qkv, out, up, down;
    // where things lie in shared memory, in bytes; what is fetched of a layer beside weights, in elements
    i32 own, masks, cells, sums, kept, vectors, each_vectors, layers_at, segments;
    float before_epsilon;
    i32 unused_too[2];
};

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// Behind it every word that blocks hand to one another is NOT_YET or there.
__device__ __forceinline__ void meet_all(const Encoder& e) {
    if (threadIdx.x % 32 == 0) wait_until(e.counters, gridDim.x);
    __syncwarp();
}

// N columns of a row of sums, each in `splits` parts: [column tile, split, 16, 8]; `i` counts packs of N.
template <int N>
__device__ __forceinline__ void add_parts(float (&sum)[N], const float* cells, int splits, int i) {
    const float* part = cells + i / (CELLS / N) * splits * CELLS + i % (CELLS / N) * N;
#pragma unroll
    for (int e = 0; e < N; e++) sum[e] = 0;
#pragma unroll 2
    for (int s = 0; s < splits; s++) {
        Pack<float, N> v = load_pack<float, N>(part + s * CELLS, 0);
#pragma unroll
        for (int e = 0; e < N; e++) sum[e] += v.at[e];
    }
}

template <typename E>
__device__ __forceinline__ u32 pack_two(const float (&v)[2], E) {
    return sealed(to_pair(v[0], v[1], E()));
}
__device__ __forceinline__ uint2 pack_two(const float (&v)[2], float) { return make_uint2(sealed(__float_as_uint(v[0])), sealed(__float_as_uint(v[1]))); }

__device__ __forceinline__ uint2 as_operands(uint2 v, float) { return make_uint2(tf32_bits(v.x), tf32_bits(v.y)); }

// Stores 2 or 4 elements as operands that other blocks read.
template <int N>
__device__ __forceinline__ void hand_on(T* to, const float (&v)[N]) {
    if constexpr (N == 4) {
        auto words = as_operands(pack_four(v, T()), T());
        store_handed(reinterpret_cast<decltype(words)*>(to), words);
    } else {
        auto words = as_operands(pack_two(v, T()), T());
        store_handed(reinterpret_cast<decltype(words)*>(to), words);
    }
}
#endif
