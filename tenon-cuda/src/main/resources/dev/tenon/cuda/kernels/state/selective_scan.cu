// h[n] = e^(delta a[c, n]) h[n] + delta b[t, n] x[t, c]; y[t, c] = sum over n of c[t, n] h[n] + skip[c] x[t, c]; the states n of channel c of each
// sequence along its steps, in registers, in A.
//
// Launch: 256 threads, any number of blocks; `lanes` neighbours, a power of two up to 32, have a channel, with up to 8 states each: at most 256.
// x, delta, y [B, T, C], a [C, N], b, c [B, T, N], skip [C] or 0, initial [B, C, N] or 0 and last [B, C, N].
// Variants: TENON_T float, double, f16, bf16.
#include "pack.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int EACH = 8;

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(selective_scan)(const T* x, const T* delta, const T* a, const T* b, const T* c, const T* skip, const T* initial, T* y, T* last, i64 batch, i64 steps, i64 channels, i64 states, i32 lanes) {
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % lanes;
    i64 units = batch * channels;
    i64 rounds = (units * lanes + global_threads() - 1) / global_threads();
    for (i64 round = 0; round < rounds; round++) {
        // all lanes of a warp go along: they meet in sums
        i64 unit = (round * global_threads() + global_thread()) / lanes;
        bool mine = unit < units;
        i64 at = mine ? unit : units - 1;
        i64 channel = at % channels, sequence = at / channels;
        A h[EACH], rate[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            i64 n = static_cast<i64>(i) * lanes + lane;
            h[i] = n < states && initial != nullptr ? to_compute(initial[at * states + n]) : A(0);
            rate[i] = n < states ? to_compute(a[channel * states + n]) : A(0);
        }
        A through = skip != nullptr ? to_compute(skip[channel]) : A(0);
        for (i64 step = 0; step < steps; step++) {
            i64 row = sequence * steps + step;
            A value = to_compute(x[row * channels + channel]), d = to_compute(delta[row * channels + channel]);
            A sum = 0;
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                i64 n = static_cast<i64>(i) * lanes + lane;
                if (n >= states) continue;
                h[i] = exp(d * rate[i]) * h[i] + d * to_compute(b[row * states + n]) * value;
                sum += to_compute(c[row * states + n]) * h[i];
            }
            for (int other = lanes / 2; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
            if (mine && lane == 0) y[row * channels + channel] = From<T>::of(sum + through * value);
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            i64 n = static_cast<i64>(i) * lanes + lane;
            if (mine && n < states) last[at * states + n] = From<T>::of(h[i]);
        }
    }
}
TENON_ENTRY(selective_scan)
