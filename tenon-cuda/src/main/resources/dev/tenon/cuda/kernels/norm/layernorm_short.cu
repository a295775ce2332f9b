// y = (x - mean) / sqrt(variance + epsilon) · gamma + beta along short rows of whole 16 bytes: a team of `team` lanes a row, a lane at most 4
// packs of 16 bytes in its registers, so that all lanes of a warp have some. gamma and beta may be null.
//
// Launch: 128 threads, team 1 to 32, a power of 2; blocks of 128 / team rows cover the rows. All of x, gamma, beta and y on 16-byte boundaries.
// Variants: TENON_T one of float, f16, bf16. The variance is that of the deviations from the mean; a constant row gives beta exactly.
#include "norm_rules.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int V = Widest<T>::value;
constexpr int PACKS = 4;
typedef Pack<T, V> Chunk;

__device__ __forceinline__ A sum_over_team(A v, int team) {
    for (int lanes = team / 2; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xffffffffu, v, lanes);
    return v;
}

extern "C" __global__ void __launch_bounds__(128)
    TENON_NAME(layernorm_short)(const T* x, const T* gamma, const T* beta, T* y, i64 rows, i64 cols, A epsilon, i32 team) {
    const int member = static_cast<int>(threadIdx.x) % team;
    const int packs = static_cast<int>(cols / V);
    const i64 row = static_cast<i64>(blockIdx.x) * (128 / team) + threadIdx.x / team;
    const bool there = row < rows;
    await_predecessor();
    Chunk held[PACKS];
#pragma unroll
    for (int r = 0; r < PACKS; r++) {
        if (there && member + r * team < packs) held[r] = load_pack<T, V>(x + row * cols, member + r * team);
    }
    release_successor();
    A sum = A(0);
#pragma unroll
    for (int r = 0; r < PACKS; r++) {
        if (member + r * team >= packs) break;
#pragma unroll
        for (int i = 0; i < V; i++) sum += to_compute(held[r].at[i]);
    }
    const A count = static_cast<A>(cols);
    const A mean = sum_over_team(sum, team) / count;
    A shift = A(0), deviation = A(0);
#pragma unroll
    for (int r = 0; r < PACKS; r++) {
        if (member + r * team >= packs) break;
#pragma unroll
        for (int i = 0; i < V; i++) {
            A off = to_compute(held[r].at[i]) - mean;
            shift += off;
            deviation += off * off;
        }
    }
    shift = sum_over_team(shift, team);
    const A rest = shift / count;
    deviation = LayerNormRule<A>::about_rest(sum_over_team(deviation, team), shift, rest);
    const LayerNormRule<A>::Scale scale = {mean, rest, reciprocal_root(deviation / count + epsilon)};
    if (!there) return;
#pragma unroll
    for (int r = 0; r < PACKS; r++) {
        const int pack = member + r * team;
        if (pack >= packs) break;
        A v[V];
#pragma unroll
        for (int i = 0; i < V; i++) v[i] = LayerNormRule<A>::apply(scale, to_compute(held[r].at[i]));
        if (gamma != nullptr) {
            Chunk g = load_pack<T, V>(gamma, pack);
#pragma unroll
            for (int i = 0; i < V; i++) v[i] *= to_compute(g.at[i]);
        }
        if (beta != nullptr) {
            Chunk b = load_pack<T, V>(beta, pack);
#pragma unroll
            for (int i = 0; i < V; i++) v[i] += to_compute(b.at[i]);
        }
        Chunk out;
#pragma unroll
        for (int i = 0; i < V; i++) out.at[i] = From<T>::of(v[i]);
        store_pack<T, V>(y + row * cols, pack, out);
    }
}
TENON_ENTRY(layernorm_short)
