// A matrix in the order in which the warps of clustered.cu read it: [item][8 warps][round][chunk of k][tile][32 lanes][16 bytes]. Elements of f32 are
// rounded to TF32.
//
// Launch: a thread a piece of 16 bytes. An item is a product of n columns and k; within: warps are 4 groups of columns by 2 parts of k; else 8 groups.
// Column c and row r of k of an item are those at item · column + c / run · jump + c % run and item · row + r of x, `of_column` and `of_row` elements apart.
#include "pack.cuh"

typedef TENON_T T;
constexpr int V = Widest<T>::value;
constexpr int CHUNK = 4 * V;

template <typename E>
__device__ __forceinline__ E as_stored(E v) {
    return v;
}
__device__ __forceinline__ float as_stored(float v) {
#if __CUDA_ARCH__ >= 800
    return to_even_tf32(v);
#else
    return v;
#endif
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(fragments)(const T* x, T* y, i32 pieces, i32 within, i32 tiles, i32 n, i32 k, i32 run, i32 jump,
                                                                      i32 column, i32 row, i32 of_column, i32 of_row) {
    int piece = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (piece >= pieces) return;
    int groups = within ? 4 : 8, parts = 8 / groups, chunks = k / CHUNK / parts, rounds = n / 8 / groups / tiles;
    int lane = piece % 32, at = piece / 32;
    int j = at % tiles;
    at /= tiles;
    int chunk = at % chunks;
    at /= chunks;
    int round = at % rounds;
    at /= rounds;
    int warp = at % 8, item = at / 8;
    int c = ((warp % groups * rounds + round) * tiles + j) * 8 + lane / 4;
    int r = (warp / groups * chunks + chunk) * CHUNK + lane % 4 * V;
    const T* from = x + static_cast<i64>(item * column + c / run * jump + c % run) * of_column + static_cast<i64>(item * row + r) * of_row;
    Pack<T, V> pack;
#pragma unroll
    for (int i = 0; i < V; i++) pack.at[i] = as_stored(from[static_cast<i64>(i) * of_row]);
    store_pack<T, V>(y, piece, pack);
}
TENON_ENTRY(fragments)
