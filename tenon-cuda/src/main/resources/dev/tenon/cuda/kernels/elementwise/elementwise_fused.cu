// y0, y1, … = whole expressions of broadcast operands, compiled: elementwise_region.cu's work as straight-line code, every operation, type and
// constant known to the compiler, every value in a register. Sizes are arguments.
//
// Launch: 256 / PACKS threads, any number of blocks; a thread does PACKS packs of W neighbours, loaded before the first is worked on. All values on
// 16-byte boundaries; a result may be an operand of its shape and width.
//
// Variants, written by FusedRegion.java: TENON_W, TENON_PACKS, and lists of macro calls (fused_operands.cuh):
//   TENON_INPUTS, TENON_STEPS
//   TENON_RESULTS  RESULT(number, type, value)
#include "fused_operands.cuh"

constexpr int W = TENON_W;
constexpr int PACKS = TENON_PACKS;
constexpr int THREADS = 256 / PACKS;  // 4 KiB of a block that are neighbours: more of them are slower (measured on an H200)

// N neighbouring elements of every input.
template <int N>
struct Inputs {
#define INPUT(value, ...) __VA_ARGS__::template Held<N> x##value;
    TENON_INPUTS
#undef INPUT

    __device__ __forceinline__ void load(const Operands& operands, const Place& place) {
#define INPUT(value, ...) x##value.load(operands.x[value], place);
        TENON_INPUTS
#undef INPUT
    }
};

// And of every result.
template <int N>
struct Results {
#define RESULT(number, type, value) Pack<typename Element<type>::S, N> y##number;
    TENON_RESULTS
#undef RESULT

    __device__ __forceinline__ void store(const Operands& operands, i64 position) const {
#define RESULT(number, type, value) *reinterpret_cast<Pack<typename Element<type>::S, N>*>(static_cast<typename Element<type>::S*>(operands.y[number]) + position) = y##number;
        TENON_RESULTS
#undef RESULT
    }
};

#define INPUT(value, ...) [[maybe_unused]] auto v##value = inputs.x##value.element(i);
#define RESULT(number, type, value) results.y##number.at[i] = stored<type>(v##value);

template <int N>
__device__ __forceinline__ void compute(const Inputs<N>& inputs, Results<N>& results, [[maybe_unused]] void* faults, [[maybe_unused]] i32 step) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        TENON_INPUTS
        TENON_STEPS
        TENON_RESULTS
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(elementwise_fused)(Operands operands, i64 elements, Layout layout, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    bool small = elements <= 0x7fffffff;
    i64 packs = elements / W;
    i64 tile = static_cast<i64>(THREADS) * PACKS;
    for (i64 start = blockIdx.x * tile; start < packs; start += gridDim.x * tile) {
        i64 first = start + threadIdx.x;
        Inputs<W> inputs[PACKS];
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            i64 pack = first + p * THREADS;
            if (pack < packs) inputs[p].load(operands, Place(layout, pack * W, small));
        }
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            i64 pack = first + p * THREADS;
            if (pack >= packs) break;
            Results<W> results;
            compute<W>(inputs[p], results, faults, step);
            results.store(operands, pack * W);
        }
    }
    i64 one = packs * W + global_thread();
    if (one < elements) {  // fewer than W, less than a block has threads
        Inputs<1> inputs;
        inputs.load(operands, Place(layout, one, small));
        Results<1> results;
        compute<1>(inputs, results, faults, step);
        results.store(operands, one);
    }
}
TENON_ENTRY(elementwise_fused)
