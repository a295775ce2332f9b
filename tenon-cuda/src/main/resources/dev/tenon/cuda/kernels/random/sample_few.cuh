// sample.cu's way with a top k: what may be among the k largest weights of a row, gathered in shared memory, and the draw from it. Part of that
// file, whose names it uses.
#pragma once

constexpr u32 FEW = BINS / 2;  // gathered at most: keys and weights share the bins' memory

// A float's bits as an integer in the same order, and back.
__device__ __forceinline__ u32 ordered(float v) {
    u32 bits = __float_as_uint(v == 0 ? 0.0f : v);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float unordered(u32 key) { return __uint_as_float((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key); }

// Sorts 64-bit keys in shared memory, ascending; `size` is a power of two, all threads come here.
__device__ __forceinline__ void sort_keys(u64* keys, u32 size) {
    for (u32 run = 2; run <= size; run *= 2) {
        for (u32 apart = run / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (u32 t = threadIdx.x; t < size / 2; t += blockDim.x) {
                u32 i = 2 * t - (t & (apart - 1));
                u64 a = keys[i], b = keys[i + apart];
                if ((a > b) == ((i & run) == 0)) {
                    keys[i] = b;
                    keys[i + apart] = a;
                }
            }
        }
    }
    __syncthreads();
}

// Fills up to a power of two and sorts.
__device__ __forceinline__ void sort_some(u64* keys, u32 count) {
    u32 size = 2;
    while (size < count) size *= 2;
    for (u32 i = count + threadIdx.x; i < size; i += blockDim.x) keys[i] = ~0ull;
    sort_keys(keys, size);
}

// Gathers what may be among the `count` largest weights and is not 0: keys of the weight, largest first, and the index. More than FEW are not kept.
__device__ __forceinline__ u32 gather_few(const T* logits, i64 size, A own, A top, A heat, u32 count, Row& shared) {
    // At least `count` threads have a logit of `bound` or more; to weights, neighbouring logits may be equal.
    u32 mine = ordered(static_cast<float>(own)), key = 0;
    int there = 0;
    for (int bit = 31; bit >= 0 && there != static_cast<int>(count); bit--) {
        u32 next = key | 1u << bit;
        int now = __syncthreads_count(mine >= next);
        if (now >= static_cast<int>(count)) {
            key = next;
            there = now;
        }
    }
    u32 lowest = ordered(-TENON_INFINITY);
    float bound = unordered(key < lowest ? lowest : key);
    A cut = static_cast<A>(bound) - static_cast<A>(fabsf(bound) * 1e-6f) - heat * static_cast<A>(1e-4);
    bool all = !(cut > -A(TENON_INFINITY));
    u32 least = bits_of(weight_of(static_cast<A>(bound), top, heat));
    if (sizeof(T) == 8 && least > 0) least--;  // the bound was rounded
    if (threadIdx.x == 0) shared.digit = 0;
    __syncthreads();
    each(logits, size, [&](A v, i64 i) {
        if (!all && v < cut) return;
        A w = weight_of(v, top, heat);
        if (!(w > 0) || bits_of(w) < least) return;
        u32 slot = atomicAdd(&shared.digit, 1u);
        if (slot < FEW) shared.units[slot] = static_cast<u64>(~bits_of(w)) << 32 | static_cast<u64>(i);
    });
    __syncthreads();
    u32 found = shared.digit;
    __syncthreads();
    return found;
}

// The token, of `found` that were gathered; `kept` of them stay before the share is taken.
__device__ __forceinline__ i64 draw_few(const T* logits, A top, A heat, u32 kept, u32 found, float share, float least, double u, Row& shared) {
    A* weights = reinterpret_cast<A*>(shared.units + FEW);
    sort_some(shared.units, found);
    for (u32 i = threadIdx.x; i < kept; i += blockDim.x) weights[i] = weight_of(to_compute(logits[shared.units[i] & 0xffffffffull]), top, heat);
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 stay = kept;
        if (share < 1) {
            u64 whole = 0, sum = 0;
            for (u32 i = 0; i < kept; i++) whole += units_of(weights[i]);
            double target = static_cast<double>(share) * static_cast<double>(whole);
            stay = 0;
            do {
                sum += units_of(weights[stay++]);
            } while (stay < kept && static_cast<double>(sum) < target);
        }
        while (stay > 1 && static_cast<double>(weights[stay - 1]) < static_cast<double>(least)) stay--;
        shared.ties = stay;
    }
    __syncthreads();
    u32 stay = shared.ties;
    for (u32 i = threadIdx.x; i < stay; i += blockDim.x) shared.units[i] = shared.units[i] << 32 | i;
    __syncthreads();
    sort_some(shared.units, stay);
    if (threadIdx.x == 0) {
        double sum = 0, running = 0;
        for (u32 i = 0; i < stay; i++) sum += static_cast<double>(weights[shared.units[i] & 0xffffffffull]);
        u32 i = 0;
        while (true) {
            running += static_cast<double>(weights[shared.units[i] & 0xffffffffull]);
            if (running > u * sum || i + 1 == stay) break;
            i++;
        }
        shared.found = static_cast<i64>(shared.units[i] >> 32);
    }
    __syncthreads();
    return shared.found;
}
