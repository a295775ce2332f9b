// What kernel objects and the runtime share.
#pragma once
#pragma GCC visibility push(default)

// A compiler must not copy calls that threads make together. GCC has no such attribute; its passes that would are turned off.
#ifdef __clang__
#define TENON_CONVERGENT __attribute__((convergent))
#else
#define TENON_CONVERGENT
#endif

struct TenonThread {
    unsigned int thread[3], block[3], block_dim[3], grid_dim[3];
    unsigned char* dynamic_shared;
    const char* left;    // the function whose `return` ran last
    unsigned int spins;  // atomic operations left before others get a turn
};

// Of the worker that runs the kernel. Set anew whenever another thread of a block goes on.
extern "C" __attribute__((tls_model("initial-exec"))) thread_local TenonThread tenon_thread;

struct TenonEntry {
    const char* name;
    void (*call)(void* const* arguments);
    const unsigned int* sizes;  // bytes of each parameter
    unsigned int parameters;
    unsigned int checked;
};

struct TenonFragment {
    float d0, d1, d2, d3;
};

struct __attribute__((aligned(16))) TenonWords {
    unsigned int x, y, z, w;
};

extern "C" {
void tenon_register(const TenonEntry* entry);

// kind 0: plain, 1: or, 2: and, 3: count of the predicates. site: which barrier of the source; several may stand on a line.
int tenon_barrier(int kind, int predicate, int site, int line, const char* file) TENON_CONVERGENT;
// Lets other threads go on; threads that do nothing else are found by the watchdog.
void tenon_yield_at(int line, const char* file);
// An atomic operation: now and then a yield.
void tenon_spin();
// Fails where so many blocks cannot meet.
void tenon_meeting(unsigned int blocks, int line, const char* file);
long long tenon_clock();
void tenon_trap(int line, const char* file) __attribute__((noreturn));

// mode 0: index, 1: up, 2: down, 3: xor
unsigned long long tenon_shuffle(int mode, unsigned int mask, unsigned long long value, int selector, int width, int line, const char* file);
// mode 0: ballot, 1: any, 2: all, 3: match any, 4: match all, 5: sync, 6: active mask
unsigned int tenon_vote(int mode, unsigned int mask, unsigned long long value, int line, const char* file);
// mode 0: add, 1: min, 2: max, 3: and, 4: or, 5: xor
unsigned int tenon_reduce(int mode, int is_signed, unsigned int mask, unsigned int value, int line, const char* file);

TenonWords tenon_load_matrix(const void* row, int transposed, int line, const char* file);
// kind 0: f16, 1: bf16, 2: tf32; registers in pairs, the first in the low half
TenonFragment tenon_mma(float d0, float d1, float d2, float d3, unsigned long long a01, unsigned long long a23, unsigned long long b, int kind, int line, const char* file);
void tenon_copy_async(void* shared, const void* global, unsigned int bytes);
void tenon_copy_commit();
void tenon_copy_wait(unsigned int groups);
}
#pragma GCC visibility pop
