// y = norm(a b + bias + residual) gamma + beta over whole rows, by products of warpgroups (sm_90a): a row of blocks holds 128 rows, COLUMNS of their
// columns each, and goes over its tiles of rows. LayerNorm where CENTRED, else RmsNorm.
//
// The copy engine fetches parts of 128 bytes of k through a ring, asked by one thread of the first warpgroup, which runs ahead into the next tile. The
// two others make 64 rows each. A tile's sums with their bias are kept, halves rounded in half the registers; all else happens while the tensor
// cores make the next tile. Its first steps add the residual, whose tile comes through the same ring, and find the mean and the squared
// deviations of this block's part of each row. Two warps of the first warpgroup hand them to the other blocks of the row through L2, and
// merge what those hand over (Chan, Golub, LeVeque 1979). The tile's last steps scale and store.
//
// a [m,k], residual and y [m,n], b [n,k], rows on 16-byte boundaries; bias, gamma and beta [n] may be null. n is `blocks` COLUMNS. Sums and
// statistics in f32; halves are rounded three times, before the residual is added, behind it, and as results. y overlaps nothing that is read.
//
// Launch: cooperative, 384 threads; any number of rows of `blocks` blocks along x; steps: parts of 128 bytes that cover k, at least LEAST_STEPS.
// Dynamic shared memory: 1024 bytes and STAGES (128 + COLUMNS) 128. left: boxes of 128 rows of a, 128 bytes each. right: boxes of 128 bytes of 64 rows
// of b. added: boxes of 128 rows of the residual, 128 bytes each, not rounded; any map where has_residual is 0. states: for each row of
// blocks 2 · 128 · blocks pairs of floats. counters: four words for each row of blocks, 0 before and after.
// Variants: TENON_T one of f16, bf16, float (TF32, at most 192 columns); TENON_CENTRED; TENON_COLUMNS 128, 192 or 256. Compiled for sm_90a alone.
#include "kept_tile.cuh"
#include "product_ring.cuh"

typedef TENON_T T;
constexpr bool CENTRED = TENON_CENTRED;
constexpr int COLUMNS = TENON_COLUMNS;
constexpr int STAGES = COLUMNS == 256 ? 4 : COLUMNS == 192 ? 5 : 6;
constexpr int ROWS = 128;
constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int THREADS = 3 * GROUP;
constexpr int WIDE = 128 / sizeof(T);  // columns of a box of the residual
constexpr int BOXES = COLUMNS / WIDE;
constexpr int BOX = ROWS * 128;
constexpr int PARTS = (BOXES + 1) / 2;  // places in the ring that take the residual's tile, two boxes each
constexpr int UNITS = COLUMNS / 32;     // of columns that are stored together
constexpr int UNITS_A_STEP = sizeof(T) == 4 ? 1 : 2;
constexpr int STORES = UNITS / UNITS_A_STEP;  // steps that store
constexpr int LEAST_STEPS = 1 + PARTS + STORES;
constexpr bool TURNS = sizeof(T) == 4;  // halves gain nothing

#if __CUDA_ARCH_FEAT_SM90_ALL
using Ring = ProductRing<T, COLUMNS, STAGES, true>;

struct Problem {
    T* y;
    int m;
    int n;
    int steps;
    int blocks;
    bool has_residual;
    float share;  // 1 / blocks
    float epsilon;
    uint2* states;
    u32* counters;

    __device__ __forceinline__ int part() const { return static_cast<int>(blockIdx.x) % blocks; }
    __device__ __forceinline__ int team() const { return static_cast<int>(blockIdx.x) / blocks; }
    __device__ __forceinline__ int column0() const { return part() * COLUMNS; }
};

// The tiles of rows of this block's row of blocks, one after the other.
struct Walk {
    int row0;
    int step;
    int m;

    __device__ __forceinline__ explicit Walk(const Problem& problem)
        : row0(problem.team() * ROWS), step(static_cast<int>(gridDim.x) / problem.blocks * ROWS), m(problem.m) {}

    __device__ __forceinline__ bool there() const { return row0 < m; }
    __device__ __forceinline__ void next() { row0 += step; }
    __device__ __forceinline__ int before() const { return row0 - step; }
};

struct Shared {
    float bias[COLUMNS];
    float gamma[COLUMNS];
    float beta[COLUMNS];
    float2 own[ROWS];     // of this block's parts of rows: the mean, and the sum of squared differences from it; where not CENTRED 0, and of squares
    float2 merged[ROWS];  // of whole rows: what makes results of what is kept, a factor and what is added then
    alignas(128) u8 passages[2 * GROUP / 32][PASSAGE<T>];
};

// Barriers of the two warpgroups, at which all lanes that wrote arrive: states are in `own`, and in `merged`.
struct Told {
    u32 ready;
    u32 done;
};

__device__ __forceinline__ void fetch_residual(
    const TensorMap& added, const Problem& problem, const Ring& ring, int part, int row0, Ring::Place& place) {
    int boxes = BOXES - 2 * part < 2 ? BOXES - 2 * part : 2;
    u32 barrier = ring.full(place.stage);
    ring.await_free(place);
    expect_bytes(barrier, boxes * BOX);
    for (int box = 0; box < boxes; box++) {
        copy_box(ring.ring + place.stage * Ring::STAGE + box * BOX, added, problem.column0() + (2 * part + box) * WIDE, row0, barrier);
    }
    place.next();
}

// The residual's parts come behind the first steps of the next tile.
__device__ __forceinline__ void fetch(const TensorMap& left, const TensorMap& right, const TensorMap& added, const Problem& problem, const Ring& ring) {
    Ring::Place place;
    bool first = true;
    Walk walk(problem);
    for (; walk.there(); walk.next()) {
        for (int step = 0; step < problem.steps; step++) {
            ring.fetch<64>(left, right, step, walk.row0, problem.column0(), place);
            if (problem.has_residual && !first && step >= 1 && step <= PARTS) fetch_residual(added, problem, ring, step - 1, walk.before(), place);
        }
        first = false;
    }
    for (int part = 0; problem.has_residual && !first && part < PARTS; part++) fetch_residual(added, problem, ring, part, walk.before(), place);
}

// Of rows of a lane, merged from the states of their parts: those after the first as differences from its mean, in the order of parts.
struct Merged {
    float base = 0.0f;
    float apart = 0.0f;    // sum of differences
    float squares = 0.0f;  // of differences
    float within = 0.0f;   // sum of the parts' own squares

    __device__ __forceinline__ void add(int part, float mean, float own_squares) {
        if (part == 0) base = mean;
        float difference = mean - base;
        apart += difference;
        squares += difference * difference;
        within += own_squares;
    }

    __device__ __forceinline__ float2 scale(const Problem& problem) const {
        float all = within + COLUMNS * (squares - apart * apart * problem.share);
        float factor = rsqrtf(all * (problem.share / COLUMNS) + problem.epsilon);
        return {factor, -(base + apart * problem.share) * factor};
    }
};

// By a warp for a warpgroup's rows: hands the states of this block's parts to the other blocks, and merges. States lie in two places by turns: a
// block that hands over the next but one has merged the next, whose parts come from blocks that are done with this.
__device__ __forceinline__ void exchange(const Problem& problem, Shared& shared, const Told& told, int own) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int row = own * 64 + lane;  // and 32 after it
    u32* counter = problem.counters + 4 * problem.team() + 2 * own;
    u32 count = 0;
    for (Walk walk(problem); walk.there(); walk.next(), count++) {
        uint2* states = problem.states + (problem.team() * 2 + count % 2) * problem.blocks * ROWS + row;
        await_phase(told.ready, count % 2);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float2 state = shared.own[row + 32 * i];
            store_handed(states + problem.part() * ROWS + 32 * i, uint2{__float_as_uint(state.x), __float_as_uint(state.y)});
        }
        __syncwarp();
        if (lane == 0) {
            announce(counter);
            wait_until(counter, problem.blocks * (count + 1));
        }
        __syncwarp();
        Merged merged[2];
#pragma unroll 4
        for (int part = 0; part < problem.blocks; part++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                uint2 words = load_handed(states + part * ROWS + 32 * i);
                merged[i].add(part, __uint_as_float(words.x), __uint_as_float(words.y));
            }
        }
#pragma unroll
        for (int i = 0; i < 2; i++) shared.merged[row + 32 * i] = merged[i].scale(problem);
        arrive(told.done);
    }
    // the last to go leaves zeros
    if (lane == 0 && count > 0 && atomicAdd(counter + 1, 1u) == static_cast<u32>(problem.blocks) - 1) counter[0] = 0, counter[1] = 0;
}

__device__ __forceinline__ float over_quad(float v) {
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

template <typename H>
__device__ __forceinline__ KeptPair<H> load_kept(u32 shared, H) {
    return {load_shared(shared)};
}

__device__ __forceinline__ KeptPair<float> load_kept(u32 shared, float) { return {load_shared_2(shared)}; }

__device__ __forceinline__ u32 sum_of(u32 a, u32 b, f16) { return fma_f16x2(a, 0x3c003c00u, b); }
__device__ __forceinline__ u32 sum_of(u32 a, u32 b, bf16) { return add_bf16x2(a, b); }
__device__ __forceinline__ float2 sum_of(float2 a, float2 b, float) { return {a.x + b.x, a.y + b.y}; }

// Of a lane's part of a row, as differences from one of its numbers: where rows are not centred, from 0. So sums of squares lose no more than
// the number of columns is.
struct Moments {
    float base = 0.0f;
    float sums[2] = {};
    float squares[2] = {};

    __device__ __forceinline__ void add(float2 two, bool first) {
        if (CENTRED && first) base = __shfl_sync(0xffffffffu, two.x, static_cast<int>(threadIdx.x) % 32 & 28);
        float low = two.x - base, high = two.y - base;
        if (CENTRED) sums[0] += low, sums[1] += high;
        squares[0] += low * low;
        squares[1] += high * high;
    }

    // Of the quad: mean and sum of squared differences from it.
    __device__ __forceinline__ float2 state() const {
        float sum = CENTRED ? over_quad(sums[0] + sums[1]) : 0.0f;
        float all = over_quad(squares[0] + squares[1]) - sum * sum * (1.0f / COLUMNS);
        return {base + sum * (1.0f / COLUMNS), all < 0.0f ? 0.0f : all};
    }
};

// What is kept of a lane's two rows of a tile.
struct Kept {
    KeptPair<T> pairs[COLUMNS / 8][2] = {};
    int row;  // the first within the tile, the other is 8 after it
    Passage<T> passage;

    __device__ __forceinline__ void keep(const float (&sums)[COLUMNS / 8][4], const float* bias) {
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
            float2 two = *reinterpret_cast<const float2*>(bias + j * 8 + static_cast<int>(threadIdx.x) % 4 * 2);
#pragma unroll
            for (int i = 0; i < 2; i++) pairs[j][i].keep(float2{sums[j][2 * i] + two.x, sums[j][2 * i + 1] + two.y});
        }
    }

    // Takes in the columns of two boxes of the residual, which is added where it lies at `shared`. Chunks of 16 bytes are swapped by the row's number
    // in its 8 lines.
    template <bool RESIDUAL>
    __device__ __forceinline__ void take(Moments (&moments)[2], u32 shared, int part) {
        int lane = static_cast<int>(threadIdx.x) % 32;
        u32 inner = sizeof(T) == 2 ? lane % 4 * 4 : lane % 2 * 8;
#pragma unroll
        for (int j = 0; j < 2 * WIDE / 8; j++) {
            int at = part * 2 * WIDE / 8 + j;
            if (at >= COLUMNS / 8) break;
            int inside = j * 8 % WIDE;
            int chunk = (sizeof(T) == 2 ? inside / 8 : inside / 4 + lane % 4 / 2) ^ lane / 4;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                KeptPair<T>& pair = pairs[at][i];
                u32 from = shared + j * 8 / WIDE * BOX + (row + i * 8) * 128 + chunk * 16 + inner;
                if (RESIDUAL) pair.both = sum_of(pair.both, load_kept(from, T()).both, T());
                moments[i].add(pair.get(), at == 0);
            }
        }
    }

    __device__ __forceinline__ void tell(const Moments (&moments)[2], Shared& shared, const Told& told) const {
        float2 of[2] = {moments[0].state(), moments[1].state()};
        int lane = static_cast<int>(threadIdx.x) % 32;
        if (lane % 4 < 2) shared.own[row + 8 * (lane % 4)] = lane % 4 == 0 ? of[0] : of[1];
        arrive(told.ready);
    }

    // Finishes and stores 32 columns of a warp's 16 rows.
    __device__ __forceinline__ void store(const Problem& problem, const Shared& shared, const float2 (&scales)[2], int row0, int unit) const {
        int column = unit * 32 + static_cast<int>(threadIdx.x) % 4 * 2;
        KeptPair<T> results[2][4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 gamma = *reinterpret_cast<const float2*>(shared.gamma + column + j * 8);
            float2 beta = *reinterpret_cast<const float2*>(shared.beta + column + j * 8);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float2 two = pairs[unit * 4 + j][i].get();
                float low = two.x * scales[i].x + scales[i].y, high = two.y * scales[i].x + scales[i].y;
                results[i][j].keep(float2{low * gamma.x + beta.x, high * gamma.y + beta.y});
            }
        }
        passage.enter();
        passage.put(0, results[0]);
        passage.put(1, results[1]);
        passage.leave(problem.y, row0 + row - static_cast<int>(threadIdx.x) % 32 / 4, problem.m, problem.n, problem.column0() + unit * 32);
    }
};

__device__ __forceinline__ void consume(const Problem& problem, const Ring& ring, Shared& shared, const Told& told, int own) {
    float sums[COLUMNS / 8][4];
    Kept kept;
    kept.row = own * 64 + static_cast<int>(threadIdx.x) % GROUP / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
    kept.passage = {shared_address(shared.passages[static_cast<int>(threadIdx.x) / 32 - GROUP / 32])};
    float2 scales[2] = {};
    u32 count = 0;  // tiles that have been kept
    Ring::Place place;
    Moments moments[2];
    auto take = [&](int part) {
        if (part == 0) moments[0] = Moments(), moments[1] = Moments();
        if (problem.has_residual) {
            await_phase(ring.full(place.stage), place.parity);
            kept.take<true>(moments, ring.ring + place.stage * Ring::STAGE, part);
            meet_at(2 + own, GROUP);  // all have read
            ring.release(place.stage);
            place.next();
        } else {
            kept.take<false>(moments, 0, part);
        }
        if (part == PARTS - 1) kept.tell(moments, shared, told);
    };
    auto merge = [&] {
        await_phase(told.done, (count - 1) % 2);
#pragma unroll
        for (int i = 0; i < 2; i++) scales[i] = shared.merged[kept.row + 8 * i];
    };
    if (TURNS) ring.start_turns(own);
    Walk walk(problem);
    for (; walk.there(); walk.next()) {
        ring.multiply<true, TURNS>(sums, place, own);
        u32 before = place.stage;
        place.next();
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            ring.multiply<false, TURNS>(sums, place, own);
            u32 now = place.stage;
            place.next();
            if (count > 0) take(part);
            await_products<1>();
            ring.release(before);
            before = now;
        }
#pragma unroll 1
        for (int step = LEAST_STEPS; step < problem.steps; step++) {
            ring.multiply<false, TURNS>(sums, place, own);
            ring.pass_on(place, before);
        }
#pragma unroll
        for (int step = 0; step < STORES; step++) {
            ring.multiply<false, TURNS>(sums, place, own);
            // the branch also keeps the compiler from spreading this over the products before it, which would then wait for it
            if (count > 0) {
                if (step == 0) merge();
#pragma unroll
                for (int unit = 0; unit < UNITS_A_STEP; unit++) kept.store(problem, shared, scales, walk.before(), step * UNITS_A_STEP + unit);
            }
            ring.pass_on(place, before);
        }
        ring.finish(before);
        kept.keep(sums, shared.bias);
        count++;
    }
    if (TURNS) ring.end_turns(own);
    if (count == 0) return;
#pragma unroll
    for (int part = 0; part < PARTS; part++) take(part);
    merge();
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) kept.store(problem, shared, scales, walk.before(), unit);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(matmul_norm)(TensorMap const __grid_constant__ left, TensorMap const __grid_constant__ right, TensorMap const __grid_constant__ added,
                            const T* bias, const T* gamma, const T* beta, T* y, i64 m, i64 n, i32 steps, i32 blocks, i32 has_residual, float share,
                            float epsilon, uint2* states, u32* counters) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[2 * STAGES + 4];
    __shared__ Shared shared;
    u8* space = reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024);
    Ring ring = {shared_address(space), shared_address(barriers)};
    int group = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / GROUP, 0);  // the same for all, which the compiler cannot know
    int warp = static_cast<int>(threadIdx.x) / 32;
    int own = group == 0 ? warp - 1 : group - 1;  // the warpgroup that multiplies, or whose rows the warp merges
    Told told = {shared_address(barriers + 2 * STAGES + own), shared_address(barriers + 2 * STAGES + 2 + own)};
    Problem problem = {y, static_cast<int>(m), static_cast<int>(n), steps, blocks, has_residual != 0, share, epsilon, states, counters};
    if (threadIdx.x == 0) {
        prefetch_map(left);
        prefetch_map(right);
        prefetch_map(added);
        ring.start();
        for (int i = 0; i < 2; i++) {
            start_barrier(shared_address(barriers + 2 * STAGES + i), GROUP);
            start_barrier(shared_address(barriers + 2 * STAGES + 2 + i), 32);
        }
        show_to_tensor_cores();
    }
    release_successor();
    await_predecessor();
    __syncthreads();
    if (group == 0) {
        give_registers<40>();
        if (threadIdx.x == 0) fetch(left, right, added, problem, ring);
        if (warp == 1 || warp == 2) exchange(problem, shared, told, own);
    } else {
        take_registers<232>();
        for (int c = static_cast<int>(threadIdx.x) - GROUP; c < COLUMNS; c += 2 * GROUP) {
            int column = problem.column0() + c;
            shared.bias[c] = bias ? to_compute(bias[column]) : 0.0f;
            shared.gamma[c] = gamma ? to_compute(gamma[column]) : 1.0f;
            shared.beta[c] = beta ? to_compute(beta[column]) : 0.0f;
        }
        meet_at(1, 2 * GROUP);
        consume(problem, ring, shared, told, own);
    }
#endif
}
TENON_ENTRY(matmul_norm)
