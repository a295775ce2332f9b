// y[m, n] = sum over k of x[m, k] scale[n, k / block] (q[n, k] - zero[n, k / block]) for many rows of x, q of 8 or 4 bits, on tensor cores
// (packed_tile.cuh). What is multiplied are the differences, which x's type has exactly.
//
// Launch: 256 threads, grid (ceil(cols / 64), any): blocks walk on over tiles of 128 rows of x. Dynamic shared memory: PackedTile::Shared. x
// [rows, depth] on a 16-byte boundary, q [cols, depth] too, scale and zero [cols, blocks], y [rows, cols]; zero may be null. depth is a multiple
// of 16, and so is block where there are several. `is_signed`: q and zero are two's complement.
// Variants: TENON_BITS 8 or 4; TENON_RUN 32, where block is a multiple of it or there is one block a row, or 16; TENON_T f16, bf16. From sm_80 on.
#include "packed_tile.cuh"

struct ScaledRows {
    typedef TENON_T T;
    static constexpr int BITS = TENON_BITS;
    static constexpr int RUN = TENON_RUN;
    static constexpr bool OFFSETS = false;
    static constexpr int CHUNK = 64;
    static constexpr int CHUNK_BYTES = CHUNK * BITS / 8;
    static constexpr int MISALIGNED = BITS == 8 ? 0 : 8;

    struct Ahead {
        float factor;
        u32 zero;
    };

    const u8* bytes;
    i64 row_bytes;
    i64 cols, depth;
    const T* scale;
    const u8* zero;
    u32 block;
    i64 blocks;
    bool is_signed;

    __device__ __forceinline__ Ahead ahead(i64 n, int k) const {
        i64 at = n * blocks + static_cast<u32>(k) / block;
        u32 point = zero == nullptr ? 0u : BITS == 8 ? zero[at] : zero[at / 2] >> at % 2 * 4 & 15u;
        return {to_compute(scale[at]), is_signed ? point ^ (BITS == 8 ? 128u : 8u) : point};
    }

    __device__ __forceinline__ void unpack(const u8* chunk, int e, const Ahead& of, u32 (&pairs)[8], float& factor, float&) const {
        u32 four[4];
        if (BITS == 8) {
            uint4 some = *reinterpret_cast<const uint4*>(chunk + e);
            four[0] = some.x, four[1] = some.y, four[2] = some.z, four[3] = some.w;
        } else {
            uint2 some = *reinterpret_cast<const uint2*>(chunk + e / 2);
            u32 words[2] = {some.x, some.y};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u32 half = words[i / 2] >> i % 2 * 16;
                four[i] = (half & 0xfu) | (half & 0xf0u) << 4 | (half & 0xf00u) << 8 | (half & 0xf000u) << 12;
            }
        }
        u32 flip = !is_signed ? 0u : BITS == 8 ? 0x80808080u : 0x08080808u;
        factor = of.factor;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 two[2];
            integers(two, four[i] ^ flip, of.zero, T{});
            pairs[2 * i] = two[0];
            pairs[2 * i + 1] = two[1];
        }
    }
};

extern "C" __global__ void __launch_bounds__(256, 2) TENON_NAME(scaled_matmul_mma)(const TENON_T* x, const u8* q, const TENON_T* scale, const u8* zero, TENON_T* y, i64 rows, i64 cols, i64 depth, i64 block, i64 blocks, i32 is_signed) {
    release_successor();
    await_predecessor();
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    typedef PackedTile<ScaledRows> Tile;
    TENON_DYNAMIC_SHARED(typename Tile::Shared, shared);
    u32 each = block < 0x7fffffff ? static_cast<u32>(block) : 0x7fffffffu;
    ScaledRows weights = {q, depth * TENON_BITS / 8, cols, depth, scale, zero, each, blocks, is_signed != 0};
    Tile tile(weights, *shared, x, y, rows, static_cast<i64>(blockIdx.x) * Tile::COLS);
    tile.run();
#endif
}
TENON_ENTRY(scaled_matmul_mma)
