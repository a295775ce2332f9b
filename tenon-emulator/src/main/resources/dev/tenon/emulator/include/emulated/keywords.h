// CUDA's keywords. A block's threads share one worker thread, so its thread-local storage is the block's shared memory.
#pragma once

#define __global__ __attribute__((noinline, visibility("hidden")))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __maxnreg__(n)

#define TENON_DEVICE static inline __attribute__((always_inline, unused))
#define TENON_QUIET __attribute__((no_sanitize("thread", "alignment", "bounds")))

// Where a barrier or collective was called; defaults of parameters, so filled in by the caller.
#define TENON_WHERE int line = __builtin_LINE(), const char* file = __builtin_FILE()
