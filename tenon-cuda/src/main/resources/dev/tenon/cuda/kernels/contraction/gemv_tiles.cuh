// y[n] = sum over k of x[k] w[n, k] for one row x, w of 4 bits, on tensor cores, where unpacking, not memory, would set the time.
//
// A warp takes 16 rows of w and 256 elements of each, through shared memory, DEPTH such stages on their way. Words of 4 bits become pairs of
// halves by two instructions a pair, exactly. The sums of a row's eight runs of 32 elements come out as the eight columns of one tile, because
// x of run r is in column r of the other operand and zero elsewhere: each thread then has two runs of two rows to scale. Elements of a run are
// taken in the order in which words give them, x likewise.
//
// x in f16 is taken as it is; bf16 is brought to about 2^14 in a chunk by a power of two, and then is a half too: exactly, or within 2^-39 of the
// chunk's largest.
//
// W says how w is packed:
//   T, CHUNK_BYTES       x's type; bytes of 256 elements, whole pieces of 16
//   DEPTH, PITCH         stages of a warp; bytes of a row of one, such that rows begin in different banks
//   bytes, row_bytes     w and the distance of its rows, whole pieces
//   NEIGHBOURS           whether the two halves of a byte are neighbours
//   load(fours, run, t)  the eight elements of a run of x that thread t of four has
//   Place place(row)     where what belongs to two rows lies, that one and the one 8 after it
//   fetch(…)             begins to copy what of it a thread has in a chunk, behind the chunk in both rows of a stage
//   add(…)               adds a chunk's products to the sums of two rows
#pragma once
#include "types.cuh"

constexpr int WARPS = 8;
constexpr int ROWS = 16;
constexpr int CHUNK = 256;

// The low and the high 4 bits of a word's bytes as pairs of halves less `less`, exactly: as the last digits of 1024 + q and of 64 + q. Where `flipped`,
// bits are flipped to q + 8 first: two's complement.
struct Unpacking {
    u32 low, high, less, high_less;

    __device__ __forceinline__ Unpacking(bool flipped, u32 zero)
        : low(flipped ? 0x64086408u : 0x64006400u), high(flipped ? 0x54805480u : 0x54005400u), less(0xe400e400u + zero * 0x10001u), high_less(0xd400d400u + zero * 0x100010u) {}
};

__device__ __forceinline__ void unpack(u32 word, u32 (&low)[2], u32 (&high)[2], const Unpacking& how) {
    constexpr u32 ONE = 0x3c003c00u;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        u32 bits = word >> 8 * i;
        low[i] = fma_f16x2((bits & 0x000f000fu) ^ how.low, ONE, how.less);
        high[i] = fma_f16x2((bits & 0x00f000f0u) ^ how.high, ONE, how.high_less);
    }
}

__device__ __forceinline__ float half_of(u32 bits) { return to_f32(f16{static_cast<u16>(bits)}); }

__device__ __forceinline__ float power_of_two(int k) { return __int_as_float((127 + k) << 23); }

__device__ __forceinline__ u32 pair_of(u16 low, u16 high) { return static_cast<u32>(low) | static_cast<u32>(high) << 16; }

// A thread's eight elements of x of the run that is its column, as pairs in the words' order, and what sums of products with them are multiplied by.
struct Column {
    uint4 pairs;
    float back;

    __device__ __forceinline__ void set(const u16 (&h)[8], bool neighbours) {
        if (neighbours) {
            pairs = {pair_of(h[0], h[4]), pair_of(h[2], h[6]), pair_of(h[1], h[5]), pair_of(h[3], h[7])};
        } else {
            pairs = {pair_of(h[0], h[2]), pair_of(h[1], h[3]), pair_of(h[4], h[6]), pair_of(h[5], h[7])};
        }
    }
};

// Halves as they are.
__device__ __forceinline__ void take(const Pack<f16, 4> (&x)[2], Column& column, bool neighbours) {
    u16 bits[8];
#pragma unroll
    for (int i = 0; i < 8; i++) bits[i] = x[i / 4].at[i % 4].bits;
    column.back = 1.0f;
    column.set(bits, neighbours);
}

// The same times a power of two.
__device__ __forceinline__ void take(const Pack<bf16, 4> (&x)[2], Column& column, bool neighbours) {
    float v[8];
    u32 most = 0;  // the bits of the largest that is finite
#pragma unroll
    for (int i = 0; i < 8; i++) {
        v[i] = to_f32(x[i / 4].at[i % 4]);
        u32 bits = __float_as_uint(v[i]) & 0x7fffffffu;
        most = bits < 0x7f800000u && bits > most ? bits : most;
    }
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        u32 other = __shfl_xor_sync(0xffffffffu, most, lanes);
        most = other > most ? other : most;
    }
    int k = 141 - static_cast<int>(most >> 23);
    k = k < 126 ? k : 126;
    u16 bits[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        v[i] *= power_of_two(k);
        bits[i] = to_f16(v[i]).bits;
    }
    column.back = power_of_two(-k);
    column.set(bits, neighbours);
}

#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
// Adds the products of the words of one run of both rows of a thread: those of `first` and `second` as the two halves of the depth of two tiles.
__device__ __forceinline__ void multiply(float (&tile)[4], const u32 (&first)[2][2], const u32 (&second)[2][2], const Column& x, bool mine) {
    u32 a[4] = {first[0][0], first[1][0], first[0][1], first[1][1]};
    u32 b[4] = {second[0][0], second[1][0], second[0][1], second[1][1]};
    u32 low[2] = {mine ? x.pairs.x : 0, mine ? x.pairs.y : 0};
    u32 high[2] = {mine ? x.pairs.z : 0, mine ? x.pairs.w : 0};
    mma_16816(tile, a, low, f16{});
    mma_16816(tile, b, high, f16{});
}

__device__ __forceinline__ void join(float (&tile)[4], const float (&tiles)[4][4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) tile[i] = (tiles[0][i] + tiles[1][i]) + (tiles[2][i] + tiles[3][i]);
}

// The sums of x of the two runs that a thread scales.
__device__ __forceinline__ void sums_of_x(const Column& x, int t, float& one, float& other) {
    float v[8];
    to_f32(x.pairs.x, v[0], v[1]);
    to_f32(x.pairs.y, v[2], v[3]);
    to_f32(x.pairs.z, v[4], v[5]);
    to_f32(x.pairs.w, v[6], v[7]);
    float whole = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));  // of the run of this thread's column
    whole += __shfl_xor_sync(0xffffffffu, whole, 1);
    whole += __shfl_xor_sync(0xffffffffu, whole, 2);
    one = __shfl_sync(0xffffffffu, whole, 8 * t);
    other = __shfl_sync(0xffffffffu, whole, 8 * t + 4);
}
#endif

// All of it. `share`: tiles of 16 rows of a block; `constant`: no launch before this one writes w and what belongs to it, which are
// then fetched before they have ended;
// `shared`: 8 DEPTH stages, and share · 128 floats.
template <typename W>
__device__ __forceinline__ void gemv_tiles(const W& w, const typename W::T* x, typename W::T* y, i64 cols, i64 depth, int share, bool constant, u8* shared) {
    typedef typename W::T T;
    constexpr int PIECES = W::CHUNK_BYTES / 16, DEPTH = W::DEPTH, PITCH = W::PITCH, STAGE = ROWS * PITCH;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u8* stages = shared + warp * DEPTH * STAGE;
    float* partial = reinterpret_cast<float*>(shared + WARPS * DEPTH * STAGE);  // [share][WARPS][ROWS]
    i64 first = static_cast<i64>(blockIdx.x) * share * ROWS;  // row of the block
    i64 left = (cols - first + ROWS - 1) / ROWS;
    int tiles = left < share ? static_cast<int>(left) : share;
    int chunks = static_cast<int>(depth / CHUNK);

    // what is fetched next, and where a lane's pieces of a stage come from; past the last row that row once more, whose sums there are not stored
    constexpr int EACH = (ROWS * PIECES + 31) / 32;
    u32 offsets[EACH];
    const u8* from = w.bytes + first * w.row_bytes;
    int group = lane / 4, t = lane % 4, ahead = 0, ahead_chunk = warp;
    typename W::Place ahead_place = {};
    auto locate = [&]() {
        i64 rows = cols - first - ahead * ROWS;
        ahead_place = w.place(first + ahead * ROWS + group);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int row = (lane + 32 * i) / PIECES;
            offsets[i] = static_cast<u32>(w.row_bytes) * (row < rows ? row : 0) + (lane + 32 * i) % PIECES * 16;
        }
    };
    locate();
    auto next = [&](int stage) {
        if (ahead < tiles && ahead_chunk < chunks) {
            const u8* chunk = from + static_cast<i64>(ahead_chunk) * W::CHUNK_BYTES;
            u8* to = stages + stage * STAGE;
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                int piece = lane + 32 * i;
                if (piece < ROWS * PIECES) copy_async_16(to + piece / PIECES * PITCH + piece % PIECES * 16, chunk + offsets[i]);
            }
            w.fetch(to + group * PITCH + W::CHUNK_BYTES, to + (group + 8) * PITCH + W::CHUNK_BYTES, ahead_place, ahead_chunk, t);
            ahead_chunk += WARPS;
            if (ahead_chunk >= chunks) {
                ahead_chunk = warp;
                ahead++;
                from += ROWS * w.row_bytes;
                if (ahead < tiles) locate();
            }
        }
        copy_async_commit();
    };
    release_successor();
    if (!constant) await_predecessor();
#pragma unroll
    for (int stage = 0; stage < DEPTH - 1; stage++) next(stage);
    if (constant) await_predecessor();

#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
    int stage = 0;
    Pack<T, 4> fours[2];  // of x, of the chunk that comes
    if (warp < chunks) w.load(fours, x + warp * CHUNK + group * 32, t);
    for (int tile = 0; tile < tiles; tile++) {
        typename W::Place place = w.place(first + tile * ROWS + group);
        float sums[2] = {};
        for (int chunk = warp; chunk < chunks; chunk += WARPS) {
            Column own;
            take(fours, own, W::NEIGHBOURS);
            int following = chunk + WARPS < chunks ? chunk + WARPS : warp;
            w.load(fours, x + following * CHUNK + group * 32, t);
            copy_async_wait<DEPTH - 2>();
            __syncwarp();
            next(stage == 0 ? DEPTH - 1 : stage - 1);
            const u8* of = stages + stage * STAGE;
            const u32* rows[2] = {reinterpret_cast<const u32*>(of + group * PITCH), reinterpret_cast<const u32*>(of + (group + 8) * PITCH)};
            w.add(sums, rows, own, place, chunk, group, t);
            stage = stage + 1 == DEPTH ? 0 : stage + 1;
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], 1);
            sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], 2);
            if (t == 0) partial[(tile * WARPS + warp) * ROWS + group + 8 * r] = sums[r];
        }
    }
    __syncthreads();
    for (int row = threadIdx.x; row < tiles * ROWS && first + row < cols; row += blockDim.x) {
        float sum = 0.0f;
        for (int of = 0; of < WARPS; of++) sum += partial[(row / ROWS * WARPS + of) * ROWS + row % ROWS];
        y[first + row] = narrowed<T>(sum);
    }
#endif
    copy_async_wait<0>();
}
