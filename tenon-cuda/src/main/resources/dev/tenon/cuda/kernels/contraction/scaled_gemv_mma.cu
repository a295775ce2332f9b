// y[n] = sum over k of x[k] scale[n, k >> shift] q[n, k] for one row x, q of 4 bits, on tensor cores (gemv_tiles.cuh): scaled_gemv.cu's product
// where unpacking, not memory, would set the time. Zero points are left to that: times sums of x they would make NaN of infinite elements.
//
// Launch: 256 threads, ceil(ceil(cols / 16) / share) blocks of up to `share` tiles of 16 rows each. x [depth], q [cols, depth], scale [cols,
// blocks]. depth is a multiple of 256; 1 << shift, the elements of a block, at least 32; 63 for one block a row. x and q
// on 16-byte boundaries. `is_signed`: q is two's complement. `constant`: no launch before this one writes q and scale, which are
// then fetched before they have ended. Dynamic shared memory: 8 · 4 stages of 16 · 176 bytes, and share · 128 floats. Variants: TENON_T f16, bf16.
// From sm_75 on.
#include "gemv_tiles.cuh"

struct Scaled {
    typedef TENON_T T;
    static constexpr int CHUNK_BYTES = CHUNK / 2;
    static constexpr int DEPTH = 4;
    static constexpr int PITCH = CHUNK_BYTES + 48;
    static constexpr bool NEIGHBOURS = true;

    // The first scales of two rows.
    struct Place {
        i64 scale[2];
    };

    const u8* bytes;
    i64 row_bytes;
    const T* scale;
    i64 cols, blocks, scales;  // scales: all of them
    int shift;
    bool is_signed;

    __device__ __forceinline__ void load(Pack<T, 4> (&fours)[2], const T* run, int t) const {
        fours[0] = *reinterpret_cast<const Pack<T, 4>*>(run + 8 * t);
        fours[1] = *reinterpret_cast<const Pack<T, 4>*>(run + 8 * t + 4);
    }

    __device__ __forceinline__ Place place(i64 row) const {
        Place of;
#pragma unroll
        for (int r = 0; r < 2; r++) of.scale[r] = (row + 8 * r < cols ? row + 8 * r : cols - 1) * blocks;
        return of;
    }

    // The scale of a thread's first run; that of its second is the same, or, of 32 elements, the next one, and the first one of an even number.
    __device__ __forceinline__ int scale_of(int chunk, int t) const { return chunk * CHUNK + 64 * t >> (shift < 31 ? shift : 31); }

    // Words of scales.
    __device__ __forceinline__ void fetch(u8* one, u8* other, const Place& place, int chunk, int t) const {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            u8* to = (r == 0 ? one : other) + 4 * t;
            i64 at = place.scale[r] + scale_of(chunk, t), word = at / 2 * 2;
            if (word + 1 < scales) {
                copy_async_4(to, scale + word);
            } else {
                *reinterpret_cast<Pack<T, 2>*>(to) = {{scale[word], T{}}};
            }
        }
    }

    __device__ __forceinline__ void add(float (&sums)[2], const u32* const (&rows)[2], const Column& x, const Place& place, int chunk, int group, int t) const {
#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
        const Unpacking how(is_signed, is_signed ? 8 : 0);
        float tiles[4][4] = {};  // several, so that products do not wait for each other
#pragma unroll
        for (int run = 0; run < 8; run++) {
            u32 low[2][2], high[2][2];  // [row]
#pragma unroll
            for (int r = 0; r < 2; r++) unpack(rows[r][run * 4 + t], low[r], high[r], how);
            multiply(tiles[run / 2], low, high, x, group == run);
        }
        float tile[4];
        join(tile, tiles);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            Pack<T, 2> two = *reinterpret_cast<const Pack<T, 2>*>(rows[r] + CHUNK_BYTES / 4 + t);
            bool second = (static_cast<u32>(place.scale[r]) + scale_of(chunk, t)) % 2 == 1;
            float scale_one = to_compute(second ? two.at[1] : two.at[0]), scale_other = to_compute(second || shift == 5 ? two.at[1] : two.at[0]);
            sums[r] += x.back * (scale_one * tile[2 * r] + scale_other * tile[2 * r + 1]);
        }
#endif
    }
};

extern "C" __global__ void __launch_bounds__(256, 2) TENON_NAME(scaled_gemv_mma)(const TENON_T* x, const u8* q, const TENON_T* scale, TENON_T* y, i64 cols, i64 depth, i64 blocks, i32 shift, i32 is_signed, i32 share, i32 constant) {
    TENON_DYNAMIC_SHARED(u8, shared);
    gemv_tiles(Scaled{q, depth / 2, scale, cols, blocks, cols * blocks, shift, is_signed != 0}, x, y, cols, depth, share, constant != 0, shared);
}
TENON_ENTRY(scaled_gemv_mma)
