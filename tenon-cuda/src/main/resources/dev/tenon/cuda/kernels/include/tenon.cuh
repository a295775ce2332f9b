// What every kernel file includes: CUDA's built-ins plus the few names below. With its parts, device_*.cuh, the only header that touches the
// hardware: the emulator brings one of the same name and the same contents for the host. No toolkit header, so NVRTC needs no include path.
#pragma once

#define TENON_EMULATED 0

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// A kernel is written   extern "C" __global__ void TENON_NAME(softmax_warp)(…) { … }   and announced   TENON_ENTRY(softmax_warp)
// TENON_SUFFIX (a dtype, or nothing) is defined by the launch side: one file compiles once for each variant that is used.
#define TENON_PASTE_(a, b) a##b
#define TENON_PASTE(a, b) TENON_PASTE_(a, b)
#define TENON_NAME(name) TENON_PASTE(name, TENON_SUFFIX)
#define TENON_ENTRY(name)

// Dynamic shared memory, at most one a kernel. On a boundary of whole lines: an asynchronous copy whose warp writes across lines of shared
// memory asks L2 twice for each line of global memory (measured on an H200).
#define TENON_DYNAMIC_SHARED(type, name)                   \
    extern __shared__ __align__(128) u8 tenon_dynamic_[]; \
    type* const name = reinterpret_cast<type*>(tenon_dynamic_)

#define TENON_INFINITY __int_as_float(0x7f800000)
#define TENON_NAN __int_as_float(0x7fffffff)
#define TENON_INFINITY_F64 __longlong_as_double(0x7ff0000000000000ll)

#include "device_numbers.cuh"
#include "device_memory.cuh"
#include "device_meeting.cuh"
#include "device_mma.cuh"

// Says that a step met a value which has no result. The 16 bytes at `faults`, in the host's memory and zeroed before the run, keep the first
// report: step + 1, 4 bytes unused, and the value.
__device__ __forceinline__ void report_fault(void* faults, int step, i64 value) {
    if (atomicCAS(static_cast<u32*>(faults), 0u, static_cast<u32>(step) + 1u) == 0u) static_cast<i64*>(faults)[1] = value;
}
