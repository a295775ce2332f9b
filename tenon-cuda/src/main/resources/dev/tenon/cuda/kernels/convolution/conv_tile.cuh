// A tile of conv_mma.cu: gathers rows and weights into shared memory, multiplies them on tensor cores, and stores results.
#pragma once
#include "conv_gather.cuh"

#if TENON_HAS_MMA
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
    // Returns whether one of them is NaN.
    template <bool ALONG_ROWS>
    __device__ __forceinline__ bool spread(float* shared, const float* biases) const {
        bool odd = false;
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
                    odd = odd || v.x != v.x || v.y != v.y;
                    if (ALONG_ROWS) {
                        *reinterpret_cast<float2*>(at) = v;
                    } else {
                        at[0] = v.x;
                        at[COLUMN_STEP] = v.y;
                    }
                }
            }
        }
        return odd;
    }

    // Sums again, cell by cell, what came out NaN: zeros stand where windows meet padding, and make NaN of weights that are not finite.
    // x and w are those of the group and of the tile's first channel.
    static __device__ __noinline__ void mend(
        float* shared, const float* biases, const Row* rows, const Cell* cells, const uint4* x, const uint4* w, int chunks, int weight_row, int last,
        bool along_rows, int columns) {
        int row_step = along_rows ? TILE_N + 8 : 1;
        int column_step = along_rows ? 1 : TILE_M + 4;
        constexpr int EACH = 16 / sizeof(T);
#pragma unroll 1
        for (int i = threadIdx.x; i < TILE_M * columns; i += THREADS) {
            int row = i % TILE_M;
            int column = i / TILE_M;
            float& sum = shared[row * row_step + column * column_step];
            if (rows[row].result < 0 || sum == sum) continue;
            sum = biases[column];
#pragma unroll 1
            for (int index = 0; index < last; index++) {
                Cell cell = cells[index];
                if ((rows[row].seen & cell.seen) != cell.seen) continue;
                const T* a = reinterpret_cast<const T*>(x + rows[row].base + cell.moved);
                const T* b = reinterpret_cast<const T*>(w + column * weight_row + cell.weights);
#pragma unroll 1
                for (int k = 0; k < chunks * EACH; k++) sum += to_compute(a[k]) * to_compute(b[k]);
            }
        }
    }

    // FN is the function's number, 0 for none, -1 for that of the epilogue.
    template <int FN>
    static __device__ __forceinline__ float finished(float v, const ConvEpilogue<T>& epilogue) {
        if (FN == 0) return v;
        return FN > 0 ? unary_fn(FN, v, epilogue.p0, epilogue.p1) : unary_fn_call(epilogue.function(), v, epilogue.p0, epilogue.p1);
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
            float added = epilogue.residual ? to_compute(epilogue.residual[to]) : 0.0f;
            float v = finished<FN>(epilogue.before(shared[column * (TILE_M + 4) + row], added), epilogue);
            y[to] = From<T>::of(epilogue.after(v, added));
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
                    float more = epilogue.residual ? to_compute(added.at[e]) : 0.0f;
                    float v = finished<FN>(epilogue.before(from[e], more), epilogue);
                    out.at[e] = From<T>::of(epilogue.after(v, more));
                }
                *reinterpret_cast<Pack<T, PACK>*>(y + to) = out;
            } else {
#pragma unroll 1
                for (int e = 0; e < PACK && column + e < columns; e++) {
                    float more = epilogue.residual ? to_compute(epilogue.residual[to + e]) : 0.0f;
                    float v = finished<FN>(epilogue.before(from[e], more), epilogue);
                    y[to + e] = From<T>::of(epilogue.after(v, more));
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
        float* shared, const float* biases, const Row* rows, T* y, const ConvEpilogue<T>& epilogue, const ConvTile& s,
        const Cell* cells, const void* x, const void* w, i64 channel0, i64 group, int columns) const {
        bool odd = s.y_channel == 1 ? spread<true>(shared, biases) : spread<false>(shared, biases);
        if (__syncthreads_or(odd)) {
            int weight_row = static_cast<int>(s.w_cells * s.chunks);
            mend(
                shared, biases, rows, cells, static_cast<const uint4*>(x) + group * s.chunks,
                static_cast<const uint4*>(w) + channel0 * weight_row + s.w_origin * s.chunks, static_cast<int>(s.chunks), weight_row,
                static_cast<int>(s.cells[0] * s.cells[1] * s.cells[2]), s.y_channel == 1, columns);
            __syncthreads();
        }
        switch (epilogue.function()) {
            case 0: store<0>(shared, rows, y, epilogue, s, channel0, columns); break;
            case FN_RELU: store<FN_RELU>(shared, rows, y, epilogue, s, channel0, columns); break;
            case FN_HARD_SWISH: store<FN_HARD_SWISH>(shared, rows, y, epilogue, s, channel0, columns); break;
            default: store<-1>(shared, rows, y, epilogue, s, channel0, columns); break;
        }
    }
};
#endif
