// y[n] = sum over k of x[k] w[n, k] for one row x, rows of w packed in blocks (block_formats.cuh): each byte of w crosses the memory bus once, in
// accesses of 16 bytes that are asynchronous, several rows ahead.
//
// A row is cut into slices of 2048 elements. A warp has one slice of every `groups`th row of its block's rows, and x of that slice in registers
// for good: 64 neighbours a lane. Slices of w go through shared memory, DEPTH rows of a warp on their way; a lane unpacks its 64 elements there.
// The loop over rows stays rolled: unrolled it no longer fits the instruction cache, and takes a quarter longer (H200).
// The sums of a row's slices meet in shared memory at the end, added in their order.
//
// An integer q of at most 6 bits becomes the float 1 + q / 2^bits by one byte permutation, and the ones are taken off as the sum of x:
// d sum(q x) = d 2^bits (sum((1 + q / 2^bits) x) - sum(x)). Both sums are of one magnitude, so no digits are lost that a sum of products keeps.
//
// Launch: slices * groups warps, at most 16; blocks have `rows` rows of w each. x on a 16-byte boundary, w too; depth is whole blocks and a
// multiple of 64. `constant`: no launch before this one writes w, which is then fetched before they have ended. Dynamic shared memory: slices * 2048 elements of x, warps * DEPTH stages, rows * slices floats.
// Variants: TENON_FORMAT a BlockFormat's name; TENON_T float, f16, bf16.
#include "block_formats.cuh"
#include "types.cuh"

typedef TENON_T T;
typedef Block<TENON_FORMAT> B;

constexpr int SLICE = 2048;
constexpr int LANE = 64;  // elements of a lane
constexpr int SLICE_BYTES = SLICE / B::ELEMENTS * B::BYTES;
constexpr int STAGE = SLICE_BYTES + 16;  // it begins at the 16-byte boundary before the slice
constexpr int DEPTH = 4;  // stages of a warp
constexpr int SIDE = 2;   // rows that a warp unpacks side by side

static_assert(SLICE_BYTES % 16 == 0, "slices end on 16-byte boundaries where they begin on them");

// Adds the products of four elements of x and four bytes of BITS bits each, made numbers from 1 to 2; of 8 bits: of the bytes less 128.
template <int BITS>
__device__ __forceinline__ void add_four(float (&sums)[2], u32 bytes, const float* v) {
    if (BITS == 8) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float q = __uint_as_float(__byte_perm(bytes, 0x4b000000u, 0x7650 | i)) - 8388736.0f;
            sums[i % 2] += q * v[i];
        }
        return;
    }
    u32 high = bytes | 0x80808080u;
#pragma unroll
    for (int i = 0; i < 4; i++) sums[i % 2] += __uint_as_float(__byte_perm(high, 0x3f000000u, 0x7044 | i << 8)) * v[i];
}

// The same for the upper halves of four bytes, as numbers of 16 bits: the pipes of integers and of conversions share the work.
__device__ __forceinline__ void add_four_upper(float (&sums)[2], u32 bytes, const float* v) {
    float q[4];
    to_f32((bytes << 2 & 0x03c003c0u) | 0x3c003c00u, q[0], q[2]);
    to_f32((bytes >> 6 & 0x03c003c0u) | 0x3c003c00u, q[1], q[3]);
#pragma unroll
    for (int i = 0; i < 4; i++) sums[i % 2] += q[i] * v[i];
}

// factor sum(q x) + offset sum(x).
template <int BITS>
__device__ __forceinline__ float scaled(const float (&sums)[2], float factor, float offset, float whole) {
    float dot = sums[0] + sums[1];
    if (BITS == 8) return factor * dot;
    float f = factor * static_cast<float>(1 << BITS);
    return f * dot + (offset - f) * whole;
}

__device__ __forceinline__ float half_of(u32 bits) { return to_f32(f16{static_cast<u16>(bits)}); }

// A block of 32 elements out of two, which begin on a boundary of 4 bytes, as words.
struct SmallBlock {
    u32 words[B::BYTES / 4 + 1];
    int skip;  // bytes of the first word

    __device__ __forceinline__ SmallBlock(const u32* two, int number) : skip(number * B::BYTES % 4) {
#pragma unroll
        for (int i = 0; i < (B::BYTES + 3) / 4; i++) words[i] = two[number * B::BYTES / 4 + i];
    }
    // Four bytes, `at` even and known to the compiler.
    __device__ __forceinline__ u32 four(int at) const { return (at + skip) % 4 == 0 ? words[(at + skip) / 4] : words[(at + skip) / 4] >> 16 | words[(at + skip) / 4 + 1] << 16; }
    __device__ __forceinline__ float half(int at) const { return half_of(words[(at + skip) / 4] >> (at + skip) % 4 * 8 & 0xffff); }
};

__device__ __forceinline__ float small_blocks(const u8* slice, const float (&v)[LANE], const float (&whole)[4], int lane) {
    constexpr bool five = TENON_FORMAT == Q5_0 || TENON_FORMAT == Q5_1, shifted = TENON_FORMAT == Q4_1 || TENON_FORMAT == Q5_1;
    constexpr int bits = TENON_FORMAT == Q8_0 ? 8 : five ? 5 : 4;
    constexpr int high = shifted ? 4 : 2, low = high + (five ? 4 : 0);
    const u32* two = reinterpret_cast<const u32*>(slice + lane * 2 * B::BYTES);
    float sum = 0.0f;
#pragma unroll
    for (int b = 0; b < 2; b++) {
        SmallBlock block(two, b);
        const float* x = v + b * 32;
        float sums[2] = {};
#pragma unroll
        for (int i = 0; i < (bits == 8 ? 8 : 4); i++) {
            u32 q = block.four(low + 4 * i);
            if (bits == 8) {
                add_four<bits>(sums, q ^ 0x80808080u, x + 4 * i);
            } else if (five) {
                u32 bit = block.four(high);
                add_four<bits>(sums, (q & 0x0f0f0f0fu) << 2 | spread_bits(bit >> 4 * i & 15) << 6, x + 4 * i);
                add_four<bits>(sums, q >> 2 & 0x3c3c3c3cu | spread_bits(bit >> (16 + 4 * i) & 15) << 6, x + 16 + 4 * i);
            } else {
                add_four<bits>(sums, q << 3 & 0x78787878u, x + 4 * i);
                add_four_upper(sums, q, x + 16 + 4 * i);
            }
        }
        float d = block.half(0);
        float part = scaled<bits>(sums, d, shifted ? block.half(2) : -d * (five ? 16 : 8), whole[2 * b] + whole[2 * b + 1]);
        sum += part;
    }
    return sum;
}

// 32 bytes as eight words; `from` on a boundary of 16 bytes, or of 4 or 2 where blocks lie on those.
__device__ __forceinline__ void words_of(u32 (&words)[8], const u8* from) {
    if (B::BYTES % 16 == 0) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint4 four = reinterpret_cast<const uint4*>(from)[i];
            words[4 * i] = four.x;
            words[4 * i + 1] = four.y;
            words[4 * i + 2] = four.z;
            words[4 * i + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < 8; i++) words[i] = B::BYTES % 4 == 0 ? reinterpret_cast<const u32*>(from)[i] : four_bytes(from + 4 * i);
    }
}

// Scales and minima of two neighbouring runs of Q4_K and Q5_K, a byte each: the 16 bytes before them are read at once.
struct TwoScales {
    float d, m;
    u32 scales, minima;

    __device__ __forceinline__ TwoScales(const u8* block, int t) {
        uint4 head = *reinterpret_cast<const uint4*>(block);
        d = half_of(head.x & 0xffff);
        m = half_of(head.x >> 16);
        u32 shift = t % 2 * 16, a = head.y >> shift, b = head.z >> shift, c = head.w >> shift;
        scales = t < 2 ? a & 0x3f3fu : (c & 0x0f0fu) | (a >> 2 & 0x3030u);
        minima = t < 2 ? b & 0x3f3fu : (c >> 4 & 0x0f0fu) | (b >> 2 & 0x3030u);
    }
    __device__ __forceinline__ float factor(int run) const { return d * byte_number(scales, run, 0.0f); }
    __device__ __forceinline__ float offset(int run) const { return -m * byte_number(minima, run, 0.0f); }
};

// A quarter of a block of 256 elements: two runs of 32, each with one or two scales.
__device__ __forceinline__ float large_blocks(const u8* slice, const float (&v)[LANE], const float (&whole)[4], int lane) {
    constexpr int F = TENON_FORMAT;
    constexpr int bits = F == Q2_K ? 2 : F == Q3_K ? 3 : F == Q4_K ? 4 : F == Q5_K ? 5 : 6;
    constexpr int runs = F == Q4_K || F == Q5_K ? 1 : 2;  // that have scales of their own
    const u8* block = slice + lane / 4 * B::BYTES;
    int t = lane % 4;
    u32 low[8], high[8] = {};
    if (F == Q2_K) words_of(low, block + 16 + t / 2 * 32);
    if (F == Q3_K) words_of(low, block + 32 + t / 2 * 32);
    if (F == Q4_K || F == Q5_K) words_of(low, block + 16 + (F == Q5_K ? 32 : 0) + t * 32);
    if (F == Q3_K) words_of(high, block);
    if (F == Q5_K) words_of(high, block + 16);
    if (F == Q6_K) words_of(high, block + 128 + t / 2 * 32);
    float sum = 0.0f;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        if (F == Q6_K) words_of(low, block + t / 2 * 64 + h * 32);
        float sums[runs][2] = {};
#pragma unroll
        for (int i = 0; i < 8; i++) {
            u32 q;
            if (F == Q4_K && h == 1) {
                add_four_upper(sums[0], low[i], v + 32 + 4 * i);
                continue;
            }
            if (F == Q2_K) q = (low[i] >> (t % 2 * 4 + 2 * h) & 0x03030303u) << 5;
            if (F == Q3_K) q = (low[i] >> (t % 2 * 4 + 2 * h) & 0x03030303u) << 4 | (high[i] >> (2 * t + h) & 0x01010101u) << 6;
            if (F == Q4_K) q = low[i] << 3 & 0x78787878u;
            if (F == Q5_K) q = (h == 0 ? low[i] << 2 : low[i] >> 2) & 0x3c3c3c3cu | (high[i] >> (2 * t + h) & 0x01010101u) << 6;
            if (F == Q6_K) q = (low[i] >> t % 2 * 4 & 0x0f0f0f0fu) << 1 | (high[i] >> (t % 2 * 4 + 2 * h) & 0x03030303u) << 5;
            add_four<bits>(sums[runs == 2 ? i / 4 : 0], q, v + h * 32 + 4 * i);
        }
#pragma unroll
        for (int r = 0; r < runs; r++) {
            if (runs == 1) {
                TwoScales scales(block, t);
                sum += scaled<bits>(sums[r], scales.factor(h), scales.offset(h), whole[2 * h] + whole[2 * h + 1]);
            } else {
                Four<float> scales = four_of<float, F>(block, t * 64 + h * 32 + r * 16);  // for its factor and offset
                sum += scaled<bits>(sums[r], scales.factor, scales.offset, whole[2 * h + r]);
            }
        }
    }
    return sum;
}

// Begins to copy a slice of a row to a stage; the last bytes of w, short of 16, are copied at once.
__device__ __forceinline__ void fetch(u8* stage, const u8* w, i64 from, i64 end, i64 total, int lane) {
    i64 start = from & ~static_cast<i64>(15);
    for (i64 at = start + lane * 16; at < end; at += 512) {
        if (at + 16 <= total) {
            copy_async_16(stage + (at - start), w + at);
        } else {
            for (i64 rest = at; rest < total; rest += 2) *reinterpret_cast<u16*>(stage + (rest - start)) = *reinterpret_cast<const u16*>(w + rest);
        }
    }
}

// The same where all rows begin on 16-byte boundaries: `pieces` of 16 bytes, of which a lane's first is `from`.
__device__ __forceinline__ void fetch_aligned(u8* stage, const u8* from, int pieces, int lane) {
#pragma unroll
    for (int i = 0; i < (SLICE_BYTES + 511) / 512; i++) {
        if (lane + 32 * i < pieces) copy_async_16(stage + lane * 16 + 512 * i, from + 512 * i);
    }
}

// Sums two numbers over a warp: the lower half of the lanes has the sum of the first, the upper half that of the second.
__device__ __forceinline__ float summed(const float (&v)[SIDE], int lane) {
    bool upper = lane & 16;
    float sum = (upper ? v[1] : v[0]) + __shfl_xor_sync(0xffffffffu, upper ? v[0] : v[1], 16);
#pragma unroll
    for (int lanes = 8; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    return sum;
}

// Where a pack of 16 bytes of x lies in shared memory: neighbouring lanes, which read packs of as many elements apart as they have, meet
// different banks.
constexpr int PACK = 16 / sizeof(T);
constexpr int LANE_PACKS = LANE / PACK;
__device__ __forceinline__ int place_of(int pack) { return pack ^ (pack / LANE_PACKS % 8); }

extern "C" __global__ void __launch_bounds__(512) TENON_NAME(dequant_gemv)(const T* x, const u8* w, T* y, i64 cols, i64 depth, i32 slices, i32 rows, i32 constant) {
    TENON_DYNAMIC_SHARED(u8, shared);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int slice = warp % slices, groups = blockDim.x / 32 / slices;
    uint4* packs = reinterpret_cast<uint4*>(shared);  // of x
    u8* stages = shared + slices * SLICE * sizeof(T);
    u8* mine = stages + warp * DEPTH * STAGE;
    float* partial = reinterpret_cast<float*>(stages + blockDim.x / 32 * DEPTH * STAGE);
    i64 first = static_cast<i64>(blockIdx.x) * rows;
    int count = static_cast<int>(first + rows < cols ? rows : cols - first);  // of the block's rows
    i64 row_bytes = depth / B::ELEMENTS * B::BYTES, total = cols * row_bytes;
    bool aligned = row_bytes % 16 == 0;
    i64 left = depth - static_cast<i64>(slice) * SLICE;
    int elements = left < SLICE ? static_cast<int>(left) : SLICE;
    int bytes = elements / B::ELEMENTS * B::BYTES;

    int ahead = warp / slices;  // the row that is fetched next, of the block's
    i64 from = (first + ahead) * row_bytes + static_cast<i64>(slice) * SLICE_BYTES;
    auto next = [&](int stage) {
#pragma unroll
        for (int side = 0; side < SIDE; side++) {
            if (ahead < count) {
                if (aligned) {
                    fetch_aligned(mine + (stage + side) * STAGE, w + from + lane * 16, bytes / 16, lane);
                } else {
                    fetch(mine + (stage + side) * STAGE, w, from, from + bytes, total, lane);
                }
            }
            ahead += groups;
            from += groups * row_bytes;
        }
        copy_async_commit();
    };
    release_successor();
    if (!constant) await_predecessor();
#pragma unroll
    for (int stage = 0; stage < DEPTH - SIDE; stage += SIDE) next(stage);

    if (constant) await_predecessor();
    for (int pack = threadIdx.x; pack < slices * (SLICE / PACK); pack += blockDim.x) {
        uint4 some = {};
        if (pack < depth / PACK) some = reinterpret_cast<const uint4*>(x)[pack];
        packs[place_of(pack)] = some;
    }
    __syncthreads();
    float v[LANE], whole[4] = {};
#pragma unroll
    for (int i = 0; i < LANE_PACKS; i++) {
        Pack<T, PACK> some = *reinterpret_cast<const Pack<T, PACK>*>(packs + place_of((slice * 32 + lane) * LANE_PACKS + i));
#pragma unroll
        for (int j = 0; j < PACK; j++) v[i * PACK + j] = to_compute(some.at[j]);
    }
#pragma unroll
    for (int i = 0; i < LANE; i++) whole[i / 16] += v[i];

    // where a stage's slice begins behind its 16-byte boundary
    int begin = aligned ? 0 : static_cast<int>((first + warp / slices) * row_bytes & 15), shift = aligned ? 0 : static_cast<int>(groups * row_bytes & 15);
    bool busy = lane * LANE < elements;
    int stage = 0;
#pragma unroll 1
    for (int row = warp / slices; row < count; row += SIDE * groups) {
        copy_async_wait<DEPTH / SIDE - 2>();
        __syncwarp();
        next(stage == 0 ? DEPTH - SIDE : stage - SIDE);
        float sums[SIDE] = {};
        if (busy) {
#pragma unroll
            for (int side = 0; side < SIDE; side++) {
                // past the last row, the row before it once more: its sum is not stored
                int of = row + side * groups < count ? side : 0;
                const u8* at = mine + (stage + of) * STAGE + (begin + of * shift & 15);
                sums[side] = B::ELEMENTS == 32 ? small_blocks(at, v, whole, lane) : large_blocks(at, v, whole, lane);
            }
        }
        float sum = summed(sums, lane);
        int of = row + lane / 16 * groups;
        if (lane % (32 / SIDE) == 0 && of < count) partial[of * slices + slice] = sum;
        begin += SIDE * shift;
        stage = stage + SIDE == DEPTH ? 0 : stage + SIDE;
    }
    copy_async_wait<0>();
    __syncthreads();
    for (int row = threadIdx.x; row < count; row += blockDim.x) {
        float sum = 0.0f;
        for (int s = 0; s < slices; s++) sum += partial[row * slices + s];
        y[first + row] = narrowed<T>(sum);
    }
}
TENON_ENTRY(dequant_gemv)
