// A matrix in the order in which the warps of layers.cu read it: [item][warp][round][chunk of k][column tile][32 lanes][16 bytes]. Elements of f32 are
// rounded to TF32.
//
// Launch: a thread a piece of 16 bytes. An item is a product of n columns and k, by `groups` of warps by columns and `splits` by k. Its column c is the one
// at item · run + c / run · jump + c % run of x, whose columns are `of_column` elements apart, and rows `of_row`.
#include "pack.cuh"

typedef TENON_T T;
constexpr int V = Widest<T>::value;
constexpr int CHUNK = 4 * V;

template <typename E>
__device__ __forceinline__ E as_stored(E v) {
    return v;
}
__device__ __forceinline__ float as_stored(float v) {
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    return to_tf32(v);
#else
    return v;
#endif
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(fragments)(const T* x, T* y, i32 pieces, i32 groups, i32 splits, i32 tiles, i32 n, i32 k, i32 run, i32 jump,
                                                                      i32 of_column, i32 of_row) {
    int piece = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (piece >= pieces) return;
    int chunks = k / CHUNK / splits, rounds = n / 8 / groups / tiles, lane = piece % 32, at = piece / 32;
    int j = at % tiles;
    at /= tiles;
    int chunk = at % chunks;
    at /= chunks;
    int round = at % rounds;
    at /= rounds;
    int warp = at % (groups * splits), item = at / (groups * splits);
    int c = ((warp % groups * rounds + round) * tiles + j) * 8 + lane / 4;
    int r = (warp / groups * chunks + chunk) * CHUNK + lane % 4 * V;
    const T* from = x + static_cast<i64>(item * run + c / run * jump + c % run) * of_column + static_cast<i64>(r) * of_row;
    Pack<T, V> pack;
#pragma unroll
    for (int i = 0; i < V; i++) pack.at[i] = as_stored(from[static_cast<i64>(i) * of_row]);
    store_pack<T, V>(y, piece, pack);
}
TENON_ENTRY(fragments)
