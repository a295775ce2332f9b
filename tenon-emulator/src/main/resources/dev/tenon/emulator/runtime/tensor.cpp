// Tensor-core fragments in the layouts of the PTX ISA (mma.m16n8k16, mma.m16n8k8, ldmatrix), and asynchronous copies.
#include <cstring>

#include "check.h"
#include "worker.h"

using u16 = uint16_t;
using u32 = uint32_t;
#define TENON_DEVICE static inline
#include "../include/emulated/half.h"

namespace {
struct Fragments {
    float d[4];
    uint32_t a[4], b[2];
    int kind;
};

// What a lane brought, on its own stack.
template <typename T>
T& of(const Lane& lane) {
    return *reinterpret_cast<T*>(lane.value);
}

template <typename T>
Lane bring(T& argument) {
    return {reinterpret_cast<uint64_t>(&argument), 0, 0, 0};
}

void require_whole_warp(const char* what, uint32_t present) {
    if (present != ~0u) {
        Thread* caller = current_worker->thread;
        fail_at(caller->line, caller->file, "%s: only lanes 0x%08x of the warp take part; it needs all 32", what, present);
    }
}

float element(uint32_t word, int half, int kind) {
    uint16_t bits = static_cast<uint16_t>(word >> 16 * half);
    return kind == 0 ? to_f32(f16{bits}) : to_f32(bf16{bits});
}

// d += a b, products exact, sums in float in the order of k.
template <int K>
void multiply(float (&d)[16][8], const float (&a)[16][K], const float (&b)[K][8]) {
    for (int i = 0; i < 16; i++) {
        float row[8];
        memcpy(row, d[i], sizeof row);
        for (int k = 0; k < K; k++) {
            for (int j = 0; j < 8; j++) {
                row[j] += a[i][k] * b[k][j];
            }
        }
        memcpy(d[i], row, sizeof row);
    }
}

void move_d(Lane lanes[32], float (&d)[16][8], bool gather) {
    for (int lane = 0; lane < 32; lane++) {
        float* registers = of<Fragments>(lanes[lane]).d;
        for (int r = 0; r < 4; r++) {
            float& in_matrix = d[(lane >> 2) + (r >> 1) * 8][(lane & 3) * 2 + (r & 1)];
            (gather ? in_matrix : registers[r]) = gather ? registers[r] : in_matrix;
        }
    }
}

void mma_16(Lane lanes[32], uint32_t present) {
    require_whole_warp("mma", present);
    float a[16][16], b[16][8], d[16][8];
    for (int lane = 0; lane < 32; lane++) {
        const Fragments& f = of<Fragments>(lanes[lane]);
        int row = lane >> 2, pair = (lane & 3) * 2;
        for (int half = 0; half < 2; half++) {
            for (int r = 0; r < 4; r++) {
                a[row + (r & 1) * 8][pair + (r >> 1) * 8 + half] = element(f.a[r], half, f.kind);
            }
            for (int r = 0; r < 2; r++) {
                b[pair + r * 8 + half][row] = element(f.b[r], half, f.kind);
            }
        }
    }
    move_d(lanes, d, true);
    multiply(d, a, b);
    move_d(lanes, d, false);
}

void mma_8(Lane lanes[32], uint32_t present) {
    require_whole_warp("mma", present);
    float a[16][8], b[8][8], d[16][8];
    for (int lane = 0; lane < 32; lane++) {
        const Fragments& f = of<Fragments>(lanes[lane]);
        int row = lane >> 2, column = lane & 3;
        for (int r = 0; r < 4; r++) {
            memcpy(&a[row + (r & 1) * 8][column + (r >> 1) * 4], &f.a[r], sizeof(float));
        }
        for (int r = 0; r < 2; r++) {
            memcpy(&b[column + r * 4][row], &f.b[r], sizeof(float));
        }
    }
    move_d(lanes, d, true);
    multiply(d, a, b);
    move_d(lanes, d, false);
}

struct Rows {
    const uint8_t* row;
    uint32_t r[4];
    bool transposed;
};

void load_matrix(Lane lanes[32], uint32_t present) {
    require_whole_warp("load_matrix", present);
    uint16_t m[4][8][8];
    for (int lane = 0; lane < 32; lane++) {
        memcpy(m[lane >> 3][lane & 7], of<Rows>(lanes[lane]).row, 16);
    }
    for (int lane = 0; lane < 32; lane++) {
        Rows& rows = of<Rows>(lanes[lane]);
        int i = lane >> 2, j = (lane & 3) * 2;
        for (int k = 0; k < 4; k++) {
            rows.r[k] = rows.transposed ? m[k][j][i] | static_cast<uint32_t>(m[k][j + 1][i]) << 16 : m[k][i][j] | static_cast<uint32_t>(m[k][i][j + 1]) << 16;
        }
    }
}
}  // namespace

extern "C" TenonFragment tenon_mma(float d0, float d1, float d2, float d3, unsigned long long a01, unsigned long long a23, unsigned long long b, int kind,
                                   int line, const char* file) {
    Fragments argument{{d0, d1, d2, d3},
                       {static_cast<uint32_t>(a01), static_cast<uint32_t>(a01 >> 32), static_cast<uint32_t>(a23), static_cast<uint32_t>(a23 >> 32)},
                       {static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32)},
                       kind};
    current_worker->block->collective(kind == 2 ? mma_8 : mma_16, bring(argument), ~0u, line, file);
    return {argument.d[0], argument.d[1], argument.d[2], argument.d[3]};
}

extern "C" TenonWords tenon_load_matrix(const void* row, int transposed, int line, const char* file) {
    check_shared(row, 16, Access::Read, "load_matrix", __builtin_return_address(0));
    Rows argument{static_cast<const uint8_t*>(row), {}, transposed != 0};
    current_worker->block->collective(load_matrix, bring(argument), ~0u, line, file);
    return {argument.r[0], argument.r[1], argument.r[2], argument.r[3]};
}

extern "C" void tenon_copy_async(void* shared, const void* global, unsigned int bytes) {
    const void* caller = __builtin_return_address(0);
    Thread& thread = *current_worker->thread;
    Shared& memory = current_worker->block->shared;
    int64_t at = check_shared(shared, bytes, Access::Write, "copy_async", caller);
    check_global(global, bytes, "copy_async", caller);
    if (memory.checked()) {
        memory.pending(at, bytes, thread.index, caller);
    }
    // Until the wait there is nothing to read: what reads too early gets NaNs.
    memset(shared, 0xff, bytes);
    thread.copies.push_back({static_cast<uint8_t*>(shared), static_cast<const uint8_t*>(global), bytes, thread.group});
}

extern "C" void tenon_copy_commit() { current_worker->thread->group++; }

extern "C" void tenon_copy_wait(unsigned int groups) {
    const void* caller = __builtin_return_address(0);
    Thread& thread = *current_worker->thread;
    Shared& memory = current_worker->block->shared;
    size_t done = 0;
    for (const AsyncCopy& copy : thread.copies) {
        if (copy.group + groups >= thread.group) {
            break;
        }
        check_global(copy.from, copy.bytes, "copy_async", caller);
        memcpy(copy.to, copy.from, copy.bytes);
        if (memory.checked()) {
            memory.arrived(memory.locate(reinterpret_cast<uint64_t>(copy.to), copy.bytes), copy.bytes, thread.index);
        }
        done++;
    }
    thread.copies.erase(thread.copies.begin(), thread.copies.begin() + static_cast<ptrdiff_t>(done));
}
