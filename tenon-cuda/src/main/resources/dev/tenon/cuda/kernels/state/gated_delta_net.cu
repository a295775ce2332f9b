// Linear attention with a state S [K, V] a head that decays and is corrected: S' = e^decay S; S = S' + k (beta (v - S'^T k))^T, or S' + k v^T without
// beta; y = scale S^T q. A column of a state is in the registers of a few lanes for all steps, in A.
//
// Launch: 256 threads, any number of blocks; `lanes` neighbours, a power of two up to 32, have a column, with up to 16 elements each: K at most 512.
// q [B, H, T, K], k [B, G, T, K], v [B, G, T, V], decay [B, G, T, decays] (1 or K) or 0, beta [B, G, T] or 0, initial [B, G, K, V] or 0,
// y [B, H, T, V], last [B, G, K, V]; heads = B G states, each read by `readers` query heads. Variants: TENON_T float, double, f16, bf16.
#include "pack.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int EACH = 16;

__device__ __forceinline__ A over_lanes(A sum, int lanes) {
    for (int other = lanes / 2; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
    return sum;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(gated_delta_net)(const T* q, const T* k, const T* v, const T* decay, const T* beta, const T* initial, T* y, T* last, i64 heads, i64 readers, i64 steps, i64 size, i64 columns, i64 decays, A scale, i32 lanes) {
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % lanes;
    i64 units = heads * columns;
    i64 rounds = (units * lanes + global_threads() - 1) / global_threads();
    for (i64 round = 0; round < rounds; round++) {
        // all lanes of a warp go along: they meet in sums
        i64 unit = (round * global_threads() + global_thread()) / lanes;
        bool mine = unit < units;
        i64 at = mine ? unit : units - 1;
        i64 head = at / columns, column = at % columns;
        A s[EACH], key[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            i64 n = static_cast<i64>(i) * lanes + lane;
            s[i] = n < size && initial != nullptr ? to_compute(initial[(head * size + n) * columns + column]) : A(0);
        }
        for (i64 step = 0; step < steps; step++) {
            i64 row = head * steps + step;
            A one = decay != nullptr && decays == 1 ? exp(to_compute(decay[row])) : A(1);
            A seen = 0;
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                i64 n = static_cast<i64>(i) * lanes + lane;
                key[i] = n < size ? to_compute(k[row * size + n]) : A(0);
                if (n < size) s[i] *= decay != nullptr && decays != 1 ? exp(to_compute(decay[row * size + n])) : one;
                seen += key[i] * s[i];
            }
            A target = to_compute(v[row * columns + column]);
            if (beta != nullptr) target = to_compute(beta[row]) * (target - over_lanes(seen, lanes));
#pragma unroll
            for (int i = 0; i < EACH; i++) s[i] += key[i] * target;
            for (i64 reader = 0; reader < readers; reader++) {
                i64 query = (head * readers + reader) * steps + step;
                A sum = 0;
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    i64 n = static_cast<i64>(i) * lanes + lane;
                    if (n < size) sum += to_compute(q[query * size + n]) * s[i];
                }
                sum = over_lanes(sum, lanes);
                if (mine && lane == 0) y[query * columns + column] = From<T>::of(scale * sum);
            }
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            i64 n = static_cast<i64>(i) * lanes + lane;
            if (mine && n < size) last[(head * size + n) * columns + column] = From<T>::of(s[i]);
        }
    }
}
TENON_ENTRY(gated_delta_net)
