// y = e^(x - max) / sum e^(x - max) along rows of any length, one or several blocks a row (row_block.cuh).
//
//   *_v1   element by element, 16 a thread in registers (8 doubles): rows that do not lie on 16-byte boundaries
//   *_v16  16 bytes an access, 64 bytes a thread in registers
//   t128, t512: threads of a block, of which there are more to the multiprocessor where a row is short
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_LOG 1 for the logarithm. A row of all -inf gives NaN, like the formula.
#include "row_block.cuh"
#include "softmax_rule.cuh"

typedef TENON_T T;
constexpr int W = Widest<T>::value;
constexpr int SINGLES = sizeof(T) == 8 ? 8 : 16;
constexpr int RESIDENT = sizeof(T) == 8 ? 1 : 2;  // blocks of 512 a multiprocessor

template <typename A>
using Rule = SoftmaxRule<A, TENON_LOG>;

#define KERNEL(name, V, R, THREADS, BLOCKS)                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                                          \
        TENON_NAME(name)(const T* x, T* y, i64 rows, i64 cols, i32 blocks, i32 kept, void* states, u32* counters) {          \
        row_block<Rule, T, V, R, THREADS>(x, nullptr, nullptr, y, rows, cols, 0, blocks, kept, states, counters);            \
    }                                                                                                                        \
    TENON_ENTRY(name)

KERNEL(softmax_block_v1t128, 1, SINGLES, 128, 4 * RESIDENT)
KERNEL(softmax_block_v1t512, 1, SINGLES, 512, RESIDENT)
KERNEL(softmax_block_v16t512, W, 4, 512, RESIDENT)
