// y[m, n] = sum over k of (a[m, k] - za[m]) (b[k, n] - zb[n]) in i32, of bytes; sums wrap.
//
// Bytes are taken as signed: an unsigned one less 128, its zero point too, which leaves the differences as they are. Then y is
// sum a b - zb sum a - za sum b + depth za zb, and all three sums are dot products of four bytes.
//
// Launch: 256 threads. grid (ceil(cols / 64), any, any): tiles of 64 rows of all matrices along y, parts of depth along z; where there are
// several parts, y is zeroed first (matmul_integer_zero) and parts are added to it: integers come out the same in any order. Shared memory:
// 64 rows of a and 64 columns of b, 32 bytes deep, as words. Matrices lie batch_a and batch_b elements apart along each of three dims.
// A zero point is 0 where its address is; there are zero_rows of a, repeated over its rows, and zero_cols of b. Variants: none.
#include "walk.cuh"

constexpr int TILE = 64;
constexpr int WORDS = 8;  // of four bytes along depth

// Four neighbours from p on as signed bytes, those past `count` the 0 of their type.
__device__ __forceinline__ u32 four_bytes(const u8* p, i64 count, bool words, u32 flip) {
    if (words && count >= 4) return *reinterpret_cast<const u32*>(p) ^ flip;
    u32 r = 0;
    for (int i = 0; i < 4 && i < count; i++) r |= static_cast<u32>(p[i]) << 8 * i;
    return r ^ flip;
}

// Zeroes the bytes of a word from the count-th on.
__device__ __forceinline__ u32 first_bytes(u32 word, i64 count) { return count >= 4 ? word : count <= 0 ? 0 : word & ((1u << 8 * count) - 1); }

__device__ __forceinline__ i32 zero_point(const u8* zero, i64 count, i64 at, u32 flip) {
    u32 v = zero == nullptr ? 0 : zero[count == 1 ? 0 : at % count];
    return static_cast<i8>(v ^ (flip & 0xff));
}

struct Tile {
    u32 a[WORDS][TILE + 4];
    u32 b[WORDS][TILE + 4];
};

// Words of 4 along depth: of a as they lie, of b turned, four columns at a time.
__device__ __forceinline__ void load_tile(Tile& tile, const u8* a, const u8* b, i64 row, i64 column, i64 k, i64 rows, i64 cols, i64 depth, i64 end, u32 flip_a, u32 flip_b) {
    bool words_a = depth % 4 == 0, words_b = cols % 4 == 0;
    for (int i = threadIdx.x; i < TILE * WORDS; i += 256) {
        int r = i / WORDS, w = i % WORDS;
        i64 left = end - (k + 4 * w);
        bool there = row + r < rows && left > 0;
        tile.a[w][r] = there ? first_bytes(four_bytes(a + (row + r) * depth + k + 4 * w, left, words_a, flip_a), left) : 0;
    }
    if (threadIdx.x < TILE / 4 * WORDS) {
        int c = threadIdx.x % (TILE / 4) * 4, w = threadIdx.x / (TILE / 4);
        u32 line[4];
        for (int i = 0; i < 4; i++) {
            i64 at = k + 4 * w + i;
            line[i] = at < end && column + c < cols ? four_bytes(b + at * cols + column + c, cols - (column + c), words_b, flip_b) : 0;
        }
        u32 low = __byte_perm(line[0], line[1], 0x5140), high = __byte_perm(line[2], line[3], 0x5140);
        tile.b[w][c] = __byte_perm(low, high, 0x5410);
        tile.b[w][c + 1] = __byte_perm(low, high, 0x7632);
        low = __byte_perm(line[0], line[1], 0x7362);
        high = __byte_perm(line[2], line[3], 0x7362);
        tile.b[w][c + 2] = __byte_perm(low, high, 0x5410);
        tile.b[w][c + 3] = __byte_perm(low, high, 0x7632);
    }
}

struct Sums {
    u32 product[4][4];
    u32 a[4];
    u32 b[4];
};

__device__ __forceinline__ u32 dot(u32 a, u32 b, u32 sum) { return static_cast<u32>(__dp4a(static_cast<i32>(a), static_cast<i32>(b), static_cast<i32>(sum))); }

__device__ __forceinline__ void add_tile(Sums& s, const Tile& tile, int r, int c) {
    constexpr u32 ones = 0x01010101;
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        uint4 p = *reinterpret_cast<const uint4*>(&tile.a[w][r]);
        uint4 q = *reinterpret_cast<const uint4*>(&tile.b[w][c]);
        u32 a[4] = {p.x, p.y, p.z, p.w}, b[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            s.a[i] = dot(a[i], ones, s.a[i]);
            s.b[i] = dot(b[i], ones, s.b[i]);
#pragma unroll
            for (int j = 0; j < 4; j++) s.product[i][j] = dot(a[i], b[j], s.product[i][j]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(matmul_integer)(const u8* a, const u8* b, const u8* za, const u8* zb, u32* y, i32 signed_a, i32 signed_b, i64 zero_rows, i64 zero_cols, i64 rows, i64 cols, i64 depth, i64 part_depth, i64 matrices, i64 size1, i64 size2, i64 a0, i64 a1, i64 a2, i64 b0, i64 b1, i64 b2) {
    __shared__ __align__(16) Tile tile;
    release_successor();
    await_predecessor();
    u32 flip_a = signed_a ? 0 : 0x80808080u, flip_b = signed_b ? 0 : 0x80808080u;
    i64 bands = (rows + TILE - 1) / TILE;
    i64 from = blockIdx.z * part_depth;
    i64 end = from + part_depth < depth ? from + part_depth : depth;
    i64 column = static_cast<i64>(blockIdx.x) * TILE;
    int r = threadIdx.x / 16 * 4, c = threadIdx.x % 16 * 4;
    for (i64 band = blockIdx.y; band < bands * matrices; band += gridDim.y) {
        i64 matrix = band / bands, row = (band - matrix * bands) * TILE;
        i64 m0 = matrix / (size1 * size2), m1 = matrix / size2 % size1, m2 = matrix % size2;
        const u8* p = a + m0 * a0 + m1 * a1 + m2 * a2;
        const u8* q = b + m0 * b0 + m1 * b1 + m2 * b2;
        Sums s = {};
        for (i64 k = from; k < end; k += 4 * WORDS) {
            load_tile(tile, p, q, row, column, k, rows, cols, depth, end, flip_a, flip_b);
            __syncthreads();
            add_tile(s, tile, r, c);
            __syncthreads();
        }
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                if (row + r + i >= rows || column + c + j >= cols) continue;
                u32 x = static_cast<u32>(zero_point(za, zero_rows, row + r + i, flip_a)), z = static_cast<u32>(zero_point(zb, zero_cols, column + c + j, flip_b));
                u32 v = s.product[i][j] - z * s.a[i] - x * s.b[j] + static_cast<u32>(end > from ? end - from : 0) * x * z;
                u32* to = y + (matrix * rows + row + r + i) * cols + column + c + j;
                if (gridDim.z == 1) {
                    *to = v;
                } else {
                    atomicAdd(to, v);
                }
            }
        }
    }
}
TENON_ENTRY(matmul_integer)

// y = 0, so that parts can be added to it.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(matmul_integer_zero)(u32* y, i64 elements) {
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < elements; at += global_threads()) y[at] = 0;
}
TENON_ENTRY(matmul_integer_zero)
