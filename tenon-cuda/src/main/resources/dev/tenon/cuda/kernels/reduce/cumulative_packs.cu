// cumulative.cu's sums and products of rows of floats, from the front, for many rows that begin and end on 16-byte boundaries: a warp a row,
// 16 bytes an access, AHEAD accesses of a lane on their way. A lane joins the elements of its pack in order, the lanes then scan what they have.
//
// Launch: 256 threads, any number of blocks, 8 rows each. x and y on 16-byte boundaries, n a multiple of 16 bytes.
// Variants: TENON_T float, double, f16, bf16.
#include "pack.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int V = Widest<T>::value;
constexpr int AHEAD = 4;

template <bool PRODUCT>
__device__ __forceinline__ A join(A a, A b) {
    return PRODUCT ? a * b : a + b;
}

template <bool PRODUCT>
__device__ __forceinline__ void row(const T* x, T* y, bool exclusive, i64 packs, int lane) {
    const A none = PRODUCT ? A(1) : A(0);
    A carry = none;
    for (i64 base = 0; base < packs; base += 32 * AHEAD) {
        Pack<T, V> some[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (base + 32 * a + lane < packs) some[a] = load_pack<T, V>(x, base + 32 * a + lane);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (base + 32 * a >= packs) break;  // the whole warp
            bool there = base + 32 * a + lane < packs;
            A v[V];
#pragma unroll
            for (int i = 0; i < V; i++) {
                A own = there ? to_compute(some[a].at[i]) : none;
                v[i] = i == 0 ? own : join<PRODUCT>(v[i > 0 ? i - 1 : 0], own);
            }
            A with = v[V - 1];
#pragma unroll
            for (int apart = 1; apart < 32; apart *= 2) {
                A before = __shfl_up_sync(0xffffffffu, with, apart);
                if (lane >= apart) with = join<PRODUCT>(before, with);
            }
            A without = __shfl_up_sync(0xffffffffu, with, 1);
            A run = lane == 0 ? carry : join<PRODUCT>(carry, without);
            if (there) {
                Pack<T, V> result;
#pragma unroll
                for (int i = 0; i < V; i++) result.at[i] = From<T>::of(exclusive ? (i == 0 ? run : join<PRODUCT>(run, v[i > 0 ? i - 1 : 0])) : join<PRODUCT>(run, v[i]));
                store_pack<T, V>(y, base + 32 * a + lane, result);
            }
            carry = join<PRODUCT>(carry, __shfl_sync(0xffffffffu, with, 31));
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(cumulative_packs)(const T* x, T* y, i32 product, i32 exclusive, i64 rows, i64 n) {
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32;
    for (i64 at = static_cast<i64>(blockIdx.x) * 8 + threadIdx.x / 32; at < rows; at += static_cast<i64>(gridDim.x) * 8) {
        if (product) {
            row<true>(x + at * n, y + at * n, exclusive != 0, n / V, lane);
        } else {
            row<false>(x + at * n, y + at * n, exclusive != 0, n / V, lane);
        }
    }
}
TENON_ENTRY(cumulative_packs)
