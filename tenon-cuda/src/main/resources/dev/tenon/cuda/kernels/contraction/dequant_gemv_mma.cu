// y[n] = sum over k of x[k] w[n, k] for one row x, rows of w packed in blocks of 4 bits (block_formats.cuh), on tensor cores: dequant_gemv.cu's
// product where unpacking, not memory, would set the time.
//
// A warp takes 16 rows of w and 256 elements of each, through shared memory, DEPTH such stages on their way. Words of 4 bits become pairs of
// halves by two instructions a pair, exactly. The sums of a row's eight runs of 32 elements come out as the eight columns of one tile, because
// x of run r is in column r of the other operand and zero elsewhere: each thread then has two runs of two rows to scale. Elements of a run are
// taken in the order in which words give them, x likewise.
//
// x in f16 is taken as it is. Other types become two halves each, high and low, of x times a power of two that brings the largest to about 2^14:
// together within 2^-22 of each number and 2^-39 of the largest.
//
// Launch: 256 threads, blocks of ceil(cols / 16) or fewer; depth is a multiple of 256, x and w on 16-byte boundaries. `constant`: no launch
// before this one writes w, which is then fetched before they have ended. Dynamic shared memory: 8 DEPTH stages of 16 packed runs, PARTS · 2
// bytes and an eighth each an element of x. Variants: TENON_FORMAT Q4_0 or Q4_K; TENON_T float, f16, bf16. From sm_75 on.
#include "block_formats.cuh"
#include "types.cuh"

typedef TENON_T T;
typedef Block<TENON_FORMAT> B;

constexpr int WARPS = 8;
constexpr int ROWS = 16;
constexpr int CHUNK = 256;
constexpr int DEPTH = 4;
constexpr int ROW_BYTES = CHUNK / B::ELEMENTS * B::BYTES;  // of a chunk: 144
constexpr int PIECES = ROW_BYTES / 16;
constexpr int STAGE = ROWS * ROW_BYTES;
template <typename S>
struct Halves {
    static constexpr int parts = 2;
};
template <>
struct Halves<f16> {
    static constexpr int parts = 1;
};
constexpr int PARTS = Halves<T>::parts;
constexpr bool EXACT = PARTS == 1;
constexpr bool K_QUANT = TENON_FORMAT == Q4_K;

static_assert(ROW_BYTES == 144, "a chunk is nine accesses");

// Where element e of a run of 32 lies among its halves: those of thread t of a group first by t, then in the order of the words' pairs.
__device__ __forceinline__ int place_of(int e) {
    int i = e % 4, pair = (i & 1) * 2 + (i >> 1);
    return K_QUANT ? e / 8 * 8 + e / 4 % 2 * 4 + pair : e % 16 / 4 * 8 + e / 16 * 4 + pair;
}

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

// x as halves, in shared memory.
struct Row {
    u16* halves;  // [PARTS][depth]
    float* sums;  // of runs, scaled like the halves
    float back;   // what a result is multiplied by
};

__device__ __forceinline__ float power_of_two(int k) { return __int_as_float((127 + k) << 23); }

// The power of two that brings the largest finite |x| to about 2^14.
__device__ __forceinline__ int scale_of(const T* x, i64 depth, u32* shared) {
    u32 most = 0;
    for (i64 i = threadIdx.x; i < depth; i += blockDim.x) {
        u32 bits = __float_as_uint(to_compute(x[i])) & 0x7fffffffu;
        if (bits < 0x7f800000u && bits > most) most = bits;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        u32 other = __shfl_xor_sync(0xffffffffu, most, lanes);
        most = other > most ? other : most;
    }
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) most = shared[w] > most ? shared[w] : most;
    int k = 141 - static_cast<int>(most >> 23);
    return k < 126 ? k : 126;
}

__device__ __forceinline__ void take_row(const T* x, i64 depth, Row& row, u32* shared) {
    int k = EXACT ? 0 : scale_of(x, depth, shared);
    float scale = power_of_two(k);
    row.back = power_of_two(-k);
    for (i64 first = threadIdx.x * 8; first < depth; first += blockDim.x * 8) {
        Pack<T, 8> some = *reinterpret_cast<const Pack<T, 8>*>(x + first);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            i64 at = first / 32 * 32 + place_of(static_cast<int>(first % 32) + i);
            float v = to_compute(some.at[i]) * scale;
            f16 high = to_f16(v);
            row.halves[at] = high.bits;
            // an infinity or NaN is all in the first
            if (!EXACT) row.halves[depth + at] = (high.bits & 0x7c00) == 0x7c00 ? 0 : to_f16(v - to_f32(high)).bits;
        }
    }
    __syncthreads();
    if (!K_QUANT) return;
    for (i64 run = threadIdx.x; run < depth / 32; run += blockDim.x) {
        float sum = 0.0f;
        for (int part = 0; part < PARTS; part++) {
            const uint4* halves = reinterpret_cast<const uint4*>(row.halves + part * depth + run * 32);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint4 eight = halves[i];
                u32 words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float a, b;
                    to_f32(words[j], a, b);
                    sum += a + b;
                }
            }
        }
        row.sums[run] = sum;
    }
    __syncthreads();
}

#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
// Adds the products of the words of one run of both rows of a thread: those of `first` and `second` as the two halves of the depth of two tiles.
__device__ __forceinline__ void multiply(float (&tile)[4], const u32 (&first)[2][2], const u32 (&second)[2][2], const uint4 (&x)[PARTS], bool mine) {
    u32 a[4] = {first[0][0], first[1][0], first[0][1], first[1][1]};
    u32 b[4] = {second[0][0], second[1][0], second[0][1], second[1][1]};
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        u32 low[2] = {mine ? x[part].x : 0, mine ? x[part].y : 0};
        u32 high[2] = {mine ? x[part].z : 0, mine ? x[part].w : 0};
        mma_16816(tile, a, low, f16{});
        mma_16816(tile, b, high, f16{});
    }
}

// A chunk of Q4_0: eight blocks of 18 bytes, two of which begin on a boundary of 4.
__device__ __forceinline__ void plain_blocks(float (&sums)[2], const u32* const (&rows)[2], const uint4 (&x)[PARTS], int group, int t) {
    float tile[4] = {};
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
        for (int b = 0; b < 2; b++) multiply(tile, low[b], high[b], x, group == 2 * two + b);
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const u32* words = rows[r] + t * 9;
        sums[r] += half_of(words[0] & 0xffff) * tile[2 * r] + half_of(words[4] >> 16) * tile[2 * r + 1];
    }
}

// A chunk of Q4_K: one block of eight runs.
__device__ __forceinline__ void k_blocks(float (&sums)[2], const u32* const (&rows)[2], const uint4 (&x)[PARTS], const float* run_sums, int group, int t) {
    float tile[4] = {};
#pragma unroll
    for (int two = 0; two < 4; two++) {
        u32 low[2][2][2], high[2][2][2];  // [word][row]
#pragma unroll
        for (int r = 0; r < 2; r++) {
            uint2 words = *reinterpret_cast<const uint2*>(rows[r] + 4 + two * 8 + t * 2);
            unpack(words.x, low[0][r], high[0][r]);
            unpack(words.y, low[1][r], high[1][r]);
        }
        multiply(tile, low[0], low[1], x, group == 2 * two);
        multiply(tile, high[0], high[1], x, group == 2 * two + 1);
    }
    float2 whole = *reinterpret_cast<const float2*>(run_sums + 2 * t);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint4 head = *reinterpret_cast<const uint4*>(rows[r]);
        u32 shift = t % 2 * 16, a = head.y >> shift, b = head.z >> shift, c = head.w >> shift;
        u32 scales = t < 2 ? a & 0x3f3fu : (c & 0x0f0fu) | (a >> 2 & 0x3030u);
        u32 minima = t < 2 ? b & 0x3f3fu : (c >> 4 & 0x0f0fu) | (b >> 2 & 0x3030u);
        float dots = byte_number(scales, 0, 0.0f) * tile[2 * r] + byte_number(scales, 1, 0.0f) * tile[2 * r + 1];
        float less = byte_number(minima, 0, 0.0f) * whole.x + byte_number(minima, 1, 0.0f) * whole.y;
        sums[r] += half_of(head.x & 0xffff) * dots - half_of(head.x >> 16) * less;
    }
}
#endif

extern "C" __global__ void __launch_bounds__(256, 2) TENON_NAME(dequant_gemv_mma)(const T* x, const u8* w, T* y, i64 cols, i64 depth, i32 constant) {
    TENON_DYNAMIC_SHARED(u8, shared);
    __shared__ float partial[2][WARPS][ROWS];
    __shared__ u32 extremes[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u8* stages = shared + warp * DEPTH * STAGE;
    Row row;
    row.halves = reinterpret_cast<u16*>(shared + WARPS * DEPTH * STAGE);
    row.sums = reinterpret_cast<float*>(row.halves + PARTS * depth);
    i64 row_bytes = depth / CHUNK * ROW_BYTES;
    i64 tiles = (cols + ROWS - 1) / ROWS;
    i64 chunks = depth / CHUNK;

    // what is fetched next
    i64 ahead = blockIdx.x, ahead_chunk = warp;
    auto next = [&](int stage) {
        if (ahead < tiles && ahead_chunk < chunks) {
#pragma unroll
            for (int i = 0; i < (ROWS * PIECES + 31) / 32; i++) {
                int piece = lane + 32 * i;
                if (piece < ROWS * PIECES) {
                    i64 of = ahead * ROWS + piece / PIECES;
                    of = of < cols ? of : cols - 1;  // past the end the last row, whose sum is not stored
                    copy_async_16(stages + stage * STAGE + piece * 16, w + of * row_bytes + ahead_chunk * ROW_BYTES + piece % PIECES * 16);
                }
            }
            ahead_chunk += WARPS;
            if (ahead_chunk >= chunks) {
                ahead_chunk = warp;
                ahead += gridDim.x;
            }
        }
        copy_async_commit();
    };
    release_successor();
    if (!constant) await_predecessor();
#pragma unroll
    for (int stage = 0; stage < DEPTH - 1; stage++) next(stage);
    if (constant) await_predecessor();
    take_row(x, depth, row, extremes);

#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
    int group = lane / 4, t = lane % 4;
    int stage = 0, side = 0;
    for (i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float sums[2] = {};
        for (i64 chunk = warp; chunk < chunks; chunk += WARPS) {
            copy_async_wait<DEPTH - 2>();
            __syncwarp();
            next(stage == 0 ? DEPTH - 1 : stage - 1);
            const u8* of = stages + stage * STAGE;
            const u32* rows[2] = {reinterpret_cast<const u32*>(of + group * ROW_BYTES), reinterpret_cast<const u32*>(of + (group + 8) * ROW_BYTES)};
            uint4 own[PARTS];  // x of the run that is this thread's column
#pragma unroll
            for (int part = 0; part < PARTS; part++) own[part] = reinterpret_cast<const uint4*>(row.halves + part * depth + chunk * CHUNK)[lane];
            if (K_QUANT) {
                k_blocks(sums, rows, own, row.sums + chunk * 8, group, t);
            } else {
                plain_blocks(sums, rows, own, group, t);
            }
            stage = stage + 1 == DEPTH ? 0 : stage + 1;
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], 1);
            sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], 2);
            if (t == 0) partial[side][warp][group + 8 * r] = sums[r];
        }
        __syncthreads();
        i64 to = tile * ROWS + threadIdx.x;
        if (threadIdx.x < ROWS && to < cols) {
            float sum = 0.0f;
            for (int of = 0; of < WARPS; of++) sum += partial[side][of][threadIdx.x];
            y[to] = narrowed<T>(sum * row.back);
        }
        side ^= 1;
    }
#endif
    copy_async_wait<0>();
}
TENON_ENTRY(dequant_gemv_mma)
