// Convolution as a matrix product on tensor cores whose left operand is gathered on its way into shared memory: rows are positions of all
// images, columns output channels of a group, and k runs over the cells of the window and within a cell over the channels.
//
//   y[b, first + step u, o] = residual + fn(bias[o] + sum of w[o, cell(i), c] x[b, origin + move u + turn i, c of o's group])
//
// over the cells i in the counted box; places outside of x are 0, so where windows meet padding weights have to be finite. A transposed
// convolution is one such launch for each remainder of positions by strides. x [b, input, groups, channels] and w [groups outputs, cells,
// channels] have channels in whole 16-byte chunks, filled up with zeros; y lies by the strides it is given.
//
// Launch: grid (tiles of the result, a group's columns fastest; groups, at most 65535; parts of k), threads and dynamic shared memory as the
// tile says (ConvTiles.java). With several parts of k the last block of a tile to arrive adds up the sums of all, in order, from the
// workspace; two counters a tile are 0 before and after.
// Variants: TENON_T one of float (TF32, sm_80), f16 (sm_75), bf16 (sm_80); TENON_F16 whether it is f16.
#include "conv.cuh"

typedef TENON_T T;

// Filled by ConvPhase.java. Three spatial dims, outermost first.
struct ConvTile {
    i64 batch;
    i64 groups;
    i64 outputs;   // of a group
    i64 chunks;    // of a group's channels
    i64 w_cells;   // of an output channel's weights
    i64 w_origin;  // the first cell
    i64 y_image;   // elements of y from one image, position and channel to the next
    i64 y_place;
    i64 y_channel;
    i64 splits;
    i64 input[3];
    i64 output[3];
    i64 count[3];  // positions of this launch
    i64 first[3];
    i64 step[3];
    i64 cells[3];
    i64 w_turn[3];
    i64 origin[3];
    i64 move[3];
    i64 turn[3];
};

constexpr int CHUNKS = 8;  // of a row of a step: 128 bytes of k

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED || (__CUDA_ARCH__ >= 750 && TENON_F16)
#define TENON_HAS_MMA 1
#else
#define TENON_HAS_MMA 0
#endif

#if TENON_HAS_MMA
// A row of the product: an image and a position of this launch.
struct Place {
    int image;
    int at[3];

    static __device__ __forceinline__ Place of(const ConvTile& s, int row) {
        Place p;
        int lines = row / static_cast<int>(s.count[2]);
        p.at[2] = row - lines * static_cast<int>(s.count[2]);
        int planes = lines / static_cast<int>(s.count[1]);
        p.at[1] = lines - planes * static_cast<int>(s.count[1]);
        p.image = planes / static_cast<int>(s.count[0]);
        p.at[0] = planes - p.image * static_cast<int>(s.count[0]);
        return p;
    }

    // Elements from y to the position's first channel.
    __device__ __forceinline__ i64 result(const ConvTile& s) const {
        i64 place = 0;
#pragma unroll
        for (int d = 0; d < 3; d++) place = place * s.output[d] + at[d] * s.step[d] + s.first[d];
        return image * s.y_image + place * s.y_place;
    }
};

template <typename E>
__device__ __forceinline__ void prepare(u32 (&)[4], E) {}

template <typename E>
__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], E) {
    mma_16816(d, a, b, E());
}

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// A chunk is 4 floats, which ldmatrix takes for 8 halves.
__device__ __forceinline__ void prepare(u32 (&r)[4], float) {
#pragma unroll
    for (int i = 0; i < 4; i++) r[i] = __float_as_uint(to_tf32(__uint_as_float(r[i])));
}

__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], float) { mma_1688_tf32(d, a, b); }
#endif

template <int TILE_M, int TILE_N, int WARP_M, int WARP_N, int STAGES>
struct Tile {
    static constexpr int WARPS_N = TILE_N / WARP_N;
    static constexpr int THREADS = TILE_M / WARP_M * WARPS_N * 32;
    static constexpr int LINES = THREADS / CHUNKS;  // rows that all threads copy at once
    static constexpr int COPIES_M = TILE_M / LINES;
    static constexpr int COPIES_N = TILE_N / LINES;
    static constexpr int STAGE = (TILE_M + TILE_N) * CHUNKS;
    static constexpr int ROWS = WARP_M / 16;
    static constexpr int COLUMNS = WARP_N / 8;
    static constexpr int PACK = Widest<T>::value;

    // Eight rows of one chunk lie in different banks.
    static __device__ __forceinline__ int place(int row, int chunk) { return row * CHUNKS + (chunk ^ (row & 7)); }

    // What a thread copies: one chunk of k in some rows of both operands, and where it stands in k.
    struct Copier {
        const uint4* x;
        const uint4* w;       // the row of its first copy
        int base[COPIES_M];   // chunks from x to the origin of a row's window
        u64 seen[COPIES_M];   // a bit for each index of a cell along each axis: whether it falls on x
        int weight_row;
        int outputs;          // from the first copy's on
        int cell[3];
        int chunk;

        __device__ __forceinline__ void start(const ConvTile& s, i64 row0, i64 column0, i64 group, i64 k) {
            int line = threadIdx.x / CHUNKS;
#pragma unroll
            for (int i = 0; i < COPIES_M; i++) {
                Place p = Place::of(s, static_cast<int>(row0) + line + i * LINES);
                int at = p.image;
                u64 bits = 0;
                int bit = 0;
#pragma unroll
                for (int d = 2; d >= 0; d--) {
                    int from = p.at[d] * static_cast<int>(s.move[d]) + static_cast<int>(s.origin[d]);
                    for (int c = 0; c < static_cast<int>(s.cells[d]); c++, bit++) {
                        u32 to = static_cast<u32>(from + c * static_cast<int>(s.turn[d]));
                        if (to < static_cast<u32>(s.input[d])) bits |= 1ull << bit;
                    }
                }
#pragma unroll
                for (int d = 0; d < 3; d++) {
                    at = at * static_cast<int>(s.input[d]) + p.at[d] * static_cast<int>(s.move[d]) + static_cast<int>(s.origin[d]);
                }
                base[i] = at * static_cast<int>(s.groups * s.chunks) + static_cast<int>(group * s.chunks);
                seen[i] = p.image < s.batch ? bits : 0;
            }
            weight_row = static_cast<int>(s.w_cells * s.chunks);
            w += (group * s.outputs + column0 + line) * weight_row + s.w_origin * s.chunks;
            i64 left = s.outputs - column0 - line;
            outputs = static_cast<int>(left < TILE_N ? left : TILE_N);
            int first = static_cast<int>(k) + threadIdx.x % CHUNKS;
            int whole = first / static_cast<int>(s.chunks);
            chunk = first - whole * static_cast<int>(s.chunks);
            int plane = whole / static_cast<int>(s.cells[2]);
            cell[2] = whole - plane * static_cast<int>(s.cells[2]);
            cell[0] = plane / static_cast<int>(s.cells[1]);
            cell[1] = plane - cell[0] * static_cast<int>(s.cells[1]);
        }

        // Copies the next step; what lies outside of x, past the last output or past the end of k is 0.
        __device__ __forceinline__ void fetch(uint4* stage, const ConvTile& s) {
            bool live = cell[0] < static_cast<int>(s.cells[0]);
            int moved = cell[0] * static_cast<int>(s.turn[0]);
            moved = moved * static_cast<int>(s.input[1]) + cell[1] * static_cast<int>(s.turn[1]);
            moved = moved * static_cast<int>(s.input[2]) + cell[2] * static_cast<int>(s.turn[2]);
            moved = moved * static_cast<int>(s.groups * s.chunks) + chunk;
            int columns = static_cast<int>(s.cells[2]);
            u64 bits = live ? 1ull << cell[2] | 1ull << (columns + cell[1]) | 1ull << (columns + static_cast<int>(s.cells[1]) + cell[0]) : 0;
            uint4* to = stage + place(threadIdx.x / CHUNKS, threadIdx.x % CHUNKS);  // LINES is a multiple of 8
#pragma unroll
            for (int i = 0; i < COPIES_M; i++) {
                bool inside = live && (seen[i] & bits) == bits;
                copy_async_16_if(to + i * LINES * CHUNKS, inside ? x + (base[i] + moved) : x, inside);
            }
            int of = cell[0] * static_cast<int>(s.w_turn[0]) + cell[1] * static_cast<int>(s.w_turn[1]) + cell[2] * static_cast<int>(s.w_turn[2]);
            of = of * static_cast<int>(s.chunks) + chunk;
            to += TILE_M * CHUNKS;
#pragma unroll
            for (int i = 0; i < COPIES_N; i++) {
                bool inside = live && i * LINES < outputs;
                copy_async_16_if(to + i * LINES * CHUNKS, inside ? w + (of + i * LINES * weight_row) : x, inside);
            }
            chunk += CHUNKS;
            while (chunk >= static_cast<int>(s.chunks)) {
                chunk -= static_cast<int>(s.chunks);
                if (++cell[2] == columns) {
                    cell[2] = 0;
                    if (++cell[1] == static_cast<int>(s.cells[1])) {
                        cell[1] = 0;
                        cell[0]++;
                    }
                }
            }
        }
    };

    float sums[ROWS][COLUMNS][4];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
#pragma unroll
                for (int e = 0; e < 4; e++) sums[i][j][e] = 0;
            }
        }
    }

    __device__ __forceinline__ void multiply_stage(const uint4* stage) {
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
        const uint4* right = stage + TILE_M * CHUNKS;
#pragma unroll
        for (int k = 0; k < CHUNKS; k += 2) {
            u32 a[ROWS][4];
            u32 b[COLUMNS / 2][4];
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                load_matrix_x4(a[i], stage + place(warp / WARPS_N * WARP_M + i * 16 + lane % 16, k + lane / 16));
                prepare(a[i], T());
            }
#pragma unroll
            for (int j = 0; j < COLUMNS / 2; j++) {
                load_matrix_x4(b[j], right + place(warp % WARPS_N * WARP_N + j * 16 + lane % 8 + lane / 16 * 8, k + lane / 8 % 2));
                prepare(b[j], T());
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    u32 one[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
                    multiply(sums[i][j], a[i], one, T());
                }
            }
        }
    }

    __device__ __forceinline__ void accumulate(Copier copier, uint4* shared, i64 steps, const ConvTile& s) {
#pragma unroll
        for (int i = 0; i < STAGES - 1; i++) {
            if (i < steps) copier.fetch(shared + i * STAGE, s);
            copy_async_commit();
        }
        int now = 0;
        int next = STAGES - 1;
        for (i64 step = 0; step < steps; step++) {
            copy_async_wait<STAGES - 2>();
            __syncthreads();
            if (step + STAGES - 1 < steps) copier.fetch(shared + next * STAGE, s);
            copy_async_commit();
            multiply_stage(shared + now * STAGE);
            now = now == STAGES - 1 ? 0 : now + 1;
            next = next == STAGES - 1 ? 0 : next + 1;
        }
        copy_async_wait<0>();
        __syncthreads();
    }

    // Whether this block is the last of its tile; then it has the sums of all.
    __device__ __forceinline__ bool gather(float4* partial, u32* counters, int split, int splits) {
        __shared__ int last;
        constexpr int EACH = ROWS * COLUMNS * THREADS;
#pragma unroll
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            const float(&v)[4] = sums[i / COLUMNS][i % COLUMNS];
            partial[split * EACH + i * THREADS + threadIdx.x] = make_float4(v[0], v[1], v[2], v[3]);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            announce(counters);
            last = atomicAdd(counters + 1, 1u) == static_cast<u32>(splits) - 1;
            if (last) {
                wait_until(counters, static_cast<u32>(splits));
                counters[0] = 0;
                counters[1] = 0;
            }
        }
        __syncthreads();
        if (!last) return false;
        clear();
        for (int other = 0; other < splits; other++) {
#pragma unroll
            for (int i = 0; i < ROWS * COLUMNS; i++) {
                float4 v = partial[other * EACH + i * THREADS + threadIdx.x];
                float(&sum)[4] = sums[i / COLUMNS][i % COLUMNS];
                sum[0] += v.x;
                sum[1] += v.y;
                sum[2] += v.z;
                sum[3] += v.w;
            }
        }
        return true;
    }

    // The sums in shared memory, a row's or a column's next to each other.
    __device__ __forceinline__ void spread(float* shared, int row_step, int column_step) const {
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
        float* to = shared + (warp / WARPS_N * WARP_M + lane / 4) * row_step + (warp % WARPS_N * WARP_N + lane % 4 * 2) * column_step;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
#pragma unroll
                for (int e = 0; e < 4; e++) to[(i * 16 + e / 2 * 8) * row_step + (j * 8 + e % 2) * column_step] = sums[i][j][e];
            }
        }
    }

    __device__ __forceinline__ void finish(
        float* shared, const i64* rows, T* y, const ConvEpilogue<T>& epilogue, const ConvTile& s, i64 channel0, int columns) const {
        if (s.y_channel != 1) {  // along positions
            constexpr int ROW = TILE_M + 4;
            spread(shared, 1, ROW);
            __syncthreads();
            for (int i = threadIdx.x; i < TILE_M * TILE_N; i += THREADS) {
                int column = i / TILE_M;
                int row = i % TILE_M;
                if (column < columns && rows[row] >= 0) {
                    i64 to = rows[row] + (channel0 + column) * s.y_channel;
                    y[to] = From<T>::of(epilogue.of(shared[column * ROW + row], channel0 + column, to));
                }
            }
        } else {
            constexpr int ROW = TILE_N + 4;
            spread(shared, ROW, 1);
            __syncthreads();
            bool packed = s.outputs % PACK == 0;
            for (int i = threadIdx.x; i < TILE_M * TILE_N / PACK; i += THREADS) {
                int row = i / (TILE_N / PACK);
                int column = i % (TILE_N / PACK) * PACK;
                if (column >= columns || rows[row] < 0) continue;
                i64 to = rows[row] + channel0 + column;
                const float* from = shared + row * ROW + column;
                if (packed) {
                    Pack<T, PACK> out;
                    Pack<T, PACK> added = {};
                    if (epilogue.residual) added = *reinterpret_cast<const Pack<T, PACK>*>(epilogue.residual + to);
                    ConvEpilogue<T> before = {epilogue.bias, nullptr, epilogue.fn, epilogue.p0, epilogue.p1};
#pragma unroll
                    for (int e = 0; e < PACK; e++) {
                        float v = before.of(from[e], channel0 + column + e, to);
                        out.at[e] = From<T>::of(epilogue.residual ? v + to_compute(added.at[e]) : v);
                    }
                    *reinterpret_cast<Pack<T, PACK>*>(y + to) = out;
                } else {
#pragma unroll 1
                    for (int e = 0; e < PACK && column + e < columns; e++) {
                        y[to + e] = From<T>::of(epilogue.of(from[e], channel0 + column + e, to + e));
                    }
                }
            }
        }
    }
};

template <int TILE_M, int TILE_N, int WARP_M, int WARP_N, int STAGES>
__device__ __forceinline__ void convolve(
    const T* x, const T* w, T* y, float4* partials, u32* counters, const ConvTile& s, const ConvEpilogue<T>& epilogue) {
    typedef Tile<TILE_M, TILE_N, WARP_M, WARP_N, STAGES> Work;
    TENON_DYNAMIC_SHARED(uint4, shared);
    __shared__ i64 rows[TILE_M];
    release_successor();
    await_predecessor();
    i64 tiles_n = (s.outputs + TILE_N - 1) / TILE_N;
    i64 tile_m = blockIdx.x / tiles_n;
    i64 row0 = tile_m * TILE_M;
    i64 column0 = (blockIdx.x - tile_m * tiles_n) * TILE_N;
    i64 chunks = s.cells[0] * s.cells[1] * s.cells[2] * s.chunks;
    i64 steps = (chunks + CHUNKS - 1) / CHUNKS;
    i64 each = (steps + s.splits - 1) / s.splits;
    i64 begin = blockIdx.z * each;
    i64 mine = steps - begin < each ? steps - begin : each;
    for (int i = threadIdx.x; i < TILE_M; i += Work::THREADS) {
        Place p = Place::of(s, static_cast<int>(row0) + i);
        rows[i] = p.image < s.batch ? p.result(s) : -1;
    }
    for (i64 group = blockIdx.y; group < s.groups; group += gridDim.y) {
        typename Work::Copier copier;
        copier.x = reinterpret_cast<const uint4*>(x);
        copier.w = reinterpret_cast<const uint4*>(w);
        copier.start(s, row0, column0, group, begin * CHUNKS);
        Work work;
        work.clear();
        work.accumulate(copier, shared, mine, s);
        bool whole = true;
        if (s.splits > 1) {
            i64 tile = group * gridDim.x + blockIdx.x;
            whole = work.gather(
                partials + tile * s.splits * (TILE_M * TILE_N / 4), counters + 2 * tile, static_cast<int>(blockIdx.z), static_cast<int>(s.splits));
        }
        if (whole) {
            i64 left = s.outputs - column0;
            work.finish(
                reinterpret_cast<float*>(shared), rows, y, epilogue, s, group * s.outputs + column0, static_cast<int>(left < TILE_N ? left : TILE_N));
        }
        __syncthreads();
    }
}

#define CONVOLVE(M, N, WARP_M, WARP_N, STAGES) \
    convolve<M, N, WARP_M, WARP_N, STAGES>(x, w, y, static_cast<float4*>(partials), counters, tile, {bias, residual, fn, p0, p1})
#else
#define CONVOLVE(M, N, WARP_M, WARP_N, STAGES)
#endif

#define KERNEL(name, M, N, WARP_M, WARP_N, STAGES, BLOCKS)                                                                         \
    extern "C" __global__ void __launch_bounds__(M / WARP_M * (N / WARP_N) * 32, BLOCKS) TENON_NAME(name)(                         \
        const T* x, const T* w, const T* bias, const T* residual, T* y, void* partials, u32* counters, ConvTile tile, i32 fn,      \
        float p0, float p1) {                                                                                                      \
        CONVOLVE(M, N, WARP_M, WARP_N, STAGES);                                                                                    \
    }                                                                                                                              \
    TENON_ENTRY(name)

KERNEL(conv_mma_128x128, 128, 128, 64, 32, 3, 2)
KERNEL(conv_mma_128x64, 128, 64, 32, 32, 3, 2)
KERNEL(conv_mma_64x64, 64, 64, 32, 32, 4, 3)
KERNEL(conv_mma_128x32, 128, 32, 32, 32, 3, 4)
