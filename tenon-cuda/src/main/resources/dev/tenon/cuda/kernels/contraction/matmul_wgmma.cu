// y = fn(a b + bias) by products of warpgroups (sm_90a): blocks stay and go over tiles of 128 rows and COLUMNS columns, whose parts of 128 bytes
// of k pass through a ring. The copy engine fetches, asked by one thread of the first warpgroup, which runs ahead into the next tile. The two others
// make 64 rows each. A tile's sums with their bias are kept, halves rounded in half the registers; the function is applied and results are stored while
// the tensor cores make the next tile, 32 columns a step, or 64 of the widest where steps are few; those of a block's last tile behind its products. Behind 768 elements of k and gelu that takes 7 us a tile, one after the other 12.
//
// a [m,k], y [m,n], rows on 16-byte boundaries; b [n,k] (ALONG_B) or [k,n], likewise; bias [n] may be null. fn takes p0 and p1. Sums in f32; halves
// with a function are rounded twice, before it and behind it.
//
// Launch: 384 threads; any number of blocks; steps: parts of 128 bytes that cover k, at least COLUMNS / 32 + 1 (5 for 256 columns). Dynamic shared memory:
// 1024 bytes and STAGES (128 + COLUMNS) 128.
// left: boxes of 128 rows of a, 128 bytes each. right: boxes of b, of 128 rows of 128 bytes (ALONG_B; of 64 for 192 columns), or of 64 rows of 64 elements.
// Variants: TENON_T one of f16, bf16, float (TF32, ALONG_B, at most 192 columns); TENON_FN a function; TENON_COLUMNS 128, 192 or 256; TENON_ALONG_B. Compiled for
// sm_90a alone.
#include "kept_tile.cuh"
#include "product_ring.cuh"
#include "short_fn.cuh"

typedef TENON_T T;
constexpr bool ALONG_B = TENON_ALONG_B;
constexpr int COLUMNS = TENON_COLUMNS;
constexpr int STAGES = COLUMNS == 256 ? 4 : COLUMNS == 192 ? 5 : 6;
constexpr int ROWS = 128;
constexpr int BOX = ALONG_B && COLUMNS % 128 == 0 ? 128 : 64;  // columns of b
constexpr int GROUP = 128;                                     // threads of a warpgroup
constexpr int THREADS = 3 * GROUP;
constexpr int BAND = 8;              // tiles one above the other that are made at a time, so that what they read stays in the L2

#if __CUDA_ARCH_FEAT_SM90_ALL
struct Problem {
    const T* bias;
    T* y;
    int m;
    int n;
    int steps;
    float p0;
    float p1;
};

using Ring = ProductRing<T, COLUMNS, STAGES, ALONG_B>;
using Kept = KeptTile<T, COLUMNS>;

using Fn = ShortFn<SumOf<T>::Type, TENON_FN>;

// The tiles of this block, one after the other.
struct Walk {
    int high;  // tiles
    int wide;
    int at = static_cast<int>(blockIdx.x);
    int row0;
    int column0;

    __device__ __forceinline__ explicit Walk(const Problem& problem) : high((problem.m + ROWS - 1) / ROWS), wide((problem.n + COLUMNS - 1) / COLUMNS) {}

    __device__ __forceinline__ bool there() {
        if (at >= high * wide) return false;
        int band = at / (BAND * wide) * BAND;
        int rows = high - band < BAND ? high - band : BAND;
        int within = at - band * wide;
        row0 = (band + within % rows) * ROWS;
        column0 = within / rows * COLUMNS;
        return true;
    }

    __device__ __forceinline__ void next() { at += static_cast<int>(gridDim.x); }
};

__device__ __forceinline__ void fetch(const TensorMap& left, const TensorMap& right, const Problem& problem, const Ring& ring) {
    Ring::Place place;
    for (Walk walk(problem); walk.there(); walk.next()) {
        for (int step = 0; step < problem.steps; step++) ring.fetch<BOX>(left, right, step, walk.row0, walk.column0, place);
    }
}

__device__ __forceinline__ KeptPair<T> finished(KeptPair<T> kept, const Problem& problem) {
    if (TENON_FN == 0) return kept;
    float2 two = kept.get();
    kept.keep({Fn::of(two.x, problem.p0, problem.p1), Fn::of(two.y, problem.p0, problem.p1)});
    return kept;
}

__device__ __forceinline__ void consume(const Problem& problem, const Ring& ring, float (&biases)[2][2][COLUMNS], u32 passages) {
    int own = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / GROUP - 1, 0);  // the same for all, which the compiler cannot know
    int thread = static_cast<int>(threadIdx.x) % GROUP;
    float sums[COLUMNS / 8][4];
    Kept kept(problem.m, problem.n, passages, static_cast<int>(threadIdx.x) / 32 - GROUP / 32);
    bool spread = Kept::UNITS_A_STEP > 1 && problem.steps > Kept::UNITS;
    int stores = spread ? Kept::UNITS : Kept::STEPS;
    auto finish = [&](KeptPair<T> pair) { return finished(pair, problem); };
    Ring::Place place;
    int turn = 0;
    ring.start_turns(own);
    for (Walk walk(problem); walk.there(); walk.next()) {
        ring.multiply<true, true>(sums, place, own);
        u32 before = place.stage;
        place.next();
        float bias[(COLUMNS + GROUP - 1) / GROUP];  // takes long, and is used when the tile is made
#pragma unroll
        for (int i = 0, at = thread; i * GROUP < COLUMNS; i++, at += GROUP) {
            bool biased = problem.bias && at < COLUMNS && walk.column0 + at < problem.n;
            bias[i] = biased ? to_compute(problem.bias[walk.column0 + at]) : 0.0f;
        }
#pragma unroll
        for (int step = 0; step < Kept::UNITS; step++) {
            if (step >= Kept::STEPS && !spread) break;
            ring.multiply<false, true>(sums, place, own);
            kept.store_step(problem.y, problem.n, step, spread, finish);
            ring.pass_on(place, before);
        }
#pragma unroll
        for (int i = 0, at = thread; i * GROUP < COLUMNS; i++, at += GROUP) {
            if (at < COLUMNS) biases[own][turn][at] = bias[i];
        }
        meet_at(1 + own, GROUP);  // all are behind the use of the biases before these
#pragma unroll 1
        for (int step = stores + 1; step < problem.steps; step++) {
            ring.multiply<false, true>(sums, place, own);
            ring.pass_on(place, before);
        }
        ring.finish(before);
        const float* add = biases[own][turn] + threadIdx.x % 4 * 2;
        kept.keep(walk.row0 + own * 64, walk.column0, [&](int j, int i) {
            float2 two = *reinterpret_cast<const float2*>(add + j * 8);
            return float2{sums[j][2 * i] + two.x, sums[j][2 * i + 1] + two.y};
        });
        turn ^= 1;
    }
    ring.end_turns(own);
    meet_at(3, 2 * GROUP);  // all have read the ring
    kept.store_all(ring.ring + own * Kept::SPACE, problem.y, problem.n, finish);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(matmul_wgmma)(TensorMap const __grid_constant__ left, TensorMap const __grid_constant__ right, const T* bias, T* y, i64 m, i64 n, i32 steps,
                             float p0, float p1) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[2 * STAGES];
    __shared__ alignas(8) float biases[2][2][COLUMNS];  // of a warpgroup
    __shared__ alignas(128) u8 passages[2 * GROUP / 32 * PASSAGE<T>];
    u8* space = reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024);
    Ring ring = {shared_address(space), shared_address(barriers)};
    Problem problem = {bias, y, static_cast<int>(m), static_cast<int>(n), steps, p0, p1};
    if (threadIdx.x == 0) {
        prefetch_map(left);
        prefetch_map(right);
        ring.start();
        show_to_tensor_cores();
    }
    release_successor();
    await_predecessor();
    __syncthreads();
    if (threadIdx.x < GROUP) {
        give_registers<40>();
        if (threadIdx.x == 0) fetch(left, right, problem, ring);
    } else {
        take_registers<232>();
        consume(problem, ring, biases, shared_address(passages));
    }
#endif
}
TENON_ENTRY(matmul_wgmma)
