// y[n] = sum over k of x[k] scale[n, k >> shift] (q[n, k] - zero[n, k >> shift]) for one row x, q of 8 or 4 bits: scaled_matmul.cu's product where
// reading q sets the time.
//
// A warp has four rows of q and every `slices`th chunk of them, 16 bytes a lane and row: LANE elements, which have one scale. The next
// chunks are on their way while one is multiplied. The warps of a block that share rows add their sums through shared memory. Integers become floats as
// low digits of 2^23, exactly.
//
// Launch: 256 threads, ceil(cols / (4 · 8 / slices)) blocks; slices is 1, 2, 4 or 8. x [depth], q [cols, depth], scale and zero [cols, blocks];
// zero may be null. depth is a multiple of LANE, and so is 1 << shift, the elements of a block; 63 for one block a row. x and q on 16-byte boundaries. `is_signed`: q and zero
// are two's complement. `constant`: no launch before this one writes q. Static shared memory: 32 floats. Variants: TENON_BITS 8 or 4; TENON_T
// float, f16, bf16.
#include "block_formats.cuh"
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;

constexpr int ROWS = 4;
constexpr int WARPS = 8;
constexpr int BITS = TENON_BITS;
constexpr int AHEAD = BITS == 8 ? 2 : 1;  // chunks
constexpr int LANE = 128 / BITS;          // elements
constexpr int PACK = 16 / sizeof(T);      // of x
constexpr u32 SIGNS = BITS == 8 ? 0x80808080u : 0x88888888u;
constexpr int LEAST = BITS == 8 ? 128 : 8;  // what flipping a sign adds

// The zero point of a block, as the bytes of its elements have it once signs are flipped.
__device__ __forceinline__ float zero_point(const u8* zero, i64 scaled, bool is_signed) {
    u32 bits = BITS == 8 ? zero[scaled] : zero[scaled / 2] >> scaled % 2 * 4 & 15u;
    return static_cast<float>(is_signed ? bits ^ static_cast<u32>(LEAST) : bits);
}

// The sum of four products, with the bytes of a word.
__device__ __forceinline__ float add_four(float sum, u32 bytes, float less, const float* v) {
#pragma unroll
    for (int i = 0; i < 4; i++) sum += (byte_number(bytes, i, 0.0f) - less) * v[i];
    return sum;
}

// A lane's elements of x in the order in which words give them, the lower halves of four bytes and then the upper ones.
__device__ __forceinline__ void load_x(float (&v)[LANE], const T* x) {
#pragma unroll
    for (int p = 0; p < LANE / PACK; p++) {
        Pack<T, PACK> some = *reinterpret_cast<const Pack<T, PACK>*>(x + p * PACK);
#pragma unroll
        for (int i = 0; i < PACK; i++) {
            int e = p * PACK + i;
            v[BITS == 8 ? e : e / 8 * 8 + e % 2 * 4 + e % 8 / 2] = to_compute(some.at[i]);
        }
    }
}

// The sum of the products with a lane's elements of a row.
__device__ __forceinline__ float dot(uint4 words, u32 flip, float less, const float (&v)[LANE]) {
    u32 some[4] = {words.x ^ flip, words.y ^ flip, words.z ^ flip, words.w ^ flip};
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (BITS == 8) {
            sum = add_four(sum, some[i], less, v + 4 * i);
        } else {
            sum = add_four(sum, some[i] & 0x0f0f0f0fu, less, v + 8 * i);
            sum = add_four(sum, some[i] >> 4 & 0x0f0f0f0fu, less, v + 8 * i + 4);
        }
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(256, 2) TENON_NAME(scaled_gemv)(const T* x, const u8* q, const T* scale, const u8* zero, T* y, i64 cols, i64 depth, i64 blocks, i32 shift, i32 is_signed, i32 slices, i32 constant) {
    __shared__ float partial[WARPS][ROWS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    i64 column = (static_cast<i64>(blockIdx.x) * (WARPS / slices) + warp / slices) * ROWS;
    i64 row_bytes = depth * BITS / 8;
    const u8* rows[ROWS];
    i64 first_scale[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        i64 row = column + r < cols ? column + r : cols - 1;
        rows[r] = q + row * row_bytes;
        first_scale[r] = row * blocks;
    }
    u32 flip = is_signed ? SIGNS : 0u;
    float flipped = is_signed ? static_cast<float>(LEAST) : 0.0f;
    i64 step = static_cast<i64>(slices) * 32 * LANE;
    i64 k = (static_cast<i64>(warp % slices) * 32 + lane) * LANE;
    release_successor();
    uint4 ahead[AHEAD][ROWS];
    auto fetch = [&](uint4 (&to)[ROWS], i64 at) {
        if (at < depth) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) to[r] = __ldcs(reinterpret_cast<const uint4*>(rows[r] + at * BITS / 8));
        }
    };
    if (!constant) await_predecessor();
#pragma unroll
    for (int a = 0; a < AHEAD; a++) fetch(ahead[a], k + a * step);
    if (constant) await_predecessor();
    float sums[ROWS] = {};
    for (; k < depth; k += AHEAD * step) {
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            i64 at = k + a * step;
            if (at >= depth) break;
            uint4 words[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) words[r] = ahead[a][r];
            fetch(ahead[a], at + AHEAD * step);
            float v[LANE];
            load_x(v, x + at);
            i64 of = at >> shift;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                i64 scaled = first_scale[r] + of;
                float less = zero == nullptr ? flipped : zero_point(zero, scaled, is_signed != 0);
                sums[r] += to_compute(scale[scaled]) * dot(words[r], flip, less, v);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2) sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], lanes);
        if (lane == r) partial[warp][r] = sums[r];
    }
    __syncthreads();
    int own = threadIdx.x / ROWS * slices, r = threadIdx.x % ROWS;  // its first warp
    if (own < WARPS) {
        i64 n = (static_cast<i64>(blockIdx.x) * (WARPS / slices) + threadIdx.x / ROWS) * ROWS + r;
        float sum = 0.0f;
        for (int s = 0; s < slices; s++) sum += partial[own + s][r];
        if (n < cols) y[n] = narrowed<T>(sum);
    }
}
TENON_ENTRY(scaled_gemv)
