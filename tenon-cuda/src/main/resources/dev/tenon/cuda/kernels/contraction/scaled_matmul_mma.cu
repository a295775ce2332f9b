// y[m, n] = sum over k of x[m, k] scale[n, k / block] (q[n, k] - zero[n, k / block]) for many rows of x, q of 8 or 4 bits, on tensor cores: q is
// never written out. What is multiplied are the differences, which x's type has exactly; sums of runs of 16 elements, which have one scale, are
// scaled in f32.
//
// A block makes 64 × 64 results, 64 of k at a time in two buffers, as dequant_matmul_mma.cu does. A warp has 16 rows of q and 32 of x.
//
// Launch: 256 threads, grid (ceil(cols / 64), any): blocks walk on over rows of x. Static shared memory of 34 KiB. x [rows, depth] on a 16-byte
// boundary, q [cols, depth] too, scale and zero [cols, blocks], y [rows, cols]; zero may be null. depth is a multiple of 16, and so is block
// where there are several. `is_signed`: q and zero are two's complement. Variants: TENON_BITS 8 or 4; TENON_T f16, bf16. From sm_80 on.
#include "block_formats.cuh"
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;

constexpr int SIDE = 64;
constexpr int STEP = 64;
constexpr int CHUNK = 8;  // elements
constexpr int LINE = STEP / CHUNK;

constexpr int RUN = 16;
constexpr int RUNS = STEP / RUN;
constexpr int BITS = TENON_BITS;
constexpr u32 SIGNS = BITS == 8 ? 0x80808080u : 0x88888888u;
constexpr int LEAST = BITS == 8 ? 128 : 8;  // what flipping a sign adds

struct Weight {
    const u8* q;
    const T* scale;
    const u8* zero;
    i64 cols, depth, block, blocks;
    bool is_signed;
};

// A step of q.
struct Left {
    uint4 chunks[SIDE * LINE];
    float factors[RUNS][SIDE];
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

// Unpacks a run of a row of q.
__device__ __forceinline__ void unpack(Left& left, const Weight& w, i64 column, i64 k) {
    int line = threadIdx.x / RUNS, run = threadIdx.x % RUNS;
    i64 first = k + run * RUN;
    Pack<T, CHUNK> chunks[2] = {};
    float factor = 0.0f;
    if (column + line < w.cols && first < w.depth) {
        i64 scaled = (column + line) * w.blocks + first / w.block;
        const u8* from = w.q + ((column + line) * w.depth + first) * BITS / 8;
        u32 bytes[4];  // of four elements each
        if (BITS == 8) {
            uint4 some = *reinterpret_cast<const uint4*>(from);
            bytes[0] = some.x, bytes[1] = some.y, bytes[2] = some.z, bytes[3] = some.w;
        } else {
            uint2 some = *reinterpret_cast<const uint2*>(from);
            u32 words[2] = {some.x, some.y};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u32 half = words[i / 2] >> i % 2 * 16;
                bytes[i] = (half & 0xfu) | (half & 0xf0u) << 4 | (half & 0xf00u) << 8 | (half & 0xf000u) << 12;
            }
        }
        u32 flip = !w.is_signed ? 0u : BITS == 8 ? SIGNS : 0x08080808u;
        u32 zero = w.zero == nullptr ? 0u : BITS == 8 ? w.zero[scaled] : w.zero[scaled / 2] >> scaled % 2 * 4 & 15u;
        float less = static_cast<float>(w.is_signed ? zero ^ static_cast<u32>(LEAST) : zero);
        factor = to_compute(w.scale[scaled]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) chunks[i / 2].at[i % 2 * 4 + j] = narrowed<T>(byte_number(bytes[i] ^ flip, j, 0.0f) - less);
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) left.chunks[place_of(line, run * 2 + i)] = *reinterpret_cast<const uint4*>(&chunks[i]);
    left.factors[run][line] = factor;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(scaled_matmul_mma)(const T* x, const u8* q, const T* scale, const u8* zero, T* y, i64 rows, i64 cols, i64 depth, i64 block, i64 blocks, i32 is_signed) {
    __shared__ __align__(128) Left lefts[2];
    __shared__ __align__(128) uint4 rights[2][SIDE * LINE];  // of x
    release_successor();
    await_predecessor();
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    Weight w = {q, scale, zero, cols, depth, block, blocks, is_signed != 0};
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int left_line = warp % 4 * 16, right_line = warp / 4 * 32;
    i64 column = static_cast<i64>(blockIdx.x) * SIDE;
    for (i64 row = static_cast<i64>(blockIdx.y) * SIDE; row < rows; row += static_cast<i64>(gridDim.y) * SIDE) {
        float sums[4][4] = {};
        int side = 0;
        fetch(rights[0], x, row, rows, depth, 0);
        copy_async_commit();
        unpack(lefts[0], w, column, 0);
        copy_async_wait<0>();
        __syncthreads();
        for (i64 k = 0; k < depth; k += STEP) {
            if (k + STEP < depth) {
                fetch(rights[side ^ 1], x, row, rows, depth, k + STEP);
                copy_async_commit();
                unpack(lefts[side ^ 1], w, column, k + STEP);
            }
            const Left& left = lefts[side];
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                u32 a[4], b[2][4];
                load_matrix_x4(a, left.chunks + place_of(left_line + lane % 16, run * 2 + lane / 16));
#pragma unroll
                for (int i = 0; i < 2; i++) load_matrix_x4(b[i], rights[side] + place_of(right_line + i * 16 + lane % 8 + lane / 16 * 8, run * 2 + lane / 8 % 2));
                float factors[2];
#pragma unroll
                for (int r = 0; r < 2; r++) factors[r] = left.factors[run][left_line + lane / 4 + 8 * r];
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    u32 pair[2] = {b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]};
                    float products[4] = {};
                    mma_16816(products, a, pair, T{});
#pragma unroll
                    for (int j = 0; j < 4; j++) sums[i][j] += factors[j / 2] * products[j];
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
TENON_ENTRY(scaled_matmul_mma)
