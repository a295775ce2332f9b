// Products of a whole warpgroup, four warps, from shared memory (compute capability 9.0, code of its own form alone: sm_90a). Results are 64
// rows, 16 a warp, in the layout of mma: element e of d[j] is that of a 16×8 tile at column 8 j. Both operands lie in atoms of 8 lines of 128
// bytes whose 16-byte chunks are swapped by the line's number (mma_operand.cuh), on boundaries of 1024 bytes.
#pragma once
#include "copy_engine.cuh"

// How the copy engine sees a matrix in global memory, as the driver encodes it. A kernel's parameter: TensorMap const __grid_constant__ name.
struct alignas(64) TensorMap {
    u64 words[16];
};

#if __CUDA_ARCH_FEAT_SM90_ALL
// What this thread wrote to shared memory is seen by the tensor cores after the next barrier.
__device__ __forceinline__ void show_to_tensor_cores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Before the first product after registers were written; after the last of a group; until at most N groups are under way.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void await_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Where an operand lies: bytes from one atom to the next along its lines, and between atoms of 64 elements of a line.
__device__ __forceinline__ u64 shared_operand(const void* shared, int next_lines, int next_elements) {
    u64 address = static_cast<u32>(__cvta_generic_to_shared(shared));
    return address >> 4 | static_cast<u64>(next_elements >> 4) << 16 | static_cast<u64>(next_lines >> 4) << 32 | 1ull << 62;
}

#define TENON_REGISTERS_4(d, j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define TENON_REGISTERS_16(d, j) TENON_REGISTERS_4(d, j), TENON_REGISTERS_4(d, j + 1), TENON_REGISTERS_4(d, j + 2), TENON_REGISTERS_4(d, j + 3)
#define TENON_REGISTERS_32(d, j) TENON_REGISTERS_16(d, j), TENON_REGISTERS_16(d, j + 4)
#define TENON_REGISTERS_64(d, j) TENON_REGISTERS_32(d, j), TENON_REGISTERS_32(d, j + 8)
#define TENON_REGISTERS_128(d, j) TENON_REGISTERS_64(d, j), TENON_REGISTERS_64(d, j + 16)
#define TENON_REGISTERS_96(d, j) TENON_REGISTERS_64(d, j), TENON_REGISTERS_32(d, j + 16)

#define TENON_LIST_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "  \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TENON_LIST_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TENON_LIST_64 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "  \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TENON_LIST_96 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "  \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "  \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "  \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TENON_LIST_128 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "  \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "  \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "  \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "  \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "  \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// d += a b, 16 deep, N columns.
#define TENON_PRODUCT(type, name, N, count, a0, a1, a2, a3)                                                                               \
    template <bool ALONG_A, bool ALONG_B>                                                                                                 \
    __device__ __forceinline__ void warpgroup_product(float (&d)[N / 8][4], u64 a, u64 b, type) {                                         \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." name "." name " {" TENON_LIST_##count "}, %" #a0 ", %" #a1          \
                     ", 1, 1, 1, %" #a2 ", %" #a3 ";"                                                                                     \
                     : TENON_REGISTERS_##count(d, 0)                                                                                      \
                     : "l"(a), "l"(b), "n"(ALONG_A ? 0 : 1), "n"(ALONG_B ? 0 : 1));                                                       \
    }

TENON_PRODUCT(f16, "f16", 64, 32, 32, 33, 34, 35)
TENON_PRODUCT(bf16, "bf16", 64, 32, 32, 33, 34, 35)
TENON_PRODUCT(f16, "f16", 128, 64, 64, 65, 66, 67)
TENON_PRODUCT(bf16, "bf16", 128, 64, 64, 65, 66, 67)
TENON_PRODUCT(f16, "f16", 192, 96, 96, 97, 98, 99)
TENON_PRODUCT(bf16, "bf16", 192, 96, 96, 97, 98, 99)
TENON_PRODUCT(f16, "f16", 256, 128, 128, 129, 130, 131)
TENON_PRODUCT(bf16, "bf16", 256, 128, 128, 129, 130, 131)

// The same of TF32, 8 deep, both operands along their depth.
#define TENON_PRODUCT_OF_TF32(N, count, a0, a1)                                                                                           \
    template <bool ALONG_A, bool ALONG_B>                                                                                                 \
    __device__ __forceinline__ void warpgroup_product(float (&d)[N / 8][4], u64 a, u64 b, float) {                                        \
        static_assert(ALONG_A && ALONG_B, "as the instruction has it");                                                                   \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32 {" TENON_LIST_##count "}, %" #a0 ", %" #a1 ", 1, 1, 1;"      \
                     : TENON_REGISTERS_##count(d, 0)                                                                                      \
                     : "l"(a), "l"(b));                                                                                                   \
    }

TENON_PRODUCT_OF_TF32(64, 32, 32, 33)
TENON_PRODUCT_OF_TF32(128, 64, 64, 65)
TENON_PRODUCT_OF_TF32(192, 96, 96, 97)
TENON_PRODUCT_OF_TF32(256, 128, 128, 129)

// The same with the left operand in registers, in the layout of mma; the right one lies across its depth.
#define TENON_PRODUCT_OF_REGISTERS(type, name, N, count, a0, a1, a2, a3, b0)                                                              \
    __device__ __forceinline__ void warpgroup_product(float (&d)[N / 8][4], const u32 (&a)[4], u64 b, type) {                             \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." name "." name " {" TENON_LIST_##count "}, {%" #a0 ", %" #a1 ", %" #a2 \
                     ", %" #a3 "}, %" #b0 ", 1, 1, 1, 1;"                                                                                 \
                     : TENON_REGISTERS_##count(d, 0)                                                                                      \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                                               \
    }

TENON_PRODUCT_OF_REGISTERS(f16, "f16", 32, 16, 16, 17, 18, 19, 20)
TENON_PRODUCT_OF_REGISTERS(bf16, "bf16", 32, 16, 16, 17, 18, 19, 20)
TENON_PRODUCT_OF_REGISTERS(f16, "f16", 64, 32, 32, 33, 34, 35, 36)
TENON_PRODUCT_OF_REGISTERS(bf16, "bf16", 64, 32, 32, 33, 34, 35, 36)
TENON_PRODUCT_OF_REGISTERS(f16, "f16", 128, 64, 64, 65, 66, 67, 68)
TENON_PRODUCT_OF_REGISTERS(bf16, "bf16", 128, 64, 64, 65, 66, 67, 68)

// The same of TF32, 8 deep; the right operand lies along its depth.
#define TENON_PRODUCT_OF_TF32_REGISTERS(N, count, a0, a1, a2, a3, b0)                                                                     \
    __device__ __forceinline__ void warpgroup_product(float (&d)[N / 8][4], const u32 (&a)[4], u64 b, float) {                            \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32 {" TENON_LIST_##count "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 \
                     "}, %" #b0 ", 1, 1, 1;"                                                                                              \
                     : TENON_REGISTERS_##count(d, 0)                                                                                      \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                                               \
    }

TENON_PRODUCT_OF_TF32_REGISTERS(32, 16, 16, 17, 18, 19, 20)
TENON_PRODUCT_OF_TF32_REGISTERS(64, 32, 32, 33, 34, 35, 36)

// d = a b, a along its depth: what d was does not matter.
#define TENON_FRESH_PRODUCT(type, name, N, count, a0, b0, b1)                                                                             \
    template <bool ALONG_B = true>                                                                                                        \
    __device__ __forceinline__ void fresh_warpgroup_product(float (&d)[N / 8][4], u64 a, u64 b, type) {                                   \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." name "." name " {" TENON_LIST_##count "}, %" #a0 ", %" #b0          \
                     ", 0, 1, 1, 0, %" #b1 ";"                                                                                            \
                     : TENON_REGISTERS_##count(d, 0)                                                                                      \
                     : "l"(a), "l"(b), "n"(ALONG_B ? 0 : 1));                                                                             \
    }

TENON_FRESH_PRODUCT(f16, "f16", 64, 32, 32, 33, 34)
TENON_FRESH_PRODUCT(bf16, "bf16", 64, 32, 32, 33, 34)
TENON_FRESH_PRODUCT(f16, "f16", 128, 64, 64, 65, 66)
TENON_FRESH_PRODUCT(bf16, "bf16", 128, 64, 64, 65, 66)
TENON_FRESH_PRODUCT(f16, "f16", 192, 96, 96, 97, 98)
TENON_FRESH_PRODUCT(bf16, "bf16", 192, 96, 96, 97, 98)
TENON_FRESH_PRODUCT(f16, "f16", 256, 128, 128, 129, 130)
TENON_FRESH_PRODUCT(bf16, "bf16", 256, 128, 128, 129, 130)

#define TENON_FRESH_PRODUCT_OF_TF32(N, count, a0, b0)                                                                                     \
    template <bool ALONG_B = true>                                                                                                        \
    __device__ __forceinline__ void fresh_warpgroup_product(float (&d)[N / 8][4], u64 a, u64 b, float) {                                  \
        static_assert(ALONG_B, "as the instruction has it");                                                                              \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32 {" TENON_LIST_##count "}, %" #a0 ", %" #b0 ", 0, 1, 1;"      \
                     : TENON_REGISTERS_##count(d, 0)                                                                                      \
                     : "l"(a), "l"(b));                                                                                                   \
    }

TENON_FRESH_PRODUCT_OF_TF32(64, 32, 32, 33)
TENON_FRESH_PRODUCT_OF_TF32(128, 64, 64, 65)
TENON_FRESH_PRODUCT_OF_TF32(192, 96, 96, 97)

__device__ __forceinline__ u32 load_shared(u32 shared) {
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(shared) : "memory");
    return word;
}

__device__ __forceinline__ float2 load_shared_2(u32 shared) {
    float2 v;
    asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(shared) : "memory");
    return v;
}

__device__ __forceinline__ void load_shared_4(u32 (&v)[4], u32 shared) {
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(shared) : "memory");
}

__device__ __forceinline__ void store_shared_2(u32 shared, float2 v) {
    asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(shared), "f"(v.x), "f"(v.y) : "memory");
}

__device__ __forceinline__ void store_shared_4(u32 shared, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(shared), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// Four 8×8 matrices of 16-bit elements to shared memory, from the layout of mma. Lane 8 i + j gives the address of row j of the i-th.
__device__ __forceinline__ void store_matrices(u32 shared_row, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(shared_row), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// Sums of two bf16 numbers each, rounded once.
__device__ __forceinline__ u32 add_bf16x2(u32 a, u32 b) {
    u32 r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(0x3f803f80u), "r"(b));
    return r;
}

// A place in a ring of so many stages, and the parity of its phase.
template <int STAGES>
struct RingPlace {
    u32 stage = 0;
    u32 parity = 0;

    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }

    __device__ __forceinline__ void skip(int steps) {
        stage += steps;
        while (stage >= STAGES) stage -= STAGES, parity ^= 1;
    }
};

// Brings a map to where the copy engine looks for it.
__device__ __forceinline__ void prefetch_map(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// Copies the map's box whose first element is (column, row) to shared memory, zeros for what lies outside the matrix; done when the barrier
// has its bytes. Asked for by one thread. Barriers are shown to the copy engine first.
__device__ __forceinline__ void copy_box(u32 shared, const TensorMap& map, i32 column, i32 row, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared),
                 "l"(&map), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}

// The same in three dims.
__device__ __forceinline__ void copy_box(u32 shared, const TensorMap& map, i32 column, i32 row, i32 plane, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared),
                 "l"(&map), "r"(column), "r"(row), "r"(plane), "r"(barrier)
                 : "memory");
}

// The same in four.
__device__ __forceinline__ void copy_box(u32 shared, const TensorMap& map, i32 column, i32 row, i32 plane, i32 volume, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared),
                 "l"(&map), "r"(column), "r"(row), "r"(plane), "r"(volume), "r"(barrier)
                 : "memory");
}

// Copies a cell of the windows at as many positions as the map says, from the window on whose first cell is (x, y, image), which may lie in
// padding; cell_x and cell_y from there.
__device__ __forceinline__ void copy_windows(
    u32 shared, const TensorMap& map, i32 channel, i32 x, i32 y, i32 image, int cell_x, int cell_y, u32 barrier) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(shared),
        "l"(&map), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(barrier), "h"(static_cast<u16>(cell_x)), "h"(static_cast<u16>(cell_y))
        : "memory");
}

// From the same place in the shared memory of a block of the cluster, by its number.
__device__ __forceinline__ float4 load_in_cluster(const float* shared, int block) {
    float4 v;
    asm volatile("{ .reg .u32 there; mapa.shared::cluster.u32 there, %4, %5; ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there]; }"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(static_cast<u32>(__cvta_generic_to_shared(shared))), "r"(block)
                 : "memory");
    return v;
}

// This block's number in its cluster, and how many that has.
__device__ __forceinline__ int in_cluster() {
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ int of_cluster() {
    int blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

// All threads of the cluster are here, and see what the others wrote before.
__device__ __forceinline__ void meet_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Numbered barriers of a block, for `threads` in all: those that wait and those that only arrive.
__device__ __forceinline__ void meet_at(int number, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory"); }
__device__ __forceinline__ void pass_by(int number, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory"); }

// Registers of a thread from here on, of a whole warpgroup: fewer, so that other warpgroups may have more.
template <int REGISTERS>
__device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
#endif
