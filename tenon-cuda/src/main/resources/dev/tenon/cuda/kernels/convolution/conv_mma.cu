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
// tile says (ConvTiles.java): for steps or sums, and 16 bytes a cell and one. With several parts of k the last block of a tile to arrive adds up the sums of all, in order, from the
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

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED || (__CUDA_ARCH__ >= 750 && TENON_F16)
#define TENON_HAS_MMA 1
#else
#define TENON_HAS_MMA 0
#endif

#if TENON_HAS_MMA
constexpr int CHUNKS = 8;  // of a row of a step: 128 bytes of k

// A row of the product: an image and a position of this launch.
struct Row {
    i64 result;  // elements from y to the position's first channel; -1 past the last image
    u64 seen;    // a bit for each index of a cell along each axis, the last axis lowest: whether it falls on x
    i32 base;    // chunks from x to the origin of the window

    static __device__ __forceinline__ Row of(const ConvTile& s, int row) {
        int at[3];
        int lines = row / static_cast<int>(s.count[2]);
        at[2] = row - lines * static_cast<int>(s.count[2]);
        int planes = lines / static_cast<int>(s.count[1]);
        at[1] = lines - planes * static_cast<int>(s.count[1]);
        int image = planes / static_cast<int>(s.count[0]);
        at[0] = planes - image * static_cast<int>(s.count[0]);
        Row r = {-1, 0, 0};
        if (image >= s.batch) return r;
        int bit = 0;
        i64 place = 0;
        int from = image;
#pragma unroll
        for (int d = 2; d >= 0; d--) {
            int origin = at[d] * static_cast<int>(s.move[d]) + static_cast<int>(s.origin[d]);
            for (int c = 0; c < static_cast<int>(s.cells[d]); c++, bit++) {
                u32 to = static_cast<u32>(origin + c * static_cast<int>(s.turn[d]));
                if (to < static_cast<u32>(s.input[d])) r.seen |= 1ull << bit;
            }
        }
#pragma unroll
        for (int d = 0; d < 3; d++) {
            from = from * static_cast<int>(s.input[d]) + at[d] * static_cast<int>(s.move[d]) + static_cast<int>(s.origin[d]);
            place = place * s.output[d] + at[d] * s.step[d] + s.first[d];
        }
        r.base = from * static_cast<int>(s.groups * s.chunks);
        r.result = image * s.y_image + place * s.y_place;
        return r;
    }
};

// A cell of the window; the one past all falls on no row's x and no output's weights.
struct alignas(16) Cell {
    u64 seen;     // its bit for each axis
    i32 moved;    // chunks of x from the origin of a window
    i32 weights;  // chunks from the first cell's weights

    static __device__ __forceinline__ Cell of(const ConvTile& s, int index) {
        Cell r = {1ull << 63, 0, 0};
        int n1 = static_cast<int>(s.cells[1]), n2 = static_cast<int>(s.cells[2]);
        int plane = index / n2;
        int c2 = index - plane * n2;
        int c0 = plane / n1;
        int c1 = plane - c0 * n1;
        if (c0 >= s.cells[0]) return r;
        r.seen = 1ull << c2 | 1ull << (n2 + c1) | 1ull << (n2 + n1 + c0);
        int moved = c0 * static_cast<int>(s.turn[0]);
        moved = moved * static_cast<int>(s.input[1]) + c1 * static_cast<int>(s.turn[1]);
        moved = moved * static_cast<int>(s.input[2]) + c2 * static_cast<int>(s.turn[2]);
        r.moved = moved * static_cast<int>(s.groups * s.chunks);
        int weights = c0 * static_cast<int>(s.w_turn[0]) + c1 * static_cast<int>(s.w_turn[1]) + c2 * static_cast<int>(s.w_turn[2]);
        r.weights = weights * static_cast<int>(s.chunks);
        return r;
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

    // Chunks of shared memory for the steps, and for the sums once these are done; after them lies the table of cells.
    static constexpr int SUMS = TILE_M * (TILE_N + 8) > (TILE_M + 4) * TILE_N ? TILE_M * (TILE_N + 8) / 4 : (TILE_M + 4) * TILE_N / 4;
    static constexpr int SPACE = STAGES * STAGE > SUMS ? STAGES * STAGE : SUMS;

    // What a thread copies: one chunk of k in some rows of both operands, and where it stands in k.
    struct Copier {
        const uint4* x;
        const uint4* w;      // the row of its first copy
        const Cell* cells;
        Cell cell;           // of its next chunk
        u64 seen[COPIES_M];  // of Row
        int base[COPIES_M];  // of Row, in the group
        int weight_row;
        int outputs;  // from the first copy's on
        int index;    // of the cell
        int last;     // the one past all
        int chunk;
        int chunks;

        __device__ __forceinline__ void start(const ConvTile& s, const Row* rows, i64 column0, i64 group, i64 k) {
            int line = threadIdx.x / CHUNKS;
            chunks = static_cast<int>(s.chunks);
#pragma unroll
            for (int i = 0; i < COPIES_M; i++) {
                base[i] = rows[line + i * LINES].base + static_cast<int>(group) * chunks;
                seen[i] = rows[line + i * LINES].seen;
            }
            weight_row = static_cast<int>(s.w_cells) * chunks;
            w += (group * s.outputs + column0 + line) * weight_row + s.w_origin * chunks;
            i64 left = s.outputs - column0 - line;
            outputs = static_cast<int>(left < TILE_N ? left : TILE_N);
            int first = static_cast<int>(k) + threadIdx.x % CHUNKS;
            index = first / chunks;
            chunk = first - index * chunks;
            last = static_cast<int>(s.cells[0] * s.cells[1] * s.cells[2]);
            cell = cells[index < last ? index : last];
        }

        static __device__ __forceinline__ uint4* target(uint4* stage) { return stage + place(threadIdx.x / CHUNKS, threadIdx.x % CHUNKS); }

        // Copies the next step's part of x; what lies outside is 0. LINES is a multiple of 8, so that rows keep their place in a line.
        __device__ __forceinline__ void copy_rows(uint4* stage) const {
            uint4* to = target(stage);
            int moved = cell.moved + chunk;
#pragma unroll
            for (int i = 0; i < COPIES_M; i++) {
                bool inside = (seen[i] & cell.seen) == cell.seen;
                copy_async_16_if(to + i * LINES * CHUNKS, x + (inside ? base[i] + moved : 0), inside);
            }
        }

        // The same of the weights; past the last output or the end of k they are 0.
        __device__ __forceinline__ void copy_columns(uint4* stage) const {
            uint4* to = target(stage) + TILE_M * CHUNKS;
            int left = static_cast<i64>(cell.seen) < 0 ? 0 : outputs;
            const uint4* from = w + (cell.weights + chunk);
#pragma unroll
            for (int i = 0; i < COPIES_N; i++) {
                bool inside = i * LINES < left;
                copy_async_16_if(to + i * LINES * CHUNKS, inside ? from : x, inside);
                from += LINES * weight_row;
            }
        }

        __device__ __forceinline__ void advance() {
            chunk += CHUNKS;
            while (chunk >= chunks) {
                chunk -= chunks;
                index++;
            }
            cell = cells[index < last ? index : last];
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

    static __device__ __forceinline__ void load(u32 (&a)[ROWS][4], u32 (&b)[COLUMNS / 2][4], const uint4* stage, int k) {
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            load_matrix_x4(a[i], stage + place(warp / WARPS_N * WARP_M + i * 16 + lane % 16, k + lane / 16));
        }
#pragma unroll
        for (int j = 0; j < COLUMNS / 2; j++) {
            int row = warp % WARPS_N * WARP_N + j * 16 + lane % 8 + lane / 16 * 8;
            load_matrix_x4(b[j], stage + TILE_M * CHUNKS + place(row, k + lane / 8 % 2));
        }
    }

    __device__ __forceinline__ void multiply_all(u32 (&a)[ROWS][4], u32 (&b)[COLUMNS / 2][4]) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) prepare(a[i], T());
#pragma unroll
        for (int j = 0; j < COLUMNS / 2; j++) prepare(b[j], T());
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                u32 one[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
                multiply(sums[i][j], a[i], one, T());
            }
        }
    }

    // The copies of a later step go out between the multiplications of this one.
    __device__ __forceinline__ void accumulate(Copier copier, uint4* shared, int steps) {
#pragma unroll
        for (int i = 0; i < STAGES - 1; i++) {
            if (i < steps) {
                copier.copy_rows(shared + i * STAGE);
                copier.copy_columns(shared + i * STAGE);
                copier.advance();
            }
            copy_async_commit();
        }
        uint4* now = shared;
        uint4* next = shared + (STAGES - 1) * STAGE;
        uint4* const end = shared + STAGES * STAGE;
        for (int step = 0; step < steps; step++) {
            u32 a[ROWS][4];
            u32 b[COLUMNS / 2][4];
            bool more = step + STAGES - 1 < steps;
            copy_async_wait<STAGES - 2>();
            __syncthreads();
            load(a, b, now, 0);
            if (more) copier.copy_rows(next);
            multiply_all(a, b);
            load(a, b, now, 2);
            if (more) copier.copy_columns(next);
            copy_async_commit();
            multiply_all(a, b);
            load(a, b, now, 4);
            copier.advance();
            multiply_all(a, b);
            load(a, b, now, 6);
            now = now + STAGE == end ? shared : now + STAGE;
            next = next + STAGE == end ? shared : next + STAGE;
            multiply_all(a, b);
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

    // The sums and biases in shared memory, a row's or a column's next to each other.
    template <bool ALONG_ROWS>
    __device__ __forceinline__ void spread(float* shared, const float* biases) const {
        constexpr int ROW_STEP = ALONG_ROWS ? TILE_N + 8 : 1;
        constexpr int COLUMN_STEP = ALONG_ROWS ? 1 : TILE_M + 4;
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
        int column = warp % WARPS_N * WARP_N + lane % 4 * 2;
        float* to = shared + (warp / WARPS_N * WARP_M + lane / 4) * ROW_STEP + column * COLUMN_STEP;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            float2 bias = *reinterpret_cast<const float2*>(biases + column + j * 8);
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    float2 v = make_float2(sums[i][j][2 * half] + bias.x, sums[i][j][2 * half + 1] + bias.y);
                    float* at = to + (i * 16 + half * 8) * ROW_STEP + j * 8 * COLUMN_STEP;
                    if (ALONG_ROWS) {
                        *reinterpret_cast<float2*>(at) = v;
                    } else {
                        at[0] = v.x;
                        at[COLUMN_STEP] = v.y;
                    }
                }
            }
        }
    }

    // FN is the function's number, 0 for none, -1 for that of the epilogue.
    template <int FN>
    static __device__ __forceinline__ float finished(float v, const ConvEpilogue<T>& epilogue) {
        if (FN == 0) return v;
        return FN > 0 ? unary_fn(FN, v, epilogue.p0, epilogue.p1) : unary_fn_call(epilogue.fn, v, epilogue.p0, epilogue.p1);
    }

    // Along positions.
    template <int FN>
    static __device__ __noinline__ void store_planes(
        const float* shared, const Row* rows, T* y, ConvEpilogue<T> epilogue, i64 y_channel, i64 channel0, int columns) {
        constexpr int BETWEEN = THREADS / TILE_M;  // columns that all threads store at once
        static_assert(THREADS % TILE_M == 0, "a thread keeps its row");
        int row = threadIdx.x % TILE_M;
        i64 to = rows[row].result;
        if (to < 0) return;
        to += (channel0 + threadIdx.x / TILE_M) * y_channel;
#pragma unroll 4
        for (int column = threadIdx.x / TILE_M; column < columns; column += BETWEEN) {
            float v = finished<FN>(shared[column * (TILE_M + 4) + row], epilogue);
            if (epilogue.residual) v += to_compute(epilogue.residual[to]);
            y[to] = From<T>::of(v);
            to += BETWEEN * y_channel;
        }
    }

    // Along channels.
    template <int FN>
    static __device__ __noinline__ void store_rows(
        const float* shared, const Row* rows, T* y, ConvEpilogue<T> epilogue, bool packed, i64 channel0, int columns) {
        constexpr int PACKS = TILE_N / PACK;
#pragma unroll 2
        for (int i = threadIdx.x; i < TILE_M * PACKS; i += THREADS) {
            int row = i / PACKS;
            int column = i % PACKS * PACK;
            i64 to = rows[row].result;
            if (column >= columns || to < 0) continue;
            to += channel0 + column;
            const float* from = shared + row * (TILE_N + 8) + column;
            if (packed) {
                Pack<T, PACK> out;
                Pack<T, PACK> added;
                if (epilogue.residual) added = *reinterpret_cast<const Pack<T, PACK>*>(epilogue.residual + to);
#pragma unroll
                for (int e = 0; e < PACK; e++) {
                    float v = finished<FN>(from[e], epilogue);
                    if (epilogue.residual) v += to_compute(added.at[e]);
                    out.at[e] = From<T>::of(v);
                }
                *reinterpret_cast<Pack<T, PACK>*>(y + to) = out;
            } else {
#pragma unroll 1
                for (int e = 0; e < PACK && column + e < columns; e++) {
                    float v = finished<FN>(from[e], epilogue);
                    if (epilogue.residual) v += to_compute(epilogue.residual[to + e]);
                    y[to + e] = From<T>::of(v);
                }
            }
        }
    }

    template <int FN>
    static __device__ __forceinline__ void store(
        const float* shared, const Row* rows, T* y, const ConvEpilogue<T>& epilogue, const ConvTile& s, i64 channel0, int columns) {
        if (s.y_channel == 1) {
            store_rows<FN>(shared, rows, y, epilogue, s.outputs % PACK == 0, channel0, columns);
        } else {
            store_planes<FN>(shared, rows, y, epilogue, s.y_channel, channel0, columns);
        }
    }

    __device__ __forceinline__ void finish(
        float* shared, const float* biases, const Row* rows, T* y, const ConvEpilogue<T>& epilogue, const ConvTile& s, i64 channel0,
        int columns) const {
        if (s.y_channel == 1) {
            spread<true>(shared, biases);
        } else {
            spread<false>(shared, biases);
        }
        __syncthreads();
        switch (epilogue.fn) {
            case 0: store<0>(shared, rows, y, epilogue, s, channel0, columns); break;
            case FN_RELU: store<FN_RELU>(shared, rows, y, epilogue, s, channel0, columns); break;
            case FN_HARD_SWISH: store<FN_HARD_SWISH>(shared, rows, y, epilogue, s, channel0, columns); break;
            default: store<-1>(shared, rows, y, epilogue, s, channel0, columns); break;
        }
    }
};

template <int TILE_M, int TILE_N, int WARP_M, int WARP_N, int STAGES>
__device__ __forceinline__ void convolve(
    const T* x, const T* w, T* y, float4* partials, u32* counters, const ConvTile& s, const ConvEpilogue<T>& epilogue) {
    typedef Tile<TILE_M, TILE_N, WARP_M, WARP_N, STAGES> Work;
    TENON_DYNAMIC_SHARED(uint4, shared);
    __shared__ Row rows[TILE_M];
    __shared__ float2 biases[TILE_N / 2];
    release_successor();
    int tiles_n = static_cast<int>((s.outputs + TILE_N - 1) / TILE_N);
    int tile_m = static_cast<int>(blockIdx.x) / tiles_n;
    i64 row0 = static_cast<i64>(tile_m) * TILE_M;
    i64 column0 = static_cast<i64>(static_cast<int>(blockIdx.x) - tile_m * tiles_n) * TILE_N;
    int columns = static_cast<int>(s.outputs - column0 < TILE_N ? s.outputs - column0 : TILE_N);
    i64 chunks = s.cells[0] * s.cells[1] * s.cells[2] * s.chunks;
    i64 steps = (chunks + CHUNKS - 1) / CHUNKS;
    i64 each = s.splits == 1 ? steps : (steps + s.splits - 1) / s.splits;
    i64 begin = blockIdx.z * each;
    i64 mine = steps - begin < each ? steps - begin : each;
    for (int i = threadIdx.x; i < TILE_M; i += Work::THREADS) rows[i] = Row::of(s, static_cast<int>(row0) + i);
    Cell* cells = reinterpret_cast<Cell*>(shared + Work::SPACE);
    for (int i = threadIdx.x; i <= s.cells[0] * s.cells[1] * s.cells[2]; i += Work::THREADS) cells[i] = Cell::of(s, i);
    await_predecessor();
    for (i64 group = blockIdx.y; group < s.groups; group += gridDim.y) {
        i64 channel0 = group * s.outputs + column0;
        for (int i = threadIdx.x; i < TILE_N; i += Work::THREADS) {
            reinterpret_cast<float*>(biases)[i] = epilogue.bias && i < columns ? to_compute(epilogue.bias[channel0 + i]) : 0.0f;
        }
        __syncthreads();
        typename Work::Copier copier;
        copier.x = reinterpret_cast<const uint4*>(x);
        copier.w = reinterpret_cast<const uint4*>(w);
        copier.cells = cells;
        copier.start(s, rows, column0, group, begin * CHUNKS);
        Work work;
        work.clear();
        work.accumulate(copier, shared, static_cast<int>(mine));
        bool whole = true;
        if (s.splits > 1) {
            i64 tile = group * gridDim.x + blockIdx.x;
            whole = work.gather(
                partials + tile * s.splits * (TILE_M * TILE_N / 4), counters + 2 * tile, static_cast<int>(blockIdx.z), static_cast<int>(s.splits));
        }
        if (whole) {
            work.finish(
                reinterpret_cast<float*>(shared), reinterpret_cast<const float*>(biases), rows, y, epilogue, s, channel0, columns);
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
