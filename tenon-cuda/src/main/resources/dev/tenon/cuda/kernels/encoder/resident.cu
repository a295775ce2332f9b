// The steps of a small transformer encoder in one launch: phases one behind the other, products on tensor cores with bias, activation and residual,
// attention, layer norms (formulas in core's MatMul, PlainAttention and LayerNorm). Sums in f32; f32 operands in TF32.
//
// A product's block makes its rows by itself where they are cheap: layer norms of 16 rows, or the attention of a sequence of at most 16 tokens.
// That saves a phase, that is, the time until what one block has stored is seen by the others.
//
// Launch: 512 threads, as many blocks as are resident at once, cooperative; phases [0, count), of which `first` is the first product or norm, or -1.
// All products have as many rows; a block belongs to row tile blockIdx / parts. Dynamic shared memory: rows [16, wide] of T, two scales and shifts from
// byte `affine` on, cells from byte `cells` on, from byte `weights` on twice `half` bytes for weights [round, 8, wide] of T; layouts in resident.cuh.
// counters: 2, 0 before and after.
// Variants: TENON_T one of float, f16, bf16; TENON_HEAD 32 or 64, the elements of a head; from sm_80 on.
#include "resident_attention.cuh"
#include "short_fn.cuh"

constexpr int HEAD = TENON_HEAD;

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// Makes every word that a phase makes and another one reads NOT_YET, a warp a phase and a part of it a block.
__device__ __forceinline__ void clear(const Phases& phases, int count) {
#pragma unroll 1
    for (int number = threadIdx.x / 32; number < count; number += WARPS) {
        const Phase& p = phases.at[number];
        int columns = p.kind == PHASE_PRODUCT ? p.n : p.kind == PHASE_ATTENTION ? p.n * p.k : p.k, rows = p.rows;
#pragma unroll 1
        for (int turn = 0; turn < 2; turn++) {
            if ((p.flags & (turn == 0 ? SEEN_Y : SEEN_NORMED)) == 0) continue;
            uint4* at = reinterpret_cast<uint4*>(turn == 0 ? p.y : p.normed);
            int packs = rows * (turn == 0 ? columns : p.k) / V;
#pragma unroll 1
            for (int i = blockIdx.x * 32 + threadIdx.x % 32; i < packs; i += gridDim.x * 32) at[i] = make_uint4(NOT_YET, NOT_YET, NOT_YET, NOT_YET);
        }
    }
}

constexpr int FETCHED = 6;  // accesses of a lane at a time

// A product's rows as they are, a warp a row.
__device__ __forceinline__ void fetch_rows(const Phase& p, const Block& block) {
    int row = threadIdx.x / 32, whole = block.tile * TILE + row, packs = p.k / V;
    bool there = whole < p.rows, waits = (p.flags & MADE_X) != 0;
    const uint4* from = reinterpret_cast<const uint4*>(p.x + static_cast<i64>(whole) * p.k);
    uint4* to = reinterpret_cast<uint4*>(block.rows + row * wide_row(p.k));
#pragma unroll 1
    for (int base = threadIdx.x % 32; base < packs; base += FETCHED * 32) {
        uint4 own[FETCHED];
        bool missing;
#pragma unroll 1
        do {
            missing = false;
#pragma unroll
            for (int i = 0; i < FETCHED; i++) own[i] = there && base + i * 32 < packs ? load_handed(from + base + i * 32) : make_uint4(0, 0, 0, 0);
#pragma unroll
            for (int i = 0; i < FETCHED; i++) missing |= is_missing(own[i]);
            missing &= waits;
            if (missing) look_again();
        } while (missing);
#pragma unroll
        for (int i = 0; i < FETCHED; i++) {
            if (base + i * 32 < packs) to[base + i * 32] = as_operands(own[i], T());
        }
    }
}

// Layer norms: of a block's rows of a product, a warp a row; or in a phase of its own of all rows, by the warps of all blocks.
__device__ __forceinline__ void norm_rows(const Phase& p, const Block& block, int number) {
    int warp = threadIdx.x / 32;
    bool product = p.kind == PHASE_PRODUCT, wide = !product && p.keys != 0;
    int busy = p.least > 0 ? block.parts : p.more;  // parts that have column tiles share the rows that are stored
    int sharing = busy < TILE ? busy : TILE;
    T* to = product ? block.rows + warp * wide_row(p.k) : nullptr;
    int row = product ? block.tile * TILE + warp : blockIdx.x + warp * gridDim.x;
#pragma unroll 1
    do {
        if (row < p.rows) {
            u8* stored = product ? (warp % sharing == block.part ? reinterpret_cast<u8*>(p.normed) : nullptr) : static_cast<u8*>(p.y);
            if (stored != nullptr) stored += static_cast<i64>(row) * p.k * (wide ? 4 : static_cast<int>(sizeof(T)));
            norm_row(p, row, block.affine + number % 2 * block.slot, to, stored, wide);
        } else if (product) {
            for (int at = threadIdx.x % 32; at < p.k / V; at += 32) reinterpret_cast<uint4*>(to)[at] = make_uint4(0, 0, 0, 0);
        }
        row += WARPS * gridDim.x;
    } while (!product && row < p.rows);
}

// The products of a round's column tiles with a part of k each, into the cells of their warp.
__device__ __forceinline__ void multiply_round(const Phase& p, const Block& block, int number, int now) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wide = wide_row(p.k), chunks = p.k / CHUNK;
    int splits = WARPS >> p.ways, way = warp & ((1 << p.ways) - 1), part = warp >> p.ways;
    int quad = lane / 4, own = lane % 4 * V;
    const T* a = block.rows + quad * wide + own;
#pragma unroll 1
    for (int tile = way; tile < now; tile += 1 << p.ways) {
        const T* b = block.weights + number % 2 * block.half + (tile * COLUMNS + quad) * wide + own;
        float sums[4] = {};
#pragma unroll 2
        for (int chunk = part; chunk < chunks; chunk += splits) {
            uint4 low = *reinterpret_cast<const uint4*>(a + chunk * CHUNK);
            uint4 high = *reinterpret_cast<const uint4*>(a + 8 * wide + chunk * CHUNK);
            multiply_operands(sums, low, high, *reinterpret_cast<const uint4*>(b + chunk * CHUNK), T());
        }
        float2* to = reinterpret_cast<float2*>(block.cells + (tile * splits + part) * CELLS) + lane;
        to[0] = make_float2(sums[0], sums[1]);
        to[32] = make_float2(sums[2], sums[3]);
    }
}

// A thread's word of a round: where it lies, and what is added to it.
struct Cell {
    i64 at;
    bool there;
    u32 bias, residual;

    __device__ __forceinline__ Cell(const Phase& p, const Block& block, int from, int now, int i) {
        int tile = i * PAIR / CELLS, within = i * PAIR % CELLS;
        int row = block.tile * TILE + within / COLUMNS;
        int column = (block.part + (from + tile) * block.parts) * COLUMNS + within % COLUMNS;
        at = static_cast<i64>(row) * p.n + column;
        there = tile < now && row < p.rows;
        bias = 0;
        residual = 0;
        if (there && p.residual != nullptr) residual = load_handed(reinterpret_cast<const u32*>(p.residual + at));
        if (there && p.bias != nullptr) bias = *reinterpret_cast<const u32*>(p.bias + column);
    }
};

// Adds the parts of k, then bias, activation and residual.
__device__ __forceinline__ void finish_round(const Phase& p, const Block& block, int from, int now, Cell cell) {
    int splits = WARPS >> p.ways;
#pragma unroll 1
    for (int i = threadIdx.x;;) {
        if (cell.there) {
            const float* part = block.cells + i * PAIR / CELLS * splits * CELLS + i * PAIR % CELLS;
            float sum[PAIR] = {}, added[PAIR];
#pragma unroll 4
            for (int s = 0; s < splits; s++) {
                Pack<float, PAIR> pack = load_pack<float, PAIR>(part + s * CELLS, 0);
#pragma unroll
                for (int e = 0; e < PAIR; e++) sum[e] += pack.at[e];
            }
            unpack(added, cell.bias, T());
#pragma unroll
            for (int e = 0; e < PAIR; e++) sum[e] += added[e];
            if (p.fn == FN_GELU) {
#pragma unroll
                for (int e = 0; e < PAIR; e++) sum[e] = ShortFn<T, FN_GELU>::of(sum[e], 0, 0);
            } else if (p.fn != 0) {
#pragma unroll 1
                for (int e = 0; e < PAIR; e++) sum[e] = unary_fn_call(p.fn, sum[e], p.alpha, p.beta);
            }
            if (p.residual != nullptr) {
                while ((p.flags & MADE_RESIDUAL) != 0 && is_missing(cell.residual)) {
                    look_again();
                    cell.residual = load_handed(reinterpret_cast<const u32*>(p.residual + cell.at));
                }
                unpack(added, cell.residual, T());
#pragma unroll
                for (int e = 0; e < PAIR; e++) sum[e] += added[e];
            }
            store_handed(reinterpret_cast<u32*>(static_cast<T*>(p.y) + cell.at), pack_word(sum, T()));
        }
        i += THREADS;
        if (i * PAIR >= now * CELLS) break;
        cell = Cell(p, block, from, now, i);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(resident)(Phases given, i32 count, i32 first, i32 parts, i32 affine, i32 cells, i32 weights, i32 half, u32* counters) {
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ Phases phases;
    __shared__ u64 arrivals[2];
    constexpr int WORDS = sizeof(Phase) / 16, SIZE = static_cast<int>(sizeof(T));
    for (int i = threadIdx.x; i < count * WORDS; i += THREADS) reinterpret_cast<uint4*>(phases.at)[i] = reinterpret_cast<const uint4*>(given.at)[i];
#if TENON_COPY_ENGINE
    if (threadIdx.x == 0) {
        start_barrier(shared_address(arrivals), 1);
        start_barrier(shared_address(arrivals + 1), 1);
        show_barriers();
    }
#endif
    __syncthreads();
    Block block = {reinterpret_cast<T*>(dynamic), reinterpret_cast<T*>(dynamic + affine), reinterpret_cast<float*>(dynamic + cells), reinterpret_cast<T*>(dynamic + weights), arrivals,
                   (cells - affine) / 2 / SIZE, half / SIZE, static_cast<int>(blockIdx.x) / parts, static_cast<int>(blockIdx.x) % parts, parts};
    Unit ahead = first_unit(phases, block, first);
    int fetched = 0, number = 0;  // units that are on their way or here; those that are done
    int at = 0, from = 0;         // the phase, and the column tile of a product
    // Each piece of code stands here once: what is executed in turns has to stay in the cache of instructions.
    //
    // Two barriers a unit order what its warps share: rows are made before the first and read behind it; sums are stored between both and read behind
    // the second; so are the weights read, in whose place the unit after the next is fetched behind the second.
#pragma unroll 1
    while (at < count) {
        const Phase& shared = phases.at[at];
        bool product = shared.kind == PHASE_PRODUCT;
        int tiles = product ? column_tiles(shared, block) : shared.kind == PHASE_NORM ? 1 : 0;
        if (fetches()) {
#pragma unroll 1
            for (; fetched < number + 2; fetched++) {
                fetch(phases, block, ahead, fetched);
                ahead = unit_after(phases, block, ahead);
            }
        }
        if (at == 0 && from == 0) {  // the one meeting: behind it every word that phases look for is NOT_YET
            await_predecessor();
            clear(phases, count);
            __syncthreads();
            if (threadIdx.x == 0) {
                announce(counters);
                wait_until(counters, gridDim.x);
            }
            __syncthreads();
        }
        if (shared.kind == PHASE_ATTENTION) attend<HEAD>(shared, block);
        int now = tiles - from < shared.round ? tiles - from : shared.round;
        if (now > 0) {
            await_fetched(block, number);
            if (from > 0) {
                // the rows are there
            } else if (shared.source == ROWS_NORM) {
                norm_rows(shared, block, number);
            } else if (shared.source == ROWS_ATTENTION) {
                attend_rows<HEAD>(shared, block);
            } else {
                fetch_rows(shared, block);
            }
            __syncthreads();  // the rows are there, and the block has read the sums before
            if (product) {
                // in registers: every asynchronous copy makes the compiler read shared memory again
                const Phase p = {shared.kind, shared.source, shared.flags, shared.x, shared.w, shared.bias, shared.residual, shared.y, shared.scale, shared.shift, shared.normed, shared.rows, shared.n, shared.k,
                                 shared.next, shared.least, shared.more, shared.ways, shared.round, shared.fn, shared.unused, shared.alpha, shared.beta, shared.factor, shared.keys};
                Cell cell(p, block, from, now, threadIdx.x);
                multiply_round(p, block, number, now);
                __syncthreads();  // the sums are there, and the weights have been read
                finish_round(p, block, from, now, cell);
            }
            number++;
        }
        from += shared.round;
        if (from >= tiles) {
            at++;
            from = 0;
        }
    }
    if (threadIdx.x == 0 && atomicAdd(counters + 1, 1u) == gridDim.x - 1) {  // the last block leaves them as they were
        counters[0] = 0;
        counters[1] = 0;
    }
#endif
}
TENON_ENTRY(resident)
