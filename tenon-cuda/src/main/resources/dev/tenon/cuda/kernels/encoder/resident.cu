// The steps of a small transformer encoder in one launch: phases that all blocks go through together, products on tensor cores with bias, activation
// and residual, attention, layer norms (formulas in core's MatMul, PlainAttention and LayerNorm). Sums in f32; f32 operands in TF32.
//
// A product's block makes its rows by itself where they are cheap: layer norms of 16 rows, or the attention of a sequence of at most 16 tokens.
// That saves a phase, that is, a meeting of all blocks.
//
// Launch: 512 threads, as many blocks as are resident at once, cooperative; phases [0, count), of which `first` is the first product or -1. All
// products have as many rows; a block belongs to row tile blockIdx / parts. Dynamic shared memory: rows [16, wide] of T, scale and shift from byte
// `affine` on, cells from byte `cells` on, weights [round, 8, wide] of T from byte `weights` on; layouts in resident.cuh. counters: 2, 0 before and after.
// Variants: TENON_T one of float, f16, bf16; TENON_HEAD 32 or 64, the elements of a head; from sm_80 on.
#include "resident_attention.cuh"

constexpr int HEAD = TENON_HEAD;

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// A block's rows of a product.
__device__ __forceinline__ void make_rows(const Phase& p, const Phase& shared, const Block& block) {
    if (p.source == ROWS_ATTENTION) return attend_rows<HEAD>(shared, block);
    int lane = threadIdx.x % 32, wide = wide_row(p.k);
    int busy = p.least > 0 ? p.parts : p.more;  // parts that have column tiles share the rows that are stored
    int sharing = busy < TILE ? busy : TILE;
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < TILE; row += WARPS) {
        int whole = block.tile * TILE + row;
        T* to = block.rows + row * wide;
        if (whole >= p.rows) {
#pragma unroll 1
            for (int at = lane; at < p.k / V; at += 32) reinterpret_cast<uint4*>(to)[at] = make_uint4(0, 0, 0, 0);
        } else {
            fetch_row(p, whole, to);
            copy_async_commit();
            if (p.source == ROWS_NORM) {
                bool stores = p.normed != nullptr && row % sharing == block.part;
                copy_async_wait<0>();
                __syncwarp();
                norm_row(p.k, p.factor, to, block.affine, block.affine + p.k, stores ? p.normed + static_cast<i64>(whole) * p.k : nullptr, false);
            }
        }
    }
}

// The products of a round's column tiles with a part of k each, into the cells of their warp.
__device__ __forceinline__ void multiply_round(const Phase& p, const Block& block, int now) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wide = wide_row(p.k), chunks = p.k / CHUNK;
    int splits = WARPS >> p.ways, way = warp & ((1 << p.ways) - 1), part = warp >> p.ways;
    int quad = lane / 4, own = lane % 4 * V;
    const T* a = block.rows + quad * wide + own;
#pragma unroll 1
    for (int tile = way; tile < now; tile += 1 << p.ways) {
        const T* b = block.weights + (tile * COLUMNS + quad) * wide + own;
        float sums[4] = {};
#pragma unroll 2
        for (int chunk = part; chunk < chunks; chunk += splits) {
            uint4 low = *reinterpret_cast<const uint4*>(a + chunk * CHUNK);
            uint4 high = *reinterpret_cast<const uint4*>(a + 8 * wide + chunk * CHUNK);
            multiply(sums, low, high, *reinterpret_cast<const uint4*>(b + chunk * CHUNK), T());
        }
        float2* to = reinterpret_cast<float2*>(block.cells + (tile * splits + part) * CELLS) + lane;
        to[0] = make_float2(sums[0], sums[1]);
        to[32] = make_float2(sums[2], sums[3]);
    }
}

// A thread's element of a round: where it lies, and the bits of what is added to it.
struct Cell {
    i64 at;
    bool there;
    decltype(load_bits(static_cast<const T*>(nullptr))) bias, residual;

    __device__ __forceinline__ Cell(const Phase& p, const Block& block, int from, int now, int i) {
        int tile = i / CELLS, within = i % CELLS;
        int row = block.tile * TILE + within / COLUMNS;
        int column = (block.part + (from + tile) * p.parts) * COLUMNS + within % COLUMNS;
        at = static_cast<i64>(row) * p.n + column;
        there = tile < now && row < p.rows;
        bias = 0;
        residual = 0;
        if (there && p.residual != nullptr) residual = load_bits(p.residual + at);
        if (there && p.bias != nullptr) bias = load_bits(p.bias + column);
    }
};

// Adds the parts of k, then bias, activation and residual.
__device__ __forceinline__ void finish_round(const Phase& p, const Block& block, int from, int now, Cell cell) {
    int splits = WARPS >> p.ways;
#pragma unroll 1
    for (int i = threadIdx.x;;) {
        if (cell.there) {
            const float* part = block.cells + i / CELLS * splits * CELLS + i % CELLS;
            float sum = 0;
#pragma unroll 4
            for (int s = 0; s < splits; s++) sum += part[s * CELLS];
            sum += of_bits<T>(cell.bias);
            if (p.fn == FN_GELU) {
                sum = gelu(sum);
            } else if (p.fn != 0) {
                sum = unary_fn_call(p.fn, sum, p.alpha, p.beta);
            }
            if (p.residual != nullptr) sum += of_bits<T>(cell.residual);
            static_cast<T*>(p.y)[cell.at] = From<T>::of(sum);
        }
        i += THREADS;
        if (i >= now * CELLS) break;
        cell = Cell(p, block, from, now, i);
    }
}

// A warp a row, of all blocks, by way of shared memory.
__device__ __forceinline__ void run_norm(const Phase& p, const Block& block) {
    int warp = threadIdx.x / 32;
    bool wide = p.keys != 0;
    T* own = block.rows + warp * wide_row(p.k);
#pragma unroll 1
    for (int row = blockIdx.x + warp * gridDim.x; row < p.rows; row += WARPS * gridDim.x) {
        i64 at = static_cast<i64>(row) * p.k;
        fetch_row(p, row, own);
        copy_async_commit();
        copy_async_wait<0>();
        __syncwarp();
        norm_row(p.k, p.factor, own, p.scale, p.shift, wide ? static_cast<void*>(static_cast<float*>(p.y) + at) : static_cast<T*>(p.y) + at, wide);
        __syncwarp();
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(resident)(Phases given, i32 count, i32 first, i32 parts, i32 affine, i32 cells, i32 weights, u32* counters) {
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ Phases phases;
    constexpr int WORDS = sizeof(Phase) / 16;
    for (int i = threadIdx.x; i < count * WORDS; i += THREADS) reinterpret_cast<uint4*>(phases.at)[i] = reinterpret_cast<const uint4*>(given.at)[i];
    __syncthreads();
    Block block = {reinterpret_cast<T*>(dynamic), reinterpret_cast<T*>(dynamic + affine), reinterpret_cast<float*>(dynamic + cells), reinterpret_cast<T*>(dynamic + weights), static_cast<int>(blockIdx.x) / parts, static_cast<int>(blockIdx.x) % parts};
    // each piece of code stands here once: what is executed in turns has to stay in the cache of instructions
#pragma unroll 1
    for (int number = -1; number < count; number++) {
        const Phase& shared = phases.at[number < 0 ? 0 : number];
        // in registers: every asynchronous copy makes the compiler read shared memory again
        const Phase p = {shared.kind, shared.source, shared.x, shared.w, shared.bias, shared.residual, shared.y, shared.scale, shared.shift, shared.normed, shared.rows, shared.n, shared.k,
                         shared.parts, shared.least, shared.more, shared.ways, shared.round, shared.fn, shared.next, shared.alpha, shared.beta, shared.factor, shared.keys};
        bool product = number >= 0 && p.kind == PHASE_PRODUCT;
        int tiles = product ? column_tiles(p, block) : 0;
        if (number == 0) await_predecessor();
        if (number > 0) {  // all meet; meanwhile what was fetched ahead arrives
            __syncthreads();
            if (threadIdx.x == 0) announce(counters);
        }
        copy_async_wait<0>();
        if (number > 0 && threadIdx.x == 0) wait_until(counters, gridDim.x * static_cast<u32>(number));
        __syncthreads();
        if (number >= 0 && p.kind == PHASE_NORM) run_norm(shared, block);
        if (number >= 0 && p.kind == PHASE_ATTENTION) attend<HEAD>(shared, block);
#pragma unroll 1
        for (int from = 0;; from += p.round) {
            int now = tiles - from < p.round ? tiles - from : p.round;
            bool last = !product || from + p.round >= tiles;
            Cell cell(p, block, from, now, threadIdx.x);
            if (now > 0) {
                if (from == 0) {
                    make_rows(p, shared, block);
                } else {
                    fetch_weights(p, block, from, now);
                    copy_async_commit();
                }
                copy_async_wait<0>();
                __syncthreads();
                multiply_round(p, block, now);
                __syncthreads();
            }
            int next = number < 0 ? first : p.next;
            if (last && next >= 0 && (product || number < 0)) fetch_ahead(phases.at[next], block);
            if (now > 0) finish_round(p, block, from, now, cell);
            if (last) break;
        }
    }
    copy_async_wait<0>();
    __syncthreads();
    if (count > 1 && threadIdx.x == 0 && atomicAdd(counters + 1, 1u) == gridDim.x - 1) {  // the last block leaves them as they were
        counters[0] = 0;
        counters[1] = 0;
    }
#endif
}
TENON_ENTRY(resident)
