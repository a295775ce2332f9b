// y[m, n] = sum over k of x[m, k] w[n, k] for many rows of x, w packed, on tensor cores: w is unpacked into shared memory, tile by tile, and never
// written out. What is multiplied are integers, which x's type has exactly; sums of runs of 16 or 32 elements, which have one factor, are scaled
// in f32. Where runs have offsets too, sums of x's runs, products with ones, are multiplied by them.
//
// A block makes 128 × 64 results, 64 of k at a time. x comes STAGES - 1 steps ahead, packed bytes one step before that: as whole pieces of 16
// bytes that cover them, wherever rows begin. While a step is multiplied, the next one of w is unpacked into the other of two buffers. Lines of
// x and w are eight chunks of 16 bytes, swapped by the line's number, so that neither reads nor writes meet in a bank. Warps
// have 32 rows of x and 32 columns each.
//
// W says how w is packed:
//   T, RUN, OFFSETS      x's type; elements of a run; whether runs have offsets
//   CHUNK, CHUNK_BYTES   elements that are fetched at once, 64 or 256, and their bytes
//   MISALIGNED           at most so many bytes from a boundary of 16 bytes to a chunk
//   bytes, row_bytes     w, on a boundary of 16 bytes, and the distance of its rows
//   cols, depth          its sizes
//   Ahead ahead(n, k)    what is read of global memory for the 16 elements of row n from k on, a step before they are unpacked
//   unpack(…)            those elements as pairs of T in their order, from the chunk's bytes; the run's factor and offset
#pragma once
#include "types.cuh"

// Four bytes less `zero` as two pairs of T.
__device__ __forceinline__ void integers(u32 (&pairs)[2], u32 bytes, u32 zero, f16) {
    u32 less = (0xe400u + zero) * 0x10001u;  // -(1024 + zero): bytes are the last digits of 1024 + byte
    pairs[0] = fma_f16x2(__byte_perm(bytes, 0x64646464u, 0x4140), 0x3c003c00u, less);
    pairs[1] = fma_f16x2(__byte_perm(bytes, 0x64646464u, 0x4342), 0x3c003c00u, less);
}

__device__ __forceinline__ void integers(u32 (&pairs)[2], u32 bytes, u32 zero, bf16) {
    float less = 8388608.0f + static_cast<float>(zero);
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = __uint_as_float(__byte_perm(bytes, 0x4b000000u, 0x7650 | i)) - less;
    pairs[0] = to_pair(v[0], v[1], bf16{});
    pairs[1] = to_pair(v[2], v[3], bf16{});
}

// From global to shared memory, before the wait: the first of 16 bytes, as many as there are, and then zeros. A piece in part goes byte by byte: the instruction could leave out the
// rest as well, but memory checkers take it for a read of all 16.
__device__ __forceinline__ void copy_async_16_part(void* shared, const void* global, int bytes) {
    if (bytes == 0 || bytes == 16) {
        copy_async_16_if(shared, global, bytes == 16);
    } else {
        for (int i = 0; i < 16; i++) static_cast<u8*>(shared)[i] = i < bytes ? static_cast<const u8*>(global)[i] : 0;
    }
}

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
template <typename W>
struct PackedTile {
    typedef typename W::T T;

    static constexpr int ROWS = 128;
    static constexpr int COLS = 64;
    static constexpr int STAGES = 3;
    static constexpr int STEP = 64;
    static constexpr int LINE = STEP / 8;  // chunks
    static constexpr int RUNS = STEP / W::RUN;
    static constexpr int SPLIT = 32 / W::RUN;
    static constexpr int PIECES = (W::CHUNK_BYTES + W::MISALIGNED + 15) / 16;
    static constexpr int PITCH = (PIECES | 1) * 16;  // odd, so that rows begin in different banks
    static constexpr int STEPS = W::CHUNK / STEP;    // of a chunk
    static constexpr int RAW = STEPS == 1 ? STAGES : 2;
    static constexpr int TILES = 4;          // of 8 columns, of a warp
    static constexpr int THREADS = 256;
    static constexpr bool OFFSETS = W::OFFSETS;

    struct Shared {
        uint4 x[STAGES][ROWS * LINE];
        uint4 w[2][COLS * LINE];
        float factors[2][RUNS][COLS];
        float offsets[OFFSETS ? 2 : 1][OFFSETS ? RUNS : 1][COLS];
        uint4 raw[RAW][COLS * PITCH / 16];
    };

    const W& weights;
    Shared& shared;
    const T* x;
    T* y;
    i64 rows;
    i64 row, column;           // of the tile
    int row_count, col_count;  // of it, or more than it has
    int depth;
    float sums[2][TILES][4];

    __device__ __forceinline__ PackedTile(const W& w, Shared& memory, const T* from, T* to, i64 m, i64 n) : weights(w), shared(memory), x(from), y(to), rows(m), row(0), column(n), row_count(0), col_count(least(w.cols - n)), depth(static_cast<int>(w.depth)) {}

    static __device__ __forceinline__ int least(i64 count) { return count < 65536 ? static_cast<int>(count) : 65536; }

    // Where a chunk of a line lies.
    static __device__ __forceinline__ int place_of(int line, int chunk) { return line * LINE + (chunk ^ line % 8); }

    // Begins to copy a step of x; what is not there is 0.
    __device__ __forceinline__ void fetch_x(int step) {
        int line = threadIdx.x / LINE, chunk = threadIdx.x % LINE, k = step * STEP + chunk * 8;
        uint4* to = shared.x[static_cast<u32>(step) % STAGES] + place_of(line, chunk);
        const T* from = x + (row + line) * weights.depth + k;
#pragma unroll
        for (int i = 0; i < ROWS; i += THREADS / LINE) copy_async_16_if(to + i * LINE, from + i * weights.depth, line + i < row_count && k < depth);
    }

    // Begins to copy a chunk's bytes.
    __device__ __forceinline__ void fetch_raw(int chunk) {
        if (chunk * W::CHUNK >= depth) return;
        uint4* raw = shared.raw[static_cast<u32>(chunk) % RAW];
        i64 first = column * weights.row_bytes;
        const u8* from = weights.bytes + first / 16 * 16;
        i64 size = weights.cols * weights.row_bytes - first / 16 * 16;
        u32 end = size < 0xffffffff ? static_cast<u32>(size) : 0xffffffffu;
        u32 begin = static_cast<u32>(first) % 16 + static_cast<u32>(chunk) * W::CHUNK_BYTES, row_bytes = static_cast<u32>(weights.row_bytes);
#pragma unroll
        for (int i = 0; i < COLS * PIECES; i += THREADS) {
            int id = threadIdx.x + i, line = id / PIECES, piece = id % PIECES;
            if (id >= COLS * PIECES) break;
            u32 at = (begin + line * row_bytes) / 16 * 16 + piece * 16;
            copy_async_16_part(raw + line * (PITCH / 16) + piece, from + at, at + 16 <= end ? 16 : at < end ? static_cast<int>(end - at) : 0);
        }
    }

    // What comes for a step before it and the one before.
    __device__ __forceinline__ void fetch(int step) {
        if (step + STAGES - 1 >= 0 && (step + STAGES - 1) * STEP < depth) fetch_x(step + STAGES - 1);
        if (STEPS == 1) {
            fetch_raw(step + STAGES);
        } else if (step == -STAGES) {
            fetch_raw(0);
            fetch_raw(1);
        } else if (step > 0 && step % STEPS == STEPS - 1) {
            fetch_raw((step + 1) / STEPS + 1);
        }
        copy_async_commit();
    }

    // Unpacks 16 elements of a row of w.
    __device__ __forceinline__ void unpack(int step, const typename W::Ahead& ahead) {
        u32 chunk = static_cast<u32>(step) / STEPS;
        int side = step & 1, line = threadIdx.x / 4, part = threadIdx.x % 4, e = static_cast<int>(static_cast<u32>(step) % STEPS) * STEP + part * 16;
        u32 pairs[8] = {};
        float factor = 0.0f, offset = 0.0f;
        if (line < col_count && step * STEP + part * 16 < depth) {
            u32 start = W::MISALIGNED == 0 ? 0 : (static_cast<u32>(column) + line) * static_cast<u32>(weights.row_bytes) + chunk * W::CHUNK_BYTES;
            weights.unpack(reinterpret_cast<const u8*>(shared.raw[chunk % RAW] + line * (PITCH / 16)) + start % 16, e, ahead, pairs, factor, offset);
        }
        shared.w[side][place_of(line, part * 2)] = {pairs[0], pairs[1], pairs[2], pairs[3]};
        shared.w[side][place_of(line, part * 2 + 1)] = {pairs[4], pairs[5], pairs[6], pairs[7]};
        if (W::RUN == 16 || part % 2 == 0) {
            shared.factors[side][part * 16 / W::RUN][line] = factor;
            if (OFFSETS) shared.offsets[OFFSETS ? side : 0][OFFSETS ? part * 16 / W::RUN : 0][line] = offset;
        }
    }

    __device__ __forceinline__ void ahead(int step, typename W::Ahead& of) const {
        int line = threadIdx.x / 4, first = step * STEP + threadIdx.x % 4 * 16;
        if (line < col_count && first < depth) of = weights.ahead(column + line, first);
    }

    __device__ __forceinline__ void multiply(int step) {
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        int x_line = warp % 4 * 32, w_line = warp / 4 * 32, side = step & 1;
        if (x_line >= row_count) return;
        const uint4* left = shared.x[static_cast<u32>(step) % STAGES];
        const uint4* right = shared.w[side];
        u32 one = to_pair(1.0f, 1.0f, T{});
        u32 ones[2] = {one, one};
#pragma unroll
        for (int half = 0; half < 2; half++) {
            // fragments first and products in fours that do not wait for each other: instructions are issued in this order
            u32 a[2][2][4], b[2][4];
            float whole[2][SPLIT][4] = {};
#pragma unroll
            for (int k = 0; k < 2; k++) {
#pragma unroll
                for (int i = 0; i < 2; i++) load_matrix_x4(a[k][i], left + place_of(x_line + i * 16 + lane % 16, half * 4 + k * 2 + lane / 16));
            }
#pragma unroll
            for (int k = 0; k < 2 && OFFSETS; k++) {
#pragma unroll
                for (int i = 0; i < 2; i++) mma_16816(whole[i][k * SPLIT / 2], a[k][i], ones, T{});
            }
#pragma unroll
            for (int two = 0; two < TILES; two += 2) {
#pragma unroll
                for (int j = 0; j < 2; j++) load_matrix_x4(b[j], right + place_of(w_line + (two + j) * 8 + lane % 8, half * 4 + lane / 8));
                float products[SPLIT][2][2][4] = {};
#pragma unroll
                for (int k = 0; k < 2; k++) {
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        u32 pair[2] = {b[j][2 * k], b[j][2 * k + 1]};
#pragma unroll
                        for (int i = 0; i < 2; i++) mma_16816(products[k * SPLIT / 2][j][i], a[k][i], pair, T{});
                    }
                }
#pragma unroll
                for (int r = 0; r < SPLIT; r++) {
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        int run = half * SPLIT + r, n = w_line + (two + j) * 8 + lane % 4 * 2;
                        float2 factor = *reinterpret_cast<const float2*>(&shared.factors[side][run][n]);
                        float2 offset = {};
                        if (OFFSETS) offset = *reinterpret_cast<const float2*>(&shared.offsets[OFFSETS ? side : 0][OFFSETS ? run : 0][n]);
#pragma unroll
                        for (int i = 0; i < 2; i++) {
#pragma unroll
                            for (int c = 0; c < 4; c++) {
                                float& sum = sums[i][two + j][c];
                                sum += (c % 2 == 0 ? factor.x : factor.y) * products[r][j][i][c];
                                if (OFFSETS) sum += (c % 2 == 0 ? offset.x : offset.y) * whole[i][r][c];
                            }
                        }
                    }
                }
            }
        }
    }

    __device__ __forceinline__ void store() const {
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        bool even = weights.cols % 2 == 0;
        T* tile = y + row * weights.cols + column;
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int j = 0; j < TILES; j++) {
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    int m = warp % 4 * 32 + i * 16 + lane / 4 + r * 8, n = warp / 4 * 32 + j * 8 + lane % 4 * 2;
                    if (m >= row_count || n >= col_count) continue;
                    Pack<T, 2> two = {{narrowed<T>(sums[i][j][2 * r]), narrowed<T>(sums[i][j][2 * r + 1])}};
                    T* to = tile + m * weights.cols + n;
                    if (even) {
                        *reinterpret_cast<Pack<T, 2>*>(to) = two;
                    } else {
                        to[0] = two.at[0];
                        if (n + 1 < col_count) to[1] = two.at[1];
                    }
                }
            }
        }
    }

    // All tiles of a block, whose columns are given and whose rows are every gridDim.y-th tile.
    __device__ __forceinline__ void run() {
        int steps = (depth + STEP - 1) / STEP;
        for (row = static_cast<i64>(blockIdx.y) * ROWS; row < rows; row += static_cast<i64>(gridDim.y) * ROWS) {
            row_count = least(rows - row);
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int j = 0; j < TILES; j++) {
#pragma unroll
                    for (int c = 0; c < 4; c++) sums[i][j][c] = 0.0f;
                }
            }
            typename W::Ahead held = {}, next = {};
            ahead(0, held);
#pragma unroll
            for (int step = -STAGES; step < 0; step++) fetch(step);
            copy_async_wait<STAGES - 1>();
            __syncthreads();
            ahead(1, next);
            unpack(0, held);
            for (int step = 0; step < steps; step++) {
                copy_async_wait<STAGES - 2>();
                __syncthreads();
                fetch(step);
                held = next;
                ahead(step + 2, next);
                if (step + 1 < steps) unpack(step + 1, held);
                multiply(step);
            }
            store();
            copy_async_wait<0>();
            __syncthreads();
        }
    }
};
#endif
