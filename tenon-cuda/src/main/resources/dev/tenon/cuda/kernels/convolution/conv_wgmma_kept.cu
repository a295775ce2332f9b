// Convolution as in conv_wgmma.cu where a block has room for all weights of its output channels: it fetches them once, stays, and goes over tiles of 128
// positions, whose parts of 128 bytes of k pass through a ring. The copy engine runs ahead into the next tile while results are stored.
//
// Launch: 384 threads; any number of blocks along x, along y one for each COLUMNS output channels. A thread of the first warpgroup asks the copy engine,
// the two others make 64 rows of a tile each. At most MOST_STEPS steps of k, 1 to MOST_STAGES stages. Dynamic shared memory: 1024 bytes, 128 COLUMNS for
// each step, 128 128 for each stage. sizes.parts is not read. windows, weights: as there, weights in boxes of COLUMNS outputs.
// Variants: TENON_T one of float (TF32), f16, bf16. Compiled for sm_90a alone.
#include "conv_windows.cuh"

typedef TENON_T T;

#if __CUDA_ARCH_FEAT_SM90_ALL
constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int THREADS = 3 * GROUP;
constexpr int MOST_STEPS = 24;
constexpr int MOST_STAGES = 5;
constexpr int STAGE = WINDOWS * LINE;

// A place in the ring, and the parity of its phase.
struct Place {
    int stage = 0;
    u32 parity = 0;

    __device__ __forceinline__ void next(int stages) {
        if (++stage == stages) stage = 0, parity ^= 1;
    }
};

// Addresses in shared memory.
struct Shared {
    u32 weights;
    u32 ring;
    u32 barriers;

    __device__ __forceinline__ u32 full(int stage) const { return barriers + 8 * stage; }
    __device__ __forceinline__ u32 free(int stage) const { return barriers + 8 * (MOST_STAGES + stage); }
    __device__ __forceinline__ u32 kept(int step) const { return barriers + 8 * (2 * MOST_STAGES + step); }
};

template <int COLUMNS>
struct Kept {
    static constexpr int PART = COLUMNS * LINE;  // of weights, a step

    static __device__ __forceinline__ void fetch(
        const TensorMap& windows, const TensorMap& weights, const ConvWindows& s, const Shared& shared, int steps, int stages, int tiles) {
        int column0 = static_cast<int>(blockIdx.y) * COLUMNS;
        bool begun = false;
        Place place;
        for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
            WindowSteps at(s, static_cast<i64>(tile) * WINDOWS, 0);
            for (int step = 0; step < steps; step++, at.next(s)) {
                if (!begun) {
                    expect_bytes(shared.kept(step), PART);
                    copy_box(shared.weights + step * PART, weights, at.channel * (LINE / static_cast<int>(sizeof(T))), at.cell, column0, shared.kept(step));
                }
                await_phase(shared.free(place.stage), place.parity ^ 1);
                expect_bytes(shared.full(place.stage), STAGE);
                at.copy(shared.ring + place.stage * STAGE, windows, s, shared.full(place.stage), T());
                place.next(stages);
            }
            begun = true;
        }
    }

    template <int FN>
    static __device__ __forceinline__ void consume(
        T* y, const ConvWindows& s, const ConvEpilogue<T>& epilogue, const float* biases, const Shared& shared, int steps, int stages, int tiles) {
        int own = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / GROUP - 1, 0);  // the same for all, which the compiler cannot know
        bool teller = threadIdx.x % GROUP == 0;
        bool begun = false;
        Place place;
        for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
            float sums[COLUMNS / 8][4] = {};
            int before = 0;
#pragma unroll 1
            for (int step = 0; step < steps; step++) {
                if (!begun) await_phase(shared.kept(step), 0);
                await_phase(shared.full(place.stage), place.parity);
                u32 left = shared.ring + place.stage * STAGE + own * (STAGE / 2);
                u32 right = shared.weights + step * PART;
                begin_products();
#pragma unroll
                for (int bytes = 0; bytes < LINE; bytes += 32) {
                    warpgroup_product<true, true>(sums, lines_at(left + bytes), lines_at(right + bytes), T());
                }
                end_products();
                if (step > 0) {
                    await_products<1>();
                    if (teller) arrive(shared.free(before));
                }
                before = place.stage;
                place.next(stages);
            }
            begun = true;
            await_products<0>();
            if (teller) arrive(shared.free(before));
            i64 row0 = static_cast<i64>(tile) * WINDOWS + own * (WINDOWS / 2) + threadIdx.x % GROUP / 32 * 16;
            store_windows<FN, COLUMNS>(sums, y, s, epilogue, biases, row0, static_cast<int>(blockIdx.y) * COLUMNS);
        }
    }

    static __device__ __forceinline__ void convolve(
        const TensorMap& windows, const TensorMap& weights, T* y, const ConvWindows& s, int stages, const ConvEpilogue<T>& epilogue) {
        TENON_DYNAMIC_SHARED(u8, dynamic);
        __shared__ u64 barriers[2 * MOST_STAGES + MOST_STEPS];
        __shared__ float2 biases[COLUMNS / 2];
        int steps = static_cast<int>(s.cells[0] * s.cells[1] * s.channels);
        int tiles = static_cast<int>((s.rows + WINDOWS - 1) / WINDOWS);
        u32 space = (shared_address(dynamic) + 1023) / 1024 * 1024;
        Shared shared = {space, space + steps * PART, shared_address(barriers)};
        int column0 = static_cast<int>(blockIdx.y) * COLUMNS;
        if (threadIdx.x == 0) {
            for (int i = 0; i < stages; i++) {
                start_barrier(shared.full(i), 1);
                start_barrier(shared.free(i), 2);
            }
            for (int i = 0; i < steps; i++) start_barrier(shared.kept(i), 1);
            show_to_tensor_cores();
        }
        release_successor();
        await_predecessor();
        for (int i = static_cast<int>(threadIdx.x); i < COLUMNS; i += THREADS) {
            bool there = epilogue.bias && column0 + i < s.outputs;
            reinterpret_cast<float*>(biases)[i] = there ? to_compute(epilogue.bias[column0 + i]) : 0.0f;
        }
        __syncthreads();
        if (threadIdx.x < GROUP) {
            give_registers<40>();
            if (threadIdx.x == 0) fetch(windows, weights, s, shared, steps, stages, tiles);
            return;
        }
        take_registers<232>();
        const float* shifts = reinterpret_cast<const float*>(biases);
        switch (epilogue.function()) {
            case FN_RELU: consume<FN_RELU>(y, s, epilogue, shifts, shared, steps, stages, tiles); break;
            case FN_HARD_SWISH: consume<FN_HARD_SWISH>(y, s, epilogue, shifts, shared, steps, stages, tiles); break;
            case FN_SILU: consume<FN_SILU>(y, s, epilogue, shifts, shared, steps, stages, tiles); break;
            default: consume<0>(y, s, epilogue, shifts, shared, steps, stages, tiles); break;
        }
    }
};

#define CONVOLVE(COLUMNS) Kept<COLUMNS>::convolve(windows, weights, y, sizes, stages, {bias, residual, fn, p0, p1})
#else
#define CONVOLVE(COLUMNS)
#endif

#define KERNEL(name, COLUMNS)                                                                                                         \
    extern "C" __global__ void __launch_bounds__(384, 1) TENON_NAME(name)(                                                            \
        TensorMap const __grid_constant__ windows, TensorMap const __grid_constant__ weights, const T* bias, const T* residual, T* y, \
        ConvWindows sizes, i32 stages, i32 fn, float p0, float p1) {                                                                  \
        CONVOLVE(COLUMNS);                                                                                                            \
    }                                                                                                                                 \
    TENON_ENTRY(name)

KERNEL(conv_wgmma_kept_64, 64)
KERNEL(conv_wgmma_kept_128, 128)
