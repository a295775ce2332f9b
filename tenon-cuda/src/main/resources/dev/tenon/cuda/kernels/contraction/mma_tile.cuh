// A tile of a matrix product on tensor cores: TILE_M × TILE_N results of one block, WARP_M × WARP_N of a warp, sums in float. Tiles of the
// operands (mma_operand.cuh) pass through shared memory in STAGES steps of 128 bytes of k each, copied asynchronously.
//
// A lane holds of a 16×8 tile of sums the elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), where g is its number / 4 and t the
// rest (PTX ISA, mma). Types: f16 (sm_75), bf16 and float as TF32 (sm_80).
#pragma once
#include "mma_operand.cuh"
#include "short_fn.cuh"
#include "wgmma.cuh"

// 16 bytes of elements in registers. Arrays of 16-bit elements would lie in local memory.
template <typename T>
struct MmaChunk {
    u32 words[4];

    __device__ __forceinline__ void load(const T* from) {
        uint4 v = *reinterpret_cast<const uint4*>(from);
        words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
    }

    __device__ __forceinline__ void store(T* to) const { store_16(to, words); }

    __device__ __forceinline__ float get(int e) const {
        T v;
        v.bits = static_cast<u16>(words[e / 2] >> e % 2 * 16);
        return to_compute(v);
    }

    // In the order of elements.
    __device__ __forceinline__ void put(int e, float v) {
        u32 bits = From<T>::of(v).bits;
        words[e / 2] = e % 2 == 0 ? bits : words[e / 2] | bits << 16;
    }
};

template <>
__device__ __forceinline__ float MmaChunk<float>::get(int e) const { return __uint_as_float(words[e]); }
template <>
__device__ __forceinline__ void MmaChunk<float>::put(int e, float v) { words[e] = __float_as_uint(v); }

// What is done to a result before it is stored. bias and residual may be null; rows of y and residual have n elements.
template <typename T>
struct MmaEpilogue {
    T* y;
    const T* bias;
    const T* residual;
    i64 n;
    int fn;
    float p0;
    float p1;
    bool packed;  // rows are whole chunks on 16-byte boundaries
};

template <typename T, bool ALONG_A, bool ALONG_B, int TILE_M, int TILE_N, int WARP_M, int WARP_N, int STAGES, bool PACKED, int LAG>
struct MmaTile {
    static constexpr int WARPS_N = TILE_N / WARP_N;
    static constexpr int THREADS = TILE_M / WARP_M * WARPS_N * 32;
    typedef MmaOperand<T, ALONG_A, TILE_M, THREADS, PACKED> Left;
    typedef MmaOperand<T, ALONG_B, TILE_N, THREADS, PACKED> Right;
    typedef MmaFragments<T> Fragments;
    static constexpr int STEP = Left::STEP;
    static constexpr int PACK = Left::PACK;
    static constexpr int ROWS = WARP_M / 16;
    static constexpr int COLUMNS = WARP_N / 8;
    static constexpr int STAGE = Left::SIZE + Right::SIZE;
    static constexpr int ROW = TILE_N + 8;  // of the sums in shared memory: pairs of a half warp fall into different banks

    float sums[ROWS][COLUMNS][4];

    // Dynamic shared memory from where tiles may lie: warpgroups want a boundary of 1024 bytes.
    static __device__ __forceinline__ uint4* space(uint4* dynamic) {
        return LAG > 0 ? reinterpret_cast<uint4*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024) : dynamic;
    }

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

    static __device__ __forceinline__ void load(u32 (&a)[ROWS][4], u32 (&b)[COLUMNS / 2][4], const uint4* stage, int base_a, int base_b, int k) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) Fragments::template load<Left, ALONG_A, true>(a[i], stage, base_a, i, k);
#pragma unroll
        for (int j = 0; j < COLUMNS / 2; j++) Fragments::template load<Right, ALONG_B, false>(b[j], stage + Left::SIZE, base_b, j, k);
    }

    __device__ __forceinline__ void multiply(const u32 (&a)[ROWS][4], const u32 (&b)[COLUMNS / 2][4]) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                u32 one[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
                Fragments::multiply(sums[i][j], a[i], one);
            }
        }
    }

    // Adds the product over a.k_left elements of k. Shared memory is free before and after it. The operands of a multiplication are read
    // from shared memory during the one before, those of the next step's first after a barrier in the midst of this step's last; the
    // copies of a later step go out beside the others.
    __device__ __forceinline__ void accumulate(Left a, Right b, uint4* shared) {
        if constexpr (LAG > 0) {
            accumulate_in_warpgroups(a, b, shared);
        } else {
            accumulate_in_warps(a, b, shared);
        }
    }

    // The same by products of warpgroups, of 64 rows each (sm_90a). A stage is fetched after the barrier behind which no warpgroup reads what
    // lay there: LAG steps after it was multiplied. With 2 the tensor cores have the next step's products when they finish one's; with 1 they
    // wait, but more copies are on their way, which is better where another block multiplies meanwhile.
    __device__ __forceinline__ void accumulate_in_warpgroups(Left& a, Right& b, uint4* shared) {
#if __CUDA_ARCH_FEAT_SM90_ALL
        i64 steps = (a.k_left + STEP - 1) / STEP;
#pragma unroll 1
        for (int s = 0; s < STAGES - LAG; s++) {
            a.template fetch<1>(shared + s * STAGE, 0);
            b.template fetch<1>(shared + s * STAGE + Left::SIZE, 0);
            copy_async_commit();
        }
        int group = threadIdx.x / 128;
        u64 left = shared_operand(shared + group * (ALONG_A ? 64 * Left::LINE : Left::LINES * Left::LINE), 1024, Left::LINES * 128);
        u64 right = shared_operand(shared + Left::SIZE, 1024, Right::LINES * 128);
        int now = 0;
        int next = STAGES - LAG;
#pragma unroll 1
        for (i64 step = 0; step < steps; step++) {
            copy_async_wait<STAGES - LAG - 1>();
            if (LAG == 1) await_products<0>();
            show_to_tensor_cores();
            __syncthreads();
            begin_products();
#pragma unroll
            for (int k = 0; k < STEP; k += 16) {
                u64 a_at = left + now * STAGE + (ALONG_A ? k / 8 : k * 8);
                u64 b_at = right + now * STAGE + (ALONG_B ? k / 8 : k * 8);
                if constexpr (ALONG_B) {
                    warpgroup_product<ALONG_A, true>(sums[0], a_at, b_at, T());
                } else {
                    // across k 64 columns a product: one atom of each line
#pragma unroll
                    for (int j = 0; j < COLUMNS; j += 8) {
                        warpgroup_product<ALONG_A, false>(reinterpret_cast<float(&)[8][4]>(sums[0][j]), a_at, b_at + j / 8 * (Right::LINES * 8), T());
                    }
                }
            }
            end_products();
            a.template fetch<1>(shared + next * STAGE, 0);
            b.template fetch<1>(shared + next * STAGE + Left::SIZE, 0);
            copy_async_commit();
            if (LAG == 2) await_products<1>();
            now = now + 1 == STAGES ? 0 : now + 1;
            next = next + 1 == STAGES ? 0 : next + 1;
        }
        await_products<0>();
        copy_async_wait<0>();
        __syncthreads();
#else
        __trap();  // compiled for another form
#endif
    }

    __device__ __forceinline__ void accumulate_in_warps(Left& a, Right& b, uint4* shared) {
        constexpr int PARTS = STEP / Fragments::K;
        i64 steps = (a.k_left + STEP - 1) / STEP;
#pragma unroll 1
        for (int s = 0; s < STAGES - 1; s++) {
            a.template fetch<1>(shared + s * STAGE, 0);
            b.template fetch<1>(shared + s * STAGE + Left::SIZE, 0);
            copy_async_commit();
        }
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
        int base_a = Fragments::template left_base<Left, ALONG_A>(warp / WARPS_N * WARP_M, lane);
        int base_b = Fragments::template right_base<Right, ALONG_B>(warp % WARPS_N * WARP_N, lane);
        u32 left[2][ROWS][4];
        u32 right[2][COLUMNS / 2][4];
        const uint4* now = shared;
        uint4* next = shared + (STAGES - 1) * STAGE;
        copy_async_wait<STAGES - 2>();
        __syncthreads();
        load(left[0], right[0], now, base_a, base_b, 0);
#pragma unroll 1
        for (i64 step = 0; step < steps; step++) {
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                if (part == PARTS - 1) {
                    copy_async_wait<STAGES - 2>();
                    __syncthreads();
                    now = now == shared + (STAGES - 1) * STAGE ? shared : now + STAGE;
                }
                load(left[(part + 1) % 2], right[(part + 1) % 2], now, base_a, base_b, (part + 1) % PARTS * Fragments::K);
                if (part < PARTS - 1) {
                    a.template fetch<PARTS - 1>(next, part);
                    b.template fetch<PARTS - 1>(next + Left::SIZE, part);
                    if (part == PARTS - 2) {
                        copy_async_commit();
                        next = next == shared + (STAGES - 1) * STAGE ? shared : next + STAGE;
                    }
                }
                multiply(left[part % 2], right[part % 2]);
            }
        }
        copy_async_wait<0>();
        __syncthreads();
    }

    // Keeps this block's share of sums for the last block of the tile.
    __device__ __forceinline__ void keep(float4* partial) const {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                partial[(i * COLUMNS + j) * THREADS + threadIdx.x] = make_float4(sums[i][j][0], sums[i][j][1], sums[i][j][2], sums[i][j][3]);
            }
        }
    }

    // The sum of all shares, in their order.
    __device__ __forceinline__ void gather(const float4* partial, int splits) {
        clear();
        for (int s = 0; s < splits; s++) {
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    float4 v = partial[(i * COLUMNS + j) * THREADS + threadIdx.x];
                    sums[i][j][0] += v.x;
                    sums[i][j][1] += v.y;
                    sums[i][j][2] += v.z;
                    sums[i][j][3] += v.w;
                }
            }
            partial += ROWS * COLUMNS * THREADS;
        }
    }

    __device__ __forceinline__ void spread(float* shared) const {
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
        float* to = shared + (warp / WARPS_N * WARP_M + lane / 4) * ROW + warp % WARPS_N * WARP_N + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                *reinterpret_cast<float2*>(to + i * 16 * ROW + j * 8) = make_float2(sums[i][j][0], sums[i][j][1]);
                *reinterpret_cast<float2*>(to + (i * 16 + 8) * ROW + j * 8) = make_float2(sums[i][j][2], sums[i][j][3]);
            }
        }
    }

    // PACK neighbouring sums. Of 8, every second four lanes take the later half first: lanes that are served together meet in no bank.
    static __device__ __forceinline__ void gathered(float (&v)[PACK], const float* from) {
        const Pack<float, 4>* halves = reinterpret_cast<const Pack<float, 4>*>(from);
        if constexpr (PACK == 8) {
            int later = threadIdx.x / 4 % 2;
            Pack<float, 4> one = halves[later];
            Pack<float, 4> other = halves[later ^ 1];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                v[e] = later ? other.at[e] : one.at[e];
                v[e + 4] = later ? one.at[e] : other.at[e];
            }
        } else {
            Pack<float, 4> all = halves[0];
#pragma unroll
            for (int e = 0; e < PACK; e++) v[e] = all.at[e];
        }
    }

    // FN is the function's number, 0 for none, -1 for fn.
    template <int FN>
    static __device__ __forceinline__ float finished(float v, int fn, float p0, float p1) {
        if (FN == 0) return v;
        return FN > 0 ? ShortFn<T, FN>::of(v, p0, p1) : unary_fn_call(fn, v, p0, p1);
    }

    // A thread has the same columns in each of its rows, some of which are on their way together.
    template <int FN, bool ADDS>
    static __device__ __noinline__ void store_chunks(const float* shared, const MmaEpilogue<T>& epilogue, i64 row0, i64 column0, int rows, int columns) {
        constexpr int CHUNKS = TILE_N / PACK;
        constexpr int DOWN = THREADS / CHUNKS;
        constexpr int TURNS = TILE_M / DOWN;
        constexpr int TOGETHER = FN < 0 ? 1 : TURNS % 4 == 0 ? 4 : TURNS % 2 == 0 ? 2 : 1;
        static_assert(THREADS % CHUNKS == 0 && TILE_M % DOWN == 0, "threads keep their columns");
        int column = threadIdx.x % CHUNKS * PACK;
        int row = threadIdx.x / CHUNKS;
        if (column >= columns) return;
        i64 down = DOWN * epilogue.n;
        i64 start = (row0 + row) * epilogue.n + column0 + column;
        T* y = epilogue.y + start;
        const T* residual = ADDS && epilogue.residual ? epilogue.residual + start : nullptr;
        int fn = epilogue.fn;
        float p0 = epilogue.p0;
        float p1 = epilogue.p1;
        MmaChunk<T> shift = {};
        if (ADDS && epilogue.bias) shift.load(epilogue.bias + column0 + column);
#pragma unroll 1
        for (int turn = 0; turn < TURNS; turn += TOGETHER) {
            float sum[TOGETHER][PACK];
            MmaChunk<T> added[TOGETHER] = {};
#pragma unroll
            for (int i = 0; i < TOGETHER; i++) {
                int at = row + (turn + i) * DOWN;
                gathered(sum[i], shared + at * ROW + column);
                if (ADDS && residual && at < rows) added[i].load(residual + i * down);
            }
#pragma unroll
            for (int i = 0; i < TOGETHER; i++) {
                MmaChunk<T> out;
#pragma unroll
                for (int e = 0; e < PACK; e++) {
                    // a sum is never -0: adding 0 leaves it
                    float v = finished<FN>(ADDS ? sum[i][e] + shift.get(e) : sum[i][e], fn, p0, p1);
                    out.put(e, residual ? v + added[i].get(e) : v);
                }
                if (row + (turn + i) * DOWN < rows) out.store(y + i * down);
            }
            y += TOGETHER * down;
            if (ADDS && residual) residual += TOGETHER * down;
        }
    }

    // Element by element, of rows that are not whole chunks.
    static __device__ __noinline__ void store_elements(const float* shared, const MmaEpilogue<T>& epilogue, i64 row0, i64 column0, int rows, int columns) {
        for (int i = threadIdx.x; i < TILE_M * TILE_N; i += THREADS) {
            int row = i / TILE_N;
            int column = i % TILE_N;
            if (row >= rows || column >= columns) continue;
            i64 at = (row0 + row) * epilogue.n + column0 + column;
            float v = shared[row * ROW + column];
            if (epilogue.bias) v += to_compute(epilogue.bias[column0 + column]);
            if (epilogue.fn) v = unary_fn_call(epilogue.fn, v, epilogue.p0, epilogue.p1);
            if (epilogue.residual) v += to_compute(epilogue.residual[at]);
            epilogue.y[at] = From<T>::of(v);
        }
    }

    // Stores the tile at (row0, column0), of which `rows` and `columns` are results.
    __device__ __forceinline__ void store_sums(uint4* shared, const MmaEpilogue<T>& epilogue, i64 row0, i64 column0, int rows, int columns) const {
        float* space = reinterpret_cast<float*>(shared);
        spread(space);
        __syncthreads();
        if (epilogue.packed) {
            store_chunks<0, false>(space, epilogue, row0, column0, rows, columns);
        } else {
            store_elements(space, epilogue, row0, column0, rows, columns);
        }
        __syncthreads();
    }

    // The same after the epilogue's function.
    __device__ __forceinline__ void finish(uint4* shared, const MmaEpilogue<T>& epilogue, i64 row0, i64 column0, int rows, int columns) const {
        float* space = reinterpret_cast<float*>(shared);
        spread(space);
        __syncthreads();
        if (!epilogue.packed) {
            store_elements(space, epilogue, row0, column0, rows, columns);
        } else if (epilogue.fn == 0 && !epilogue.bias && !epilogue.residual) {
            store_chunks<0, false>(space, epilogue, row0, column0, rows, columns);
        } else {
            switch (epilogue.fn) {
                case 0: store_chunks<0, true>(space, epilogue, row0, column0, rows, columns); break;
                case FN_RELU: store_chunks<FN_RELU, true>(space, epilogue, row0, column0, rows, columns); break;
                case FN_GELU: store_chunks<FN_GELU, true>(space, epilogue, row0, column0, rows, columns); break;
                case FN_GELU_TANH: store_chunks<FN_GELU_TANH, true>(space, epilogue, row0, column0, rows, columns); break;
                case FN_SILU: store_chunks<FN_SILU, true>(space, epilogue, row0, column0, rows, columns); break;
                default: store_chunks<-1, true>(space, epilogue, row0, column0, rows, columns); break;
            }
        }
        __syncthreads();
    }
};
