// y = (x - mean) / sqrt(variance + epsilon) · gamma + beta along rows of any length, one or several blocks a row (row_block.cuh).
// gamma and beta may be null; on 16-byte boundaries in the v16 forms.
//
//   *_v1   element by element, 16 a thread in registers (8 doubles): rows that do not lie on 16-byte boundaries
//   *_v16  16 bytes an access, 64 bytes a thread in registers
//   t128, t512: threads of a block, of which there are more to the multiprocessor where a row is short
//
// Variants: TENON_T one of float, double, f16, bf16. The variance is that of the deviations from the mean; a constant row gives beta exactly.
#include "norm_rules.cuh"
#include "row_block.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int W = Widest<T>::value;
constexpr int SINGLES = sizeof(T) == 8 ? 8 : 16;
constexpr int RESIDENT = sizeof(T) == 8 ? 1 : 2;  // blocks of 512 a multiprocessor

#define KERNEL(name, V, R, THREADS, BLOCKS)                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                                          \
        TENON_NAME(name)(const T* x, const T* gamma, const T* beta, T* y, i64 rows, i64 cols, A epsilon, i32 blocks, i32 kept, void* states, u32* counters) {          \
        row_block<LayerNormRule, T, V, R, THREADS>(x, gamma, beta, y, rows, cols, epsilon, blocks, kept, states, counters);            \
    }                                                                                                                        \
    TENON_ENTRY(name)

KERNEL(layernorm_block_v1t128, 1, SINGLES, 128, 4 * RESIDENT)
KERNEL(layernorm_block_v1t512, 1, SINGLES, 512, RESIDENT)
KERNEL(layernorm_block_v16t512, W, 4, 512, RESIDENT)
