// y[n] = sum over k of x[k] w[n, k] for one row x, rows of w packed in blocks of 4 bits (block_formats.cuh), on tensor cores (gemv_tiles.cuh):
// dequant_gemv.cu's product where unpacking, not memory, would set the time.
//
// Launch: 256 threads, ceil(ceil(cols / 16) / share) blocks of up to `share` tiles of 16 rows each; depth is a multiple of 256, x and w on 16-byte
// boundaries. `constant`: no launch before this one writes w, which is then fetched before they have ended. Dynamic shared memory: 8 · 5 stages
// of 16 · 144 bytes, and share · 128 floats. Variants: TENON_FORMAT Q4_0 or Q4_K; TENON_T f16, bf16. From sm_75 on.
#include "block_formats.cuh"
#include "gemv_tiles.cuh"

typedef Block<TENON_FORMAT> B;

constexpr bool K_QUANT = TENON_FORMAT == Q4_K;

static_assert(CHUNK / B::ELEMENTS * B::BYTES == 144, "a chunk is nine accesses");

#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
// A chunk of Q4_0: eight blocks of 18 bytes, two of which begin on a boundary of 4.
__device__ __forceinline__ void plain_blocks(float (&sums)[2], const u32* const (&rows)[2], const Column& x, const Unpacking& how, int group, int t) {
    float tiles[4][4] = {};  // several, so that products do not wait for each other
#pragma unroll
    for (int two = 0; two < 4; two++) {
        u32 low[2][2][2], high[2][2][2];  // [block][row]
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32* words = rows[r] + two * 9;
            unpack(words[t] >> 16 | words[t + 1] << 16, low[0][r], high[0][r], how);
            unpack(words[5 + t], low[1][r], high[1][r], how);
        }
#pragma unroll
        for (int b = 0; b < 2; b++) multiply(tiles[two], low[b], high[b], x, group == 2 * two + b);
    }
    float tile[4];
    join(tile, tiles);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const u32* words = rows[r] + t * 9;
        sums[r] += x.back * (half_of(words[0] & 0xffff) * tile[2 * r] + half_of(words[4] >> 16) * tile[2 * r + 1]);
    }
}

// A chunk of Q4_K: one block of eight runs.
__device__ __forceinline__ void k_blocks(float (&sums)[2], const u32* const (&rows)[2], const Column& x, const Unpacking& how, int group, int t) {
    float tiles[4][4] = {};  // several, so that products do not wait for each other
#pragma unroll
    for (int two = 0; two < 4; two++) {
        u32 low[2][2][2], high[2][2][2];  // [word][row]
#pragma unroll
        for (int r = 0; r < 2; r++) {
            uint2 words = *reinterpret_cast<const uint2*>(rows[r] + 4 + two * 8 + t * 2);
            unpack(words.x, low[0][r], high[0][r], how);
            unpack(words.y, low[1][r], high[1][r], how);
        }
        multiply(tiles[two], low[0], low[1], x, group == 2 * two);
        multiply(tiles[two], high[0], high[1], x, group == 2 * two + 1);
    }
    float tile[4];
    join(tile, tiles);
    float one, other;
    sums_of_x(x, t, one, other);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint4 head = *reinterpret_cast<const uint4*>(rows[r]);
        u32 shift = t % 2 * 16, a = head.y >> shift, b = head.z >> shift, c = head.w >> shift;
        u32 scales = t < 2 ? a & 0x3f3fu : (c & 0x0f0fu) | (a >> 2 & 0x3030u);
        u32 minima = t < 2 ? b & 0x3f3fu : (c >> 4 & 0x0f0fu) | (b >> 2 & 0x3030u);
        float dots = byte_number(scales, 0, 0.0f) * tile[2 * r] + byte_number(scales, 1, 0.0f) * tile[2 * r + 1];
        float less = byte_number(minima, 0, 0.0f) * one + byte_number(minima, 1, 0.0f) * other;
        sums[r] += x.back * (half_of(head.x & 0xffff) * dots - half_of(head.x >> 16) * less);
    }
}
#endif

struct Packed {
    typedef TENON_T T;
    static constexpr int CHUNK_BYTES = CHUNK / B::ELEMENTS * B::BYTES;
    static constexpr int DEPTH = 5;
    static constexpr int PITCH = CHUNK_BYTES;
    static constexpr bool NEIGHBOURS = false;

    struct Place {};

    const u8* bytes;
    i64 row_bytes;
    Unpacking how;

    // Of Q4_0 four and the four 16 after them.
    __device__ __forceinline__ void load(Pack<T, 4> (&fours)[2], const T* run, int t) const {
        fours[0] = *reinterpret_cast<const Pack<T, 4>*>(run + (K_QUANT ? 8 * t : 4 * t));
        fours[1] = *reinterpret_cast<const Pack<T, 4>*>(run + (K_QUANT ? 8 * t + 4 : 4 * t + 16));
    }

    __device__ __forceinline__ Place place(i64) const { return {}; }
    __device__ __forceinline__ void fetch(u8*, u8*, const Place&, int, int) const {}

    __device__ __forceinline__ void add(float (&sums)[2], const u32* const (&rows)[2], const Column& x, const Place&, int, int group, int t) const {
#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
        if (K_QUANT) {
            k_blocks(sums, rows, x, how, group, t);
        } else {
            plain_blocks(sums, rows, x, how, group, t);
        }
#endif
    }
};

extern "C" __global__ void __launch_bounds__(256, 2) TENON_NAME(dequant_gemv_mma)(const TENON_T* x, const u8* w, TENON_T* y, i64 cols, i64 depth, i32 share, i32 constant) {
    TENON_DYNAMIC_SHARED(u8, shared);
    bool never = share < 0;  // which the compiler does not know: masks lie in registers, and unpacking a pair takes an instruction less
    gemv_tiles(Packed{w, depth / CHUNK * Packed::PITCH, Unpacking(never, K_QUANT ? 0 : 8)}, x, y, cols, depth, share, constant != 0, shared);
}
TENON_ENTRY(dequant_gemv_mma)
