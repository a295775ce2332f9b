// y[n] = sum over k of x[k] w[n, k] for one row x, rows of w packed in blocks of 4 bits (block_formats.cuh), on tensor cores: dequant_gemv.cu's
// product where unpacking, not memory, would set the time.
//
// A warp takes 16 rows of w and 256 elements of each, through shared memory, DEPTH such stages on their way. Words of 4 bits become pairs of
// halves by two instructions a pair, exactly. The sums of a row's eight runs of 32 elements come out as the eight columns of one tile, because
// x of run r is in column r of the other operand and zero elsewhere: each thread then has two runs of two rows to scale. Elements of a run are
// taken in the order in which words give them, x likewise.
//
// x in f16 is taken as it is; bf16 is brought to about 2^14 in a chunk by a power of two, and then is a half too: exactly, or within 2^-39 of the
// chunk's largest.
//
// Launch: 256 threads, ceil(ceil(cols / 16) / share) blocks of up to `share` tiles of 16 rows each; depth is a multiple of 256, x and w on 16-byte
// boundaries. `constant`: no launch before this one writes w, which is then fetched before they have ended. Dynamic shared memory: 8 DEPTH stages
// of 16 · 144 bytes, and share · 128 floats. Variants: TENON_FORMAT Q4_0 or Q4_K; TENON_T f16, bf16. From sm_75 on.
#include "block_formats.cuh"
#include "types.cuh"

typedef TENON_T T;
typedef Block<TENON_FORMAT> B;

constexpr int WARPS = 8;
constexpr int ROWS = 16;
constexpr int CHUNK = 256;
constexpr int DEPTH = 5;
constexpr int ROW_BYTES = CHUNK / B::ELEMENTS * B::BYTES;  // of a chunk: 144
constexpr int PIECES = ROW_BYTES / 16;
constexpr int STAGE = ROWS * ROW_BYTES;
constexpr bool K_QUANT = TENON_FORMAT == Q4_K;

static_assert(ROW_BYTES == 144, "a chunk is nine accesses");

// The low and the high 4 bits of a word's bytes as pairs of halves, Q4_0's less 8: 1024 + q and 1024 + 16 q have them as last digits.
__device__ __forceinline__ void unpack(u32 word, u32 (&low)[2], u32 (&high)[2]) {
    constexpr u32 ONE = 0x3c003c00u, SIXTEENTH = 0x2c002c00u;
    constexpr u32 LESS = K_QUANT ? 0xe400e400u : 0xe408e408u, HIGH_LESS = K_QUANT ? 0xd400d400u : 0xd480d480u;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        u32 bits = word >> 8 * i;
        low[i] = fma_f16x2((bits & 0x000f000fu) | 0x64006400u, ONE, LESS);
        high[i] = fma_f16x2((bits & 0x00f000f0u) | 0x64006400u, SIXTEENTH, HIGH_LESS);
    }
}

__device__ __forceinline__ float half_of(u32 bits) { return to_f32(f16{static_cast<u16>(bits)}); }

__device__ __forceinline__ float power_of_two(int k) { return __int_as_float((127 + k) << 23); }

__device__ __forceinline__ u32 pair_of(u16 low, u16 high) { return static_cast<u32>(low) | static_cast<u32>(high) << 16; }

// A thread's eight elements of x of a chunk, those that its words have of the run that is its column: of Q4_0 four and the four 16 after them.
struct Eight {
    Pack<T, 4> fours[2];

    __device__ __forceinline__ void load(const T* run, int t) {
        fours[0] = *reinterpret_cast<const Pack<T, 4>*>(run + (K_QUANT ? 8 * t : 4 * t));
        fours[1] = *reinterpret_cast<const Pack<T, 4>*>(run + (K_QUANT ? 8 * t + 4 : 4 * t + 16));
    }
};

// The same as pairs in the words' order, their sum, and what sums of products with them are multiplied by.
struct Column {
    uint4 pairs;
    float sum;
    float back;

    __device__ __forceinline__ void set(const u16 (&h)[8]) { pairs = {pair_of(h[0], h[2]), pair_of(h[1], h[3]), pair_of(h[4], h[6]), pair_of(h[5], h[7])}; }
    __device__ __forceinline__ void add(const float (&v)[8]) { sum = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }
};

// Halves as they are.
__device__ __forceinline__ void take(const Pack<f16, 4> (&x)[2], Column& column) {
    u16 bits[8];
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        bits[i] = x[i / 4].at[i % 4].bits;
        v[i] = to_f32(x[i / 4].at[i % 4]);
    }
    column.back = 1.0f;
    column.set(bits);
    column.add(v);
}

// The same times a power of two.
__device__ __forceinline__ void take(const Pack<bf16, 4> (&x)[2], Column& column) {
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
    column.set(bits);
    column.add(v);
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

// A chunk of Q4_0: eight blocks of 18 bytes, two of which begin on a boundary of 4.
__device__ __forceinline__ void plain_blocks(float (&sums)[2], const u32* const (&rows)[2], const Column& x, int group, int t) {
    float tiles[4][4] = {};  // several, so that products do not wait for each other
#pragma unroll
    for (int two = 0; two < 4; two++) {
        u32 low[2][2][2], high[2][2][2];  // [block][row]
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32* words = rows[r] + two * 9;
            unpack(words[t] >> 16 | words[t + 1] << 16, low[0][r], high[0][r]);
            unpack(words[5 + t], low[1][r], high[1][r]);
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
__device__ __forceinline__ void k_blocks(float (&sums)[2], const u32* const (&rows)[2], const Column& x, int group, int t) {
    float tiles[4][4] = {};  // several, so that products do not wait for each other
#pragma unroll
    for (int two = 0; two < 4; two++) {
        u32 low[2][2][2], high[2][2][2];  // [word][row]
#pragma unroll
        for (int r = 0; r < 2; r++) {
            uint2 words = *reinterpret_cast<const uint2*>(rows[r] + 4 + two * 8 + t * 2);
            unpack(words.x, low[0][r], high[0][r]);
            unpack(words.y, low[1][r], high[1][r]);
        }
        multiply(tiles[two], low[0], low[1], x, group == 2 * two);
        multiply(tiles[two], high[0], high[1], x, group == 2 * two + 1);
    }
    float tile[4];
    join(tile, tiles);
    float whole = x.sum;  // of x of the run of this thread's column, and then of its two runs
    whole += __shfl_xor_sync(0xffffffffu, whole, 1);
    whole += __shfl_xor_sync(0xffffffffu, whole, 2);
    float one = __shfl_sync(0xffffffffu, whole, 8 * t), other = __shfl_sync(0xffffffffu, whole, 8 * t + 4);
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

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dequant_gemv_mma)(const T* x, const u8* w, T* y, i64 cols, i64 depth, i32 share, i32 constant) {
    TENON_DYNAMIC_SHARED(u8, shared);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u8* stages = shared + warp * DEPTH * STAGE;
    float* partial = reinterpret_cast<float*>(shared + WARPS * DEPTH * STAGE);  // [share][WARPS][ROWS]
    i64 row_bytes = depth / CHUNK * ROW_BYTES;
    i64 first = static_cast<i64>(blockIdx.x) * share * ROWS;  // row of the block
    i64 left = (cols - first + ROWS - 1) / ROWS;
    int tiles = left < share ? static_cast<int>(left) : share;
    int chunks = static_cast<int>(depth / CHUNK);

    // where a lane's pieces of a stage come from, whole tiles given
    i64 offsets[(ROWS * PIECES + 31) / 32];
#pragma unroll
    for (int i = 0; i < (ROWS * PIECES + 31) / 32; i++) offsets[i] = (lane + 32 * i) / PIECES * row_bytes + (lane + 32 * i) % PIECES * 16;

    // what is fetched next
    int ahead = 0, ahead_chunk = warp;
    auto next = [&](int stage) {
        if (ahead < tiles && ahead_chunk < chunks) {
            const u8* from = w + (first + ahead * ROWS) * row_bytes + static_cast<i64>(ahead_chunk) * ROW_BYTES;
            i64 rows = cols - first - ahead * ROWS;
#pragma unroll
            for (int i = 0; i < (ROWS * PIECES + 31) / 32; i++) {
                int piece = lane + 32 * i;
                // past the last row the tile's first once more, whose sums there are not stored
                if (piece < ROWS * PIECES) copy_async_16(stages + stage * STAGE + piece * 16, from + (piece / PIECES < rows ? offsets[i] : piece % PIECES * 16));
            }
            ahead_chunk += WARPS;
            if (ahead_chunk >= chunks) {
                ahead_chunk = warp;
                ahead++;
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
    int group = lane / 4, t = lane % 4;
    int stage = 0;
    Eight eight;  // of the chunk that comes
    if (warp < chunks) eight.load(x + warp * CHUNK + group * 32, t);
    for (int tile = 0; tile < tiles; tile++) {
        float sums[2] = {};
        for (int chunk = warp; chunk < chunks; chunk += WARPS) {
            Column own;
            take(eight.fours, own);
            int following = chunk + WARPS < chunks ? chunk + WARPS : warp;
            eight.load(x + following * CHUNK + group * 32, t);
            copy_async_wait<DEPTH - 2>();
            __syncwarp();
            next(stage == 0 ? DEPTH - 1 : stage - 1);
            const u8* of = stages + stage * STAGE;
            const u32* rows[2] = {reinterpret_cast<const u32*>(of + group * ROW_BYTES), reinterpret_cast<const u32*>(of + (group + 8) * ROW_BYTES)};
            if (K_QUANT) {
                k_blocks(sums, rows, own, group, t);
            } else {
                plain_blocks(sums, rows, own, group, t);
            }
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
TENON_ENTRY(dequant_gemv_mma)
