// Random numbers: element i comes from the words of counter i / 4, the seed is the key, the step the counter's upper half. With u the unit
// number of word i % 4: uniform a + (b - a) u; normal a + b z, z = sqrt(-2 ln(1 - u0)) cos(2 pi u1), sin for odd i, of each pair of words.
// In double, each operation rounded by itself, and rounded once to the type: as the reference has it.
//
// Launch: 256 threads, any number of blocks, a counter a thread; y on 16-byte boundaries. The step is 0 where its address is.
// Variants: TENON_T float, double, f16, bf16.
#include "philox.cuh"
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;

// The product is taken in the order of the reference: (b radius) cos.
__device__ __forceinline__ void normal_pair(double* z, double a, double b, u32 first, u32 second) {
    double radius = __dmul_rn(b, sqrt(__dmul_rn(-2.0, log(1 - philox_unit(first)))));
    double angle = __dmul_rn(6.283185307179586, philox_unit(second));
    z[0] = __dadd_rn(a, __dmul_rn(radius, cos(angle)));
    z[1] = __dadd_rn(a, __dmul_rn(radius, sin(angle)));
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(random)(const i64* step, T* y, i32 normal, i64 elements, i64 seed, i64 a_bits, i64 b_bits) {
    release_successor();
    await_predecessor();
    double a = __longlong_as_double(a_bits), b = __longlong_as_double(b_bits);
    u64 high = step == nullptr ? 0 : static_cast<u64>(*step);
    i64 counters = (elements + 3) / 4;
    for (i64 counter = global_thread(); counter < counters; counter += global_threads()) {
        uint4 words = philox(static_cast<u64>(counter), high, static_cast<u64>(seed));
        double v[4];
        if (normal) {
            normal_pair(v, a, b, words.x, words.y);
            normal_pair(v + 2, a, b, words.z, words.w);
        } else {
            double width = b - a;
            u32 word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
            for (int i = 0; i < 4; i++) v[i] = __dadd_rn(a, __dmul_rn(width, philox_unit(word[i])));
        }
        Pack<T, 4> r;
#pragma unroll
        for (int i = 0; i < 4; i++) r.at[i] = rounded_to<T>(v[i]);
        if (counter * 4 + 4 <= elements) {
            store_pack<T, 4>(y, counter, r);
        } else {
            for (int i = 0; counter * 4 + i < elements; i++) y[counter * 4 + i] = r.at[i];
        }
    }
}
TENON_ENTRY(random)
