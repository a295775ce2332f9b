// y = norm(a b + bias + residual) gamma + beta over whole rows, by products of warpgroups (sm_90a): a cluster of blocks holds 128 rows, COLUMNS of
// their columns each, and goes over its tiles of rows. LayerNorm where CENTRED, else RmsNorm.
//
// The copy engine fetches parts of 64 elements of k through a ring, and behind them the residual's tile, asked by one thread of the first warpgroup, which
// runs ahead into the next tile. The two others make 64 rows each. When a tile's sums are made, each block sends the mean and the squared deviations of
// its part of each row to all blocks of the cluster, and keeps its sums as differences from that mean, rounded, in half the registers. All
// blocks merge what they were sent in the same order (Chan, Golub, LeVeque 1979). That, the scaling and the stores happen while the tensor cores
// make the next tile, 64 columns a step.
//
// a [m,k], residual and y [m,n], b [n,k], rows on 16-byte boundaries; bias, gamma and beta [n] may be null. n is `blocks`
// COLUMNS. Sums and statistics in f32, and two roundings, of what is kept and of results. y overlaps nothing that is read.
//
// Launch: 384 threads; any number of clusters of `blocks` blocks along x, at most 8; steps: parts of 64 elements that cover k, at least COLUMNS / 64 + 1.
// Dynamic shared memory: 1024 bytes and STAGES (128 + COLUMNS) 128. left: boxes of 128 rows of a, or of 128 / blocks
// where that is whole, 64 elements each. right: boxes of 64 elements of 64
// rows of b. added: boxes of 128 rows of the residual, 64 elements each; any map where has_residual is 0.
// Variants: TENON_T one of f16, bf16; TENON_CENTRED; TENON_COLUMNS 128, 192 or 256. Compiled for sm_90a alone.
#include "pack.cuh"
#include "product_ring.cuh"

typedef TENON_T T;
constexpr bool CENTRED = TENON_CENTRED;
constexpr int COLUMNS = TENON_COLUMNS;
constexpr int STAGES = COLUMNS == 256 ? 4 : COLUMNS == 192 ? 5 : 6;
constexpr int ROWS = 128;
constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int THREADS = 3 * GROUP;
constexpr int UNIT = 64;  // columns stored a step, and those of a box
constexpr int UNITS = COLUMNS / UNIT;
constexpr int BOX = ROWS * UNIT * 2;      // of the residual
constexpr int PARTS = (UNITS + 1) / 2;    // places in the ring that take the residual's tile, two boxes each
constexpr int MOST_BLOCKS = 8;            // of a cluster

#if __CUDA_ARCH_FEAT_SM90_ALL
using Ring = ProductRing<T, COLUMNS, STAGES, true, ROWS, true>;

struct Problem {
    T* y;
    int m;
    int n;
    int steps;
    int blocks;
    bool has_residual;
    float share;  // 1 / blocks
    float epsilon;

    __device__ __forceinline__ int column0() const { return static_cast<int>(blockIdx.x) % blocks * COLUMNS; }
};

// The tiles of rows of this block's cluster, one after the other.
struct Walk {
    int row0;
    int step;
    int m;

    __device__ __forceinline__ explicit Walk(const Problem& problem)
        : row0(static_cast<int>(blockIdx.x) / problem.blocks * ROWS), step(static_cast<int>(gridDim.x) / problem.blocks * ROWS), m(problem.m) {}

    __device__ __forceinline__ bool there() const { return row0 < m; }
    __device__ __forceinline__ void next() { row0 += step; }
    __device__ __forceinline__ int before() const { return row0 - step; }
};

// Of the block's columns.
struct Columns {
    float bias[COLUMNS];
    float gamma[COLUMNS];
    float beta[COLUMNS];
};

// Of parts of rows, of tiles by turns: the mean, and the sum of squared differences from it; where rows are not centred, the sum of squares.
struct States {
    float2 of[2][MOST_BLOCKS][ROWS];
};

__device__ __forceinline__ void fetch(const TensorMap& left, const TensorMap& right, const TensorMap& added, const Problem& problem, const Ring& ring) {
    Ring::Place place;
    int column0 = problem.column0();
    for (Walk walk(problem); walk.there(); walk.next()) {
        for (int step = 0; step < problem.steps; step++) ring.fetch<UNIT>(left, right, step, walk.row0, column0, place);
        if (!problem.has_residual) continue;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            constexpr int LAST = UNITS - 2 * (PARTS - 1);
            int boxes = part == PARTS - 1 ? LAST : 2;
            ring.await_free(place);
            expect_bytes(ring.full(place.stage), boxes * BOX);
            for (int box = 0; box < boxes; box++) {
                copy_box(ring.ring + place.stage * Ring::STAGE + box * BOX, added, column0 + (2 * part + box) * UNIT, walk.row0, ring.full(place.stage));
            }
            place.next();
        }
    }
}

__device__ __forceinline__ float over_quad(float v) {
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

// Adds the residual to a warpgroup's sums; `row`: this lane's first, the other is 8 after it.
__device__ __forceinline__ void add_residual(float (&sums)[COLUMNS / 8][4], const Ring& ring, Ring::Place& place, int own, int row) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    Ring::Place first = place;
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        await_phase(ring.full(place.stage), place.parity);
        u32 from = ring.ring + place.stage * Ring::STAGE + row * 128 + lane % 4 * 4;
#pragma unroll
        for (int j = 0; j < 16; j++) {
            if (part * 16 + j == COLUMNS / 8) break;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                // chunks of 16 bytes are swapped by the row's number in its 8 lines
                u32 word = load_shared(from + j / 8 * BOX + i * 8 * 128 + (j % 8 ^ lane / 4) * 16);
                const T* both = reinterpret_cast<const T*>(&word);
                sums[part * 16 + j][2 * i] += to_compute(both[0]);
                sums[part * 16 + j][2 * i + 1] += to_compute(both[1]);
            }
        }
        place.next();
    }
    meet_at(2 + own, GROUP);  // all have read
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        ring.release(first.stage);
        first.next();
    }
}

// The state of this block's part of each of this lane's two rows. Sums become differences from the mean, rounded: two columns a word.
__device__ __forceinline__ void keep(u32 (&kept)[COLUMNS / 8][2], float2 (&states)[2], const float (&sums)[COLUMNS / 8][4]) {
    float total[2][2] = {}, squares[2][2] = {};
    if (CENTRED) {
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) total[e / 2][e % 2] += sums[j][e];
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) states[i].x = CENTRED ? over_quad(total[i][0] + total[i][1]) * (1.0f / COLUMNS) : 0.0f;
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float low = sums[j][2 * i] - states[i].x, high = sums[j][2 * i + 1] - states[i].x;
            squares[i][0] += low * low;
            squares[i][1] += high * high;
            kept[j][i] = to_pair(low, high, T());
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) states[i].y = over_quad(squares[i][0] + squares[i][1]);
}

// Sends the states of this lane's rows to all blocks of the cluster, a quarter of them from each lane of the quad.
__device__ __forceinline__ void send(const float2 (&own)[2], const States& states, u32 barrier, const Problem& problem, int turn, int row) {
    __syncwarp();  // of a quad as many lanes arrive as there are blocks, and they speak for all: these have read the states of two tiles before
    const float2* place = &states.of[turn][static_cast<int>(blockIdx.x) % problem.blocks][row];
    for (int block = static_cast<int>(threadIdx.x) % 4; block < problem.blocks; block += 4) {
#pragma unroll
        for (int i = 0; i < 2; i++) send_in_cluster(shared_address(place + 8 * i), barrier, block, own[i].x, own[i].y);
    }
}

// What makes results of what is kept of a row: kept factor + offset. Before states are merged the offset is the mean of this block's part.
struct Scale {
    float factor;
    float offset;
};

__device__ __forceinline__ Scale merged(const float2 (&states)[MOST_BLOCKS][ROWS], int row, float mean_here, const Problem& problem) {
    float mean = 0.0f, squares = 0.0f;
#pragma unroll 1
    for (int block = 0; CENTRED && block < problem.blocks; block++) mean += states[block][row].x;
    mean *= problem.share;
#pragma unroll 1
    for (int block = 0; block < problem.blocks; block++) {
        float2 state = states[block][row];
        float apart = CENTRED ? state.x - mean : 0.0f;
        squares += state.y + apart * apart * COLUMNS;
    }
    float factor = rsqrtf(squares * (problem.share / COLUMNS) + problem.epsilon);
    return {factor, (mean_here - mean) * factor};
}

__device__ __forceinline__ u32 finished(u32 word, Scale scale, float gamma0, float gamma1, float beta0, float beta1) {
    const T* both = reinterpret_cast<const T*>(&word);
    float low = to_compute(both[0]) * scale.factor + scale.offset, high = to_compute(both[1]) * scale.factor + scale.offset;
    return to_pair(low * gamma0 + beta0, high * gamma1 + beta1, T());
}

// Finishes and stores 64 columns of a warp's 16 rows; `row` is this lane's first, the other is 8 after it. The branch is the same for all lanes, and more than a short cut:
// without it the compiler spreads this over the products before it, which then wait for it.
__device__ __forceinline__ void store(const Problem& problem, const Columns& columns, const u32 (&kept)[COLUMNS / 8][2], const Scale (&scales)[2],
                                      int unit, u32 count, int row) {
    if (count == 0) return;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int column = unit * UNIT + half * 32 + static_cast<int>(threadIdx.x) % 4 * 8;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            u32 words[4];
#pragma unroll
            for (int j = 0; j < 4; j++) words[j] = kept[unit * 8 + half * 4 + j][i];
            transpose_4(words);
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                float4 gamma = *reinterpret_cast<const float4*>(columns.gamma + column + 2 * j);
                float4 beta = *reinterpret_cast<const float4*>(columns.beta + column + 2 * j);
                words[j] = finished(words[j], scales[i], gamma.x, gamma.y, beta.x, beta.y);
                words[j + 1] = finished(words[j + 1], scales[i], gamma.z, gamma.w, beta.z, beta.w);
            }
            int r = row + 8 * i;
            if (r < problem.m) store_16(problem.y + static_cast<i64>(r) * problem.n + problem.column0() + column, words);
        }
    }
}

__device__ __forceinline__ void consume(const Problem& problem, const Ring& ring, const Columns& columns, const States& states, u32 sent) {
    int own = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / GROUP - 1, 0);  // the same for all, which the compiler cannot know
    int row = own * 64 + static_cast<int>(threadIdx.x) % GROUP / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
    float sums[COLUMNS / 8][4];
    u32 kept[COLUMNS / 8][2] = {};
    Scale scales[2] = {};
    u32 count = 0;  // tiles that have been kept
    Ring::Place place;
    auto merge = [&] {
        if (count == 0) return;
        int turn = (count - 1) % 2;
        await_phase_in_cluster(sent + 8 * turn, (count - 1) / 2 % 2);
#pragma unroll
        for (int i = 0; i < 2; i++) scales[i] = merged(states.of[turn], row + 8 * i, scales[i].offset, problem);
    };
    Walk walk(problem);
    for (; walk.there(); walk.next()) {
        ring.multiply<true>(sums, place, own);
        u32 before = place.stage;
        place.next();
        merge();
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            ring.multiply<false>(sums, place, own);
            store(problem, columns, kept, scales, unit, count, walk.before() + row);
            ring.pass_on(place, before);
        }
#pragma unroll 1
        for (int step = UNITS + 1; step < problem.steps; step++) {
            ring.multiply<false>(sums, place, own);
            ring.pass_on(place, before);
        }
        ring.finish(before);
        if (problem.has_residual) add_residual(sums, ring, place, own, row);
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
            float2 two = *reinterpret_cast<const float2*>(columns.bias + j * 8 + static_cast<int>(threadIdx.x) % 4 * 2);
#pragma unroll
            for (int e = 0; e < 4; e++) sums[j][e] += e % 2 ? two.y : two.x;
        }
        float2 parts[2];
        keep(kept, parts, sums);
        int turn = count % 2;
        send(parts, states, sent + 8 * turn, problem, turn, row);
#pragma unroll
        for (int i = 0; i < 2; i++) scales[i].offset = parts[i].x;
        count++;
    }
    merge();
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) store(problem, columns, kept, scales, unit, count, walk.before() + row);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(matmul_norm)(TensorMap const __grid_constant__ left, TensorMap const __grid_constant__ right, TensorMap const __grid_constant__ added,
                            const T* bias, const T* gamma, const T* beta, T* y, i64 m, i64 n, i32 steps, i32 blocks, i32 has_residual, float share,
                            float epsilon) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[2 * STAGES + 2];
    __shared__ alignas(16) Columns columns;
    __shared__ alignas(16) States states;
    u8* space = reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024);
    bool parts = blocks > 1 && ROWS % blocks == 0;  // of a, fetched by each block
    Ring ring = {shared_address(space), shared_address(barriers), parts ? blocks : 1, static_cast<int>(blockIdx.x) % blocks};
    u32 sent = shared_address(barriers + 2 * STAGES);
    Problem problem = {y, static_cast<int>(m), static_cast<int>(n), steps, blocks, has_residual != 0, share, epsilon};
    if (threadIdx.x == 0) {
        ring.start();
        for (int turn = 0; turn < 2; turn++) start_barrier(sent + 8 * turn, blocks * ROWS);
        show_to_tensor_cores();
    }
    release_successor();
    meet_cluster();  // barriers are there
    await_predecessor();
    if (threadIdx.x < GROUP) {
        give_registers<40>();
        if (threadIdx.x == 0) fetch(left, right, added, problem, ring);
        __syncwarp();
    } else {
        take_registers<232>();
        for (int c = static_cast<int>(threadIdx.x) - GROUP; c < COLUMNS; c += 2 * GROUP) {
            int column = problem.column0() + c;
            columns.bias[c] = bias ? to_compute(bias[column]) : 0.0f;
            columns.gamma[c] = gamma ? to_compute(gamma[column]) : 1.0f;
            columns.beta[c] = beta ? to_compute(beta[column]) : 0.0f;
        }
        meet_at(1, 2 * GROUP);
        consume(problem, ring, columns, states, sent);
    }
    meet_cluster();  // no block ends while one still sends to it
#endif
}
TENON_ENTRY(matmul_norm)
