// Convolution with channels innermost by products of warpgroups (sm_90a): rows are positions of all images, columns output channels, and k runs
// over the cells of the window and within a cell over the channels. The copy engine fetches both operands; it walks over the positions of a
// tile by itself, and has zeros for what lies outside of x.
//
//   y[p, o] = residual + fn(bias[o] + sum of w[o, cell, c] x[p stride - before + cell dilation, c])
//
// over the cells of the window. Where parts is above 1, a cluster of so many blocks makes a tile: each sums its stretch of k, and each finishes
// its rows of the tile, from the sums of all in their order. Sums in f32; the function, then one rounding. Weights are finite, or windows meet
// no padding.
//
// x [b, height, width, c], w [n, cells, c], y and residual [m, n], rows on 16-byte boundaries; bias [n]; bias and residual may be null. Of floats y
// and residual may be [b, n, m / b] instead: then plane is m / b.
//
// Launch: 288 threads; tiles parts blocks, the parts of a tile side by side, columns fastest. Two warpgroups make 64 rows of a tile each, a thread
// of the ninth warp asks the copy engine. Dynamic shared memory: 1024 bytes and 128 (128 + COLUMNS) STAGES. windows: 128 positions, 128 bytes of channels;
// weights: boxes of 128 bytes of channels, one cell, COLUMNS outputs.
// Variants: TENON_T one of float (TF32), f16, bf16. Compiled for sm_90a alone.
#include "conv_windows.cuh"

typedef TENON_T T;

#if __CUDA_ARCH_FEAT_SM90_ALL
constexpr int ROWS = WINDOWS;
constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int THREADS = 2 * GROUP + 32;
constexpr int ELEMENTS = LINE / sizeof(T);

template <int COLUMNS, int STAGES>
struct Tile {
    static constexpr int LEFT = ROWS * LINE;
    static constexpr int STAGE = LEFT + COLUMNS * LINE;
    static constexpr int PITCH = COLUMNS + 4;  // of sums in shared memory
    static_assert(ROWS * PITCH * 4 <= STAGES * STAGE, "sums take the place of operands");

    // Addresses in shared memory.
    struct Shared {
        u32 ring;
        u32 barriers;

        __device__ __forceinline__ u32 full(int stage) const { return barriers + 8 * stage; }
        __device__ __forceinline__ u32 free(int stage) const { return barriers + 8 * (STAGES + stage); }
    };

    using Place = RingPlace<STAGES>;

    // Steps of k from one to the other: cells, and within a cell channels.
    static __device__ __forceinline__ void fetch(
        const TensorMap& windows, const TensorMap& weights, const ConvWindows& s, const Shared& shared, i64 row0, int column0, int from, int to) {
        WindowSteps at(s, row0, from);
        Place place;
        for (int step = from; step < to; step++) {
            await_phase(shared.free(place.stage), place.parity ^ 1);
            u32 barrier = shared.full(place.stage);
            u32 stage = shared.ring + place.stage * STAGE;
            expect_bytes(barrier, STAGE);
            at.copy(stage, windows, s, barrier, T());
            copy_box(stage + LEFT, weights, at.channel * ELEMENTS, at.cell, column0, barrier);
            place.next();
            at.next(s);
        }
    }

    static __device__ __forceinline__ void multiply(float (&sums)[COLUMNS / 8][4], const Shared& shared, int steps) {
        int own = __shfl_sync(0xffffffffu, threadIdx.x / GROUP, 0);  // the same for all, which the compiler cannot know
        bool teller = threadIdx.x % GROUP == 0;
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) sums[j][e] = 0;
        }
        Place place;
        int before = 0;
        for (int step = 0; step < steps; step++) {
            await_phase(shared.full(place.stage), place.parity);
            u32 left = shared.ring + place.stage * STAGE + own * (LEFT / 2);
            u32 right = shared.ring + place.stage * STAGE + LEFT;
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
            place.next();
        }
        await_products<0>();
    }

    static __device__ __forceinline__ void spread(const float (&sums)[COLUMNS / 8][4], float* shared) {
        int lane = threadIdx.x % 32;
        float* to = shared + (threadIdx.x / 32 * 16 + lane / 4) * PITCH + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
            *reinterpret_cast<float2*>(to + j * 8) = make_float2(sums[j][0], sums[j][1]);
            *reinterpret_cast<float2*>(to + 8 * PITCH + j * 8) = make_float2(sums[j][2], sums[j][3]);
        }
    }

    // Finishes and stores this block's rows of the tile from the sums of all blocks of the cluster.
    template <int FN>
    static __device__ __forceinline__ void store_of_all(
        const float* shared, T* y, const ConvWindows& s, const ConvEpilogue<T>& epilogue, const float* biases, i64 row0, int column0, int part) {
        constexpr int PACK = Widest<T>::value;
        constexpr int PACKS = COLUMNS / PACK;
        int parts = static_cast<int>(s.parts);
        int each = (ROWS + parts - 1) / parts;
        int end = each * (part + 1) < ROWS ? each * (part + 1) : ROWS;
        int n = static_cast<int>(s.outputs);
        int first = each * part;
        bool planes = sizeof(T) == 4 && s.plane;
        for (int i = threadIdx.x; i < (end - first) * PACKS; i += 2 * GROUP) {
            int row = first + (planes ? i % (end - first) : i / PACKS);
            int column = (planes ? i / (end - first) : i % PACKS) * PACK;
            if (row0 + row >= s.rows || column0 + column >= n) continue;
            float sum[PACK];
#pragma unroll
            for (int e = 0; e < PACK; e++) sum[e] = biases[column + e];
            for (int other = 0; other < parts; other++) {
#pragma unroll
                for (int e = 0; e < PACK; e += 4) {
                    float4 v = load_in_cluster(shared + row * PITCH + column + e, other);
                    sum[e] += v.x, sum[e + 1] += v.y, sum[e + 2] += v.z, sum[e + 3] += v.w;
                }
            }
            if (planes) {
                i64 image = (row0 + row) / s.plane;
                i64 at = (image * n + column0 + column) * s.plane + (row0 + row - image * s.plane);
#pragma unroll
                for (int e = 0; e < PACK; e++, at += s.plane) {
                    y[at] = From<T>::of(finished<FN>(sum[e], epilogue.residual ? to_compute(epilogue.residual[at]) : 0.0f, epilogue));
                }
                continue;
            }
            i64 to = (row0 + row) * n + column0 + column;
            Pack<T, PACK> added;
            if (epilogue.residual) added = *reinterpret_cast<const Pack<T, PACK>*>(epilogue.residual + to);
            Pack<T, PACK> out;
#pragma unroll
            for (int e = 0; e < PACK; e++) {
                out.at[e] = From<T>::of(finished<FN>(sum[e], epilogue.residual ? to_compute(added.at[e]) : 0.0f, epilogue));
            }
            *reinterpret_cast<Pack<T, PACK>*>(y + to) = out;
        }
    }

    static __device__ __forceinline__ void convolve(
        const TensorMap& windows, const TensorMap& weights, T* y, const ConvWindows& s, const ConvEpilogue<T>& epilogue) {
        TENON_DYNAMIC_SHARED(u8, dynamic);
        __shared__ u64 barriers[2 * STAGES];
        __shared__ float2 biases[COLUMNS / 2];
        u8* space = reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024);
        Shared shared = {shared_address(space), shared_address(barriers)};
        int parts = static_cast<int>(s.parts);
        int tile = static_cast<int>(blockIdx.x) / parts;
        int part = static_cast<int>(blockIdx.x) - tile * parts;
        int across = static_cast<int>((s.outputs + COLUMNS - 1) / COLUMNS);
        i64 row0 = static_cast<i64>(tile / across) * ROWS;
        int column0 = tile % across * COLUMNS;
        int steps = static_cast<int>(s.cells[0] * s.cells[1] * s.channels);
        int from = static_cast<int>(static_cast<i64>(steps) * part / parts);
        int to = static_cast<int>(static_cast<i64>(steps) * (part + 1) / parts);
        if (threadIdx.x == 0) {
            for (int i = 0; i < STAGES; i++) {
                start_barrier(shared.full(i), 1);
                start_barrier(shared.free(i), 2);
            }
            show_to_tensor_cores();
        }
        release_successor();
        await_predecessor();
        for (int i = threadIdx.x; i < COLUMNS; i += THREADS) {
            bool there = epilogue.bias && column0 + i < s.outputs;
            reinterpret_cast<float*>(biases)[i] = there ? to_compute(epilogue.bias[column0 + i]) : 0.0f;
        }
        __syncthreads();
        if (threadIdx.x >= 2 * GROUP) {
            if (threadIdx.x == 2 * GROUP) fetch(windows, weights, s, shared, row0, column0, from, to);
            if (parts > 1) {
                meet_cluster();
                meet_cluster();
            }
            return;
        }
        float sums[COLUMNS / 8][4];
        multiply(sums, shared, to - from);
        const float* shifts = reinterpret_cast<const float*>(biases);
        float* own = reinterpret_cast<float*>(space);
        if (parts > 1) {
            meet_at(1, 2 * GROUP);  // both warpgroups have read their operands
            spread(sums, own);
            meet_cluster();
        }
        switch (epilogue.function()) {
            case FN_RELU: stored<FN_RELU>(sums, own, y, s, epilogue, shifts, row0, column0, part); break;
            case FN_HARD_SWISH: stored<FN_HARD_SWISH>(sums, own, y, s, epilogue, shifts, row0, column0, part); break;
            case FN_SILU: stored<FN_SILU>(sums, own, y, s, epilogue, shifts, row0, column0, part); break;
            default: stored<0>(sums, own, y, s, epilogue, shifts, row0, column0, part); break;
        }
        if (parts > 1) meet_cluster();  // all have read this block's sums
    }

    template <int FN>
    static __device__ __forceinline__ void stored(
        const float (&sums)[COLUMNS / 8][4], const float* shared, T* y, const ConvWindows& s, const ConvEpilogue<T>& epilogue, const float* biases,
        i64 row0, int column0, int part) {
        if (s.parts > 1) {
            store_of_all<FN>(shared, y, s, epilogue, biases, row0, column0, part);
        } else {
            store_windows<FN, COLUMNS>(sums, y, s, epilogue, biases, row0 + threadIdx.x / 32 * 16, column0);
        }
    }
};

#define CONVOLVE(COLUMNS, STAGES) Tile<COLUMNS, STAGES>::convolve(windows, weights, y, sizes, {bias, residual, fn, p0, p1})
#else
#define CONVOLVE(COLUMNS, STAGES)
#endif

#define KERNEL(name, COLUMNS, STAGES, BLOCKS)                                                                                      \
    extern "C" __global__ void __launch_bounds__(288, BLOCKS) TENON_NAME(name)(                                                    \
        TensorMap const __grid_constant__ windows, TensorMap const __grid_constant__ weights, const T* bias, const T* residual, T* y, \
        ConvWindows sizes, i32 fn, float p0, float p1) {                                                                           \
        CONVOLVE(COLUMNS, STAGES);                                                                                                 \
    }                                                                                                                              \
    TENON_ENTRY(name)

KERNEL(conv_wgmma_128x64, 64, 4, 2)
KERNEL(conv_wgmma_128x128, 128, 3, 2)
KERNEL(conv_wgmma_128x256, 256, 4, 1)
