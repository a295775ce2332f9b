// The emulator's device header: the same names as the one for the GPU, with CUDA's semantics, for the host's C++ compiler.
// Includes nothing of the C library, so that kernels see exactly what they see on the GPU.
#pragma once

#define TENON_EMULATED 1
#define __CUDA_ARCH__ 800

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef decltype(sizeof(0)) size_t;

#define TENON_PASTE_(a, b) a##b
#define TENON_PASTE(a, b) TENON_PASTE_(a, b)
#define TENON_NAME(name) TENON_PASTE(name, TENON_SUFFIX)
#define TENON_TEXT_(a) #a
#define TENON_TEXT(a) TENON_TEXT_(a)

#include "emulated/keywords.h"
#include "emulated/vectors.h"
#include "emulated/abi.h"
#include "emulated/builtins.h"
#include "emulated/entry.h"
#include "emulated/math.h"
#include "emulated/bits.h"
#include "emulated/half.h"
#include "emulated/block.h"
#include "emulated/warp.h"
#include "emulated/atomics.h"
#include "emulated/tensor.h"

#define TENON_INFINITY __int_as_float(0x7f800000)
#define TENON_NAN __int_as_float(0x7fffffff)
#define TENON_INFINITY_F64 __longlong_as_double(0x7ff0000000000000ll)

// Last, so that nothing above is touched: tells a thread that left its kernel through `return` (which no later barrier waits for)
// from one that ran past a barrier to the end (a divergent barrier).
#if TENON_CHECKED
#define return for (::tenon::leaving(__func__);;) return
#endif
