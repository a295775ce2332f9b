// y[m, n] = sum over k of x[m, k] w[n, k] for many rows of x, rows of w packed in blocks (block_formats.cuh), on tensor cores. Packed rows are
// unpacked into shared memory, tile by tile; w is never written out. What is multiplied are the integers of w, which x's type has exactly; sums
// of runs of 16 elements, which have one scale, are scaled in f32. Formats with minima add those times sums of x, products with ones.
//
// A block makes 64 × 64 results, 64 of k at a time in two buffers: while a step is multiplied the next one of x is on its way, and that of w is
// unpacked. Lines are eight chunks of 16 bytes, swapped by the line's number, so that neither reads nor writes meet in a bank. A warp has 16
// rows of w and 32 of x.
//
// Launch: 256 threads, grid (ceil(cols / 64), any): blocks walk on over rows of x. Static shared memory of 36 KiB. x [rows, depth] on a 16-byte
// boundary, w [cols, packed depth], y [rows, cols]; depth is whole blocks.
// Variants: TENON_FORMAT a BlockFormat's name; TENON_T f16, bf16. From sm_80 on.
#include "block_formats.cuh"
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Block<TENON_FORMAT> B;

constexpr int SIDE = 64;
constexpr int STEP = 64;
constexpr int CHUNK = 8;  // elements
constexpr int LINE = STEP / CHUNK;

constexpr int RUN = 16;
constexpr int RUNS = STEP / RUN;
constexpr int F = TENON_FORMAT;
constexpr bool MINIMA = F == Q4_1 || F == Q5_1 || F == Q2_K || F == Q4_K || F == Q5_K;
constexpr int ZERO = F == Q4_0 ? 8 : F == Q5_0 ? 16 : F == Q8_0 ? 128 : F == Q3_K ? 4 : F == Q6_K ? 32 : 0;

// A step of w.
struct Left {
    uint4 chunks[SIDE * LINE];
    float factors[RUNS][SIDE];
    float offsets[RUNS][SIDE];
};

// Where a chunk of a line lies.
__device__ __forceinline__ int place_of(int line, int chunk) { return line * LINE + (chunk ^ line % 8); }

// Begins to copy a step of the tile's rows of x; what is not there is 0.
__device__ __forceinline__ void fetch(uint4* tile, const T* x, i64 row, i64 rows, i64 depth, i64 k) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int line = (threadIdx.x + 256 * i) / LINE, chunk = threadIdx.x % LINE;
        copy_async_16_if(tile + place_of(line, chunk), x + (row + line) * depth + k + chunk * CHUNK, row + line < rows && k + chunk * CHUNK < depth);
    }
}

// Unpacks a run of a row of w.
__device__ __forceinline__ void unpack(Left& left, const u8* w, i64 column, i64 cols, i64 row_bytes, i64 depth, i64 k) {
    int line = threadIdx.x / RUNS, run = threadIdx.x % RUNS;
    i64 first = k + run * RUN;
    Pack<T, CHUNK> chunks[2] = {};
    float factor = 0.0f, offset = 0.0f;
    if (column + line < cols && first < depth) {
        i64 block = first / B::ELEMENTS;
        const u8* from = w + (column + line) * row_bytes + block * B::BYTES;
        int e = static_cast<int>(first - block * B::ELEMENTS);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Four<float> four = four_of<float, F>(from, e + 4 * i);
            factor = four.factor;
            offset = four.offset;
#pragma unroll
            for (int j = 0; j < 4; j++) chunks[i / 2].at[i % 2 * 4 + j] = narrowed<T>(byte_number(four.bytes, j, 0.0f) - static_cast<float>(ZERO));
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) left.chunks[place_of(line, run * 2 + i)] = *reinterpret_cast<const uint4*>(&chunks[i]);
    left.factors[run][line] = factor;
    if (MINIMA) left.offsets[run][line] = offset;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dequant_matmul_mma)(const T* x, const u8* w, T* y, i64 rows, i64 cols, i64 depth) {
    __shared__ __align__(128) Left lefts[2];
    __shared__ __align__(128) uint4 rights[2][SIDE * LINE];  // of x
    release_successor();
    await_predecessor();
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int left_line = warp % 4 * 16, right_line = warp / 4 * 32;
    i64 column = static_cast<i64>(blockIdx.x) * SIDE;
    i64 row_bytes = depth / B::ELEMENTS * B::BYTES;
    Pack<T, 2> two = {{narrowed<T>(1.0f), narrowed<T>(1.0f)}};
    u32 one = *reinterpret_cast<const u32*>(&two);
    u32 ones[4] = {one, one, one, one};
    for (i64 row = static_cast<i64>(blockIdx.y) * SIDE; row < rows; row += static_cast<i64>(gridDim.y) * SIDE) {
        float sums[4][4] = {};
        int side = 0;
        fetch(rights[0], x, row, rows, depth, 0);
        copy_async_commit();
        unpack(lefts[0], w, column, cols, row_bytes, depth, 0);
        copy_async_wait<0>();
        __syncthreads();
        for (i64 k = 0; k < depth; k += STEP) {
            if (k + STEP < depth) {
                fetch(rights[side ^ 1], x, row, rows, depth, k + STEP);
                copy_async_commit();
                unpack(lefts[side ^ 1], w, column, cols, row_bytes, depth, k + STEP);
            }
            const Left& left = lefts[side];
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                u32 a[4], b[2][4];
                load_matrix_x4(a, left.chunks + place_of(left_line + lane % 16, run * 2 + lane / 16));
#pragma unroll
                for (int i = 0; i < 2; i++) load_matrix_x4(b[i], rights[side] + place_of(right_line + i * 16 + lane % 8 + lane / 16 * 8, run * 2 + lane / 8 % 2));
                float factors[2], offsets[2] = {};
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    factors[r] = left.factors[run][left_line + lane / 4 + 8 * r];
                    if (MINIMA) offsets[r] = left.offsets[run][left_line + lane / 4 + 8 * r];
                }
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    u32 pair[2] = {b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]};
                    float products[4] = {}, whole[4] = {};
                    mma_16816(products, a, pair, T{});
                    if (MINIMA) mma_16816(whole, ones, pair, T{});
#pragma unroll
                    for (int j = 0; j < 4; j++) {
                        sums[i][j] += factors[j / 2] * products[j];
                        if (MINIMA) sums[i][j] += offsets[j / 2] * whole[j];
                    }
                }
            }
            copy_async_wait<0>();
            __syncthreads();
            side ^= 1;
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                i64 m = row + right_line + i * 8 + lane % 4 * 2 + j % 2, n = column + left_line + lane / 4 + j / 2 * 8;
                if (m < rows && n < cols) y[m * cols + n] = narrowed<T>(sums[i][j]);
            }
        }
    }
#endif
}
TENON_ENTRY(dequant_matmul_mma)
