// Barriers of a block, meetings of blocks, fences, clocks.
#pragma once

// Each barrier of a source has a number of its own, so that two of one line are told apart.
#define __syncthreads() ::tenon::barrier(0, 0, __COUNTER__)
#define __syncthreads_or(predicate) ::tenon::barrier(1, predicate, __COUNTER__)
#define __syncthreads_and(predicate) ::tenon::barrier(2, predicate, __COUNTER__)
#define __syncthreads_count(predicate) ::tenon::barrier(3, predicate, __COUNTER__)

namespace tenon {
TENON_DEVICE int barrier(int kind, int predicate, int site, TENON_WHERE) { return tenon_barrier(kind, predicate, site, line, file); }
}  // namespace tenon

TENON_DEVICE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TENON_DEVICE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TENON_DEVICE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TENON_DEVICE void __nanosleep(unsigned int) { tenon_yield_at(0, nullptr); }

TENON_DEVICE long long clock64() { return tenon_clock(); }
TENON_DEVICE int clock() { return static_cast<int>(tenon_clock()); }
TENON_DEVICE unsigned long long globaltimer() { return static_cast<unsigned long long>(tenon_clock()); }
TENON_DEVICE void __trap(TENON_WHERE) { tenon_trap(line, file); }

#define assert(condition) ((condition) ? static_cast<void>(0) : __trap())

// Between blocks of a cooperative launch.
TENON_DEVICE void announce(u32* counter) { __atomic_fetch_add(counter, 1u, __ATOMIC_SEQ_CST); }

TENON_DEVICE void wait_until(const u32* counter, u32 value, TENON_WHERE) {
    while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < value) {
        tenon_yield_at(line, file);
    }
}

// Words that blocks hand to one another.
TENON_DEVICE u32 load_handed(const u32* p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
TENON_DEVICE uint2 load_handed(const uint2* p) {
    const u32* words = reinterpret_cast<const u32*>(p);
    return make_uint2(load_handed(words), load_handed(words + 1));
}
TENON_DEVICE uint4 load_handed(const uint4* p) {
    const u32* words = reinterpret_cast<const u32*>(p);
    return make_uint4(load_handed(words), load_handed(words + 1), load_handed(words + 2), load_handed(words + 3));
}
TENON_DEVICE void store_handed(u32* p, u32 v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
TENON_DEVICE void store_handed(uint2* p, uint2 v) {
    u32* words = reinterpret_cast<u32*>(p);
    store_handed(words, v.x);
    store_handed(words + 1, v.y);
}
TENON_DEVICE void store_handed(uint4* p, uint4 v) {
    u32* words = reinterpret_cast<u32*>(p);
    store_handed(words, v.x);
    store_handed(words + 1, v.y);
    store_handed(words + 2, v.z);
    store_handed(words + 3, v.w);
}
TENON_DEVICE void look_again(TENON_WHERE) { tenon_yield_at(line, file); }
TENON_DEVICE int opaque(int v) { return v; }

// Between devices, whose memory is the host's.
TENON_DEVICE void announce_system(u32* counter) { __atomic_fetch_add(counter, 1u, __ATOMIC_SEQ_CST); }

TENON_DEVICE u32 load_system(const u32* p, TENON_WHERE) {
    tenon_yield_at(line, file);
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

TENON_DEVICE bool wait_until_system(const u32* counter, u32 value, const u32* stop, TENON_WHERE) {
    while (static_cast<i32>(load_system(counter, line, file) - value) < 0) {
        if (__atomic_load_n(stop, __ATOMIC_SEQ_CST) != 0) return false;
    }
    return true;
}

TENON_DEVICE uint4 load_system(const uint4* p, TENON_WHERE) {
    const u32* words = reinterpret_cast<const u32*>(p);
    tenon_yield_at(line, file);
    return make_uint4(__atomic_load_n(words, __ATOMIC_SEQ_CST), __atomic_load_n(words + 1, __ATOMIC_SEQ_CST),
                      __atomic_load_n(words + 2, __ATOMIC_SEQ_CST), __atomic_load_n(words + 3, __ATOMIC_SEQ_CST));
}

TENON_DEVICE void store_system(uint4* p, uint4 v) {
    u32* words = reinterpret_cast<u32*>(p);
    __atomic_store_n(words, v.x, __ATOMIC_SEQ_CST);
    __atomic_store_n(words + 1, v.y, __ATOMIC_SEQ_CST);
    __atomic_store_n(words + 2, v.z, __ATOMIC_SEQ_CST);
    __atomic_store_n(words + 3, v.w, __ATOMIC_SEQ_CST);
}

TENON_DEVICE void meet(u32* counter, u32 blocks, u32 number, TENON_WHERE) {
    tenon_barrier(0, 0, __COUNTER__, line, file);
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        tenon_meeting(blocks, line, file);
        announce(counter);
        wait_until(counter, blocks * number, line, file);
    }
    tenon_barrier(0, 0, __COUNTER__, line, file);
}

// Launches of a stream follow one another here.
TENON_DEVICE void await_predecessor() {}
TENON_DEVICE void release_successor() {}

// Clusters need compute capability 9.0, and this is 8.0: no launch has any.
TENON_DEVICE void begin_cluster(TENON_WHERE) { tenon_trap(line, file); }
TENON_DEVICE void arrive_at_cluster(TENON_WHERE) { tenon_trap(line, file); }
TENON_DEVICE void wait_for_cluster(TENON_WHERE) { tenon_trap(line, file); }
template <typename T>
TENON_DEVICE void store_in_cluster(T*, u32, T, TENON_WHERE) {
    tenon_trap(line, file);
}
