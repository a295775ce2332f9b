// y[m, n] = sum over k of x[m, k] w[n, k] with rows of w packed in blocks (block_formats.cuh), unpacked in registers; decode_blocks: w itself.
//
// dequant_matmul: a warp has four rows of w, 8 warps a block along x of the grid, and 8 rows of x at a time (dequant_matmul_row: 1), along y. Lanes have four neighbours each
// of 128 elements, so that reads of x are whole lines; each group of four is unpacked once for all rows of x, and read once for four rows of w.
// decode_blocks: 256 threads, any number of blocks, four elements a thread.
// x [rows, depth], w [cols, depth / elements of a block * bytes of a block], on 16-byte boundaries; depth is whole blocks.
// Variants: TENON_FORMAT a BlockFormat's name; TENON_T float, double, f16, bf16.
#include "block_formats.cuh"
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
typedef Block<TENON_FORMAT> B;

constexpr int COLUMNS = 4;

template <int N>
__device__ __forceinline__ void multiply(const T* x, const u8* w, T* y, i64 rows, i64 cols, i64 depth, i64 row, i64 column) {
    int lane = threadIdx.x % 32;
    i64 row_bytes = depth / B::ELEMENTS * B::BYTES;
    A sums[N][COLUMNS] = {};
    for (i64 k = lane * 4; k < depth; k += 128) {
        i64 block = k / B::ELEMENTS;
        int e = static_cast<int>(k - block * B::ELEMENTS);
        A v[N][4], whole[N];
#pragma unroll
        for (int n = 0; n < N; n++) {
            i64 at = row + n < rows ? row + n : rows - 1;
            Pack<T, 4> four = *reinterpret_cast<const Pack<T, 4>*>(x + at * depth + k);
#pragma unroll
            for (int i = 0; i < 4; i++) v[n][i] = to_compute(four.at[i]);
            whole[n] = (v[n][0] + v[n][1]) + (v[n][2] + v[n][3]);
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            i64 at = column + c < cols ? column + c : cols - 1;
            Four<A> four = four_of<A, TENON_FORMAT>(w + at * row_bytes + block * B::BYTES, e);
            A q[4];
#pragma unroll
            for (int i = 0; i < 4; i++) q[i] = byte_number(four.bytes, i, A(0));
#pragma unroll
            for (int n = 0; n < N; n++) {
                A dot = (q[0] * v[n][0] + q[1] * v[n][1]) + (q[2] * v[n][2] + q[3] * v[n][3]);
                sums[n][c] += four.factor * dot + four.offset * whole[n];
            }
        }
    }
#pragma unroll
    for (int n = 0; n < N; n++) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            for (int lanes = 16; lanes > 0; lanes /= 2) sums[n][c] += __shfl_xor_sync(0xffffffffu, sums[n][c], lanes);
            if (lane == n * COLUMNS + c && row + n < rows && column + c < cols) y[(row + n) * cols + column + c] = narrowed<T>(sums[n][c]);
        }
    }
}

template <int N>
__device__ __forceinline__ void multiply_all(const T* x, const u8* w, T* y, i64 rows, i64 cols, i64 depth) {
    release_successor();
    await_predecessor();
    i64 column = global_thread() / 32 * COLUMNS;
    if (column >= cols) return;
    for (i64 row = static_cast<i64>(blockIdx.y) * N; row < rows; row += static_cast<i64>(gridDim.y) * N) multiply<N>(x, w, y, rows, cols, depth, row, column);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dequant_matmul)(const T* x, const u8* w, T* y, i64 rows, i64 cols, i64 depth) { multiply_all<8>(x, w, y, rows, cols, depth); }
TENON_ENTRY(dequant_matmul)

// For one row of x: fewer registers, so that more warps read.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dequant_matmul_row)(const T* x, const u8* w, T* y, i64 rows, i64 cols, i64 depth) { multiply_all<1>(x, w, y, rows, cols, depth); }
TENON_ENTRY(dequant_matmul_row)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(decode_blocks)(const u8* w, T* y, i64 fours) {
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < fours; at += global_threads()) {
        i64 block = at * 4 / B::ELEMENTS;
        Four<A> four = four_of<A, TENON_FORMAT>(w + block * B::BYTES, static_cast<int>(at * 4 - block * B::ELEMENTS));
        Pack<T, 4> r;
#pragma unroll
        for (int i = 0; i < 4; i++) r.at[i] = narrowed<T>(four.factor * byte_number(four.bytes, i, A(0)) + four.offset);
        store_pack<T, 4>(y, at, r);
    }
}
TENON_ENTRY(decode_blocks)
