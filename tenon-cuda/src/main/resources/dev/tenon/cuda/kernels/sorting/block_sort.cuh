// A bitonic sort of keys and their places in shared memory, by one row of a block's threads: ascending, the lower place first among equals.
#pragma once
#include "pack.cuh"

// One exchange of a bitonic sort: pair t of those `apart` within runs of `run`, the lower place first among equals.
template <typename K>
__device__ __forceinline__ void exchange(K* keys, u32* places, int t, int run, int apart) {
    int i = 2 * t - (t & (apart - 1));
    int j = i + apart;
    K a = keys[i], b = keys[j];
    u32 p = places[i], q = places[j];
    bool after = a > b || (a == b && p > q);
    if (after == ((i & run) == 0)) {
        keys[i] = b;
        keys[j] = a;
        places[i] = q;
        places[j] = p;
    }
}

// size: a power of two from 2 on; all threads of the block come here, with the same size.
template <typename K>
__device__ __forceinline__ void sort_in_block(K* keys, u32* places, int size, int thread, int threads) {
    for (int run = 2; run <= size; run *= 2) {
        for (int apart = run / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (int t = thread; t < size / 2; t += threads) exchange(keys, places, t, run, apart);
        }
    }
    __syncthreads();
}
