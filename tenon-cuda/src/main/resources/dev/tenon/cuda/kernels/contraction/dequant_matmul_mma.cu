// y[m, n] = sum over k of x[m, k] w[n, k] for many rows of x, rows of w packed in blocks (block_formats.cuh), on tensor cores (packed_tile.cuh).
//
// Launch: 256 threads, grid (ceil(cols / 64), any): blocks walk on over tiles of 128 rows of x. Dynamic shared memory: PackedTile::Shared. x
// [rows, depth] on a 16-byte boundary, w [cols, packed depth] too, y [rows, cols]; depth is whole blocks.
// Variants: TENON_FORMAT a BlockFormat's name; TENON_T f16, bf16. From sm_80 on.
#include "block_formats.cuh"
#include "packed_tile.cuh"

template <typename T_, int F>
struct PackedBlocks {
    typedef T_ T;
    typedef Block<F> B;
    static constexpr int RUN = F == Q2_K || F == Q3_K || F == Q6_K ? 16 : 32;
    static constexpr bool OFFSETS = F == Q4_1 || F == Q5_1 || F == Q2_K || F == Q4_K || F == Q5_K;
    static constexpr int CHUNK = B::ELEMENTS == 256 ? 256 : 64;
    static constexpr int CHUNK_BYTES = CHUNK / B::ELEMENTS * B::BYTES;
    static constexpr int MISALIGNED = B::BYTES % 16 == 0 ? 0 : 14;
    static constexpr u32 ZERO = F == Q4_0 ? 8 : F == Q5_0 ? 16 : F == Q8_0 ? 128 : F == Q3_K ? 4 : F == Q6_K ? 32 : 0;

    struct Ahead {};

    const u8* bytes;
    i64 row_bytes;
    i64 cols, depth;

    __device__ __forceinline__ Ahead ahead(i64, int) const { return {}; }

    __device__ __forceinline__ void unpack(const u8* chunk, int e, const Ahead&, u32 (&pairs)[8], float& factor, float& offset) const {
        const u8* block = chunk + e / B::ELEMENTS * B::BYTES;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Four<float> four = four_of<float, F>(block, e % B::ELEMENTS + 4 * i);
            factor = four.factor;
            offset = four.offset;
            u32 two[2];
            integers(two, four.bytes, ZERO, T{});
            pairs[2 * i] = two[0];
            pairs[2 * i + 1] = two[1];
        }
    }
};

extern "C" __global__ void __launch_bounds__(256, 2) TENON_NAME(dequant_matmul_mma)(const TENON_T* x, const u8* w, TENON_T* y, i64 rows, i64 cols, i64 depth) {
    release_successor();
    await_predecessor();
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    typedef PackedBlocks<TENON_T, TENON_FORMAT> W;
    typedef PackedTile<W> Tile;
    TENON_DYNAMIC_SHARED(typename Tile::Shared, shared);
    W weights = {w, depth / W::B::ELEMENTS * W::B::BYTES, cols, depth};
    Tile tile(weights, *shared, x, y, rows, static_cast<i64>(blockIdx.x) * Tile::COLS);
    tile.run();
#endif
}
TENON_ENTRY(dequant_matmul_mma)
