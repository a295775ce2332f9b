// Atomic operations, relaxed as CUDA's. Each counts as a turn of a possible spin loop, so that a thread that waits for another one of its
// block lets it go on.
#pragma once

namespace tenon {
TENON_DEVICE void turn() {
#if !TENON_CHECKED  // there the access hooks count
    tenon_spin();
#endif
}

template <typename T, typename Change>
TENON_DEVICE T exchange_by(T* p, Change change) {
    typedef typename Word<sizeof(T)>::type W;
    W* at = reinterpret_cast<W*>(p);
    W seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    W wanted;
    do {
        wanted = __builtin_bit_cast(W, change(__builtin_bit_cast(T, seen)));
    } while (!__atomic_compare_exchange_n(at, &seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    turn();
    return __builtin_bit_cast(T, seen);
}
}  // namespace tenon

#define TENON_ATOMIC_INTEGER(T)                                                                                     \
    TENON_DEVICE T atomicAdd(T* p, T v) { tenon::turn(); return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }       \
    TENON_DEVICE T atomicSub(T* p, T v) { tenon::turn(); return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }       \
    TENON_DEVICE T atomicAnd(T* p, T v) { tenon::turn(); return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }       \
    TENON_DEVICE T atomicOr(T* p, T v) { tenon::turn(); return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }         \
    TENON_DEVICE T atomicXor(T* p, T v) { tenon::turn(); return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }       \
    TENON_DEVICE T atomicExch(T* p, T v) { tenon::turn(); return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }     \
    TENON_DEVICE T atomicCAS(T* p, T expected, T v) {                                                               \
        tenon::turn();                                                                                              \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                    \
        return expected;                                                                                            \
    }                                                                                                               \
    TENON_DEVICE T atomicMax(T* p, T v) {                                                                           \
        return tenon::exchange_by(p, [v](T old) { return old < v ? v : old; });                                     \
    }                                                                                                               \
    TENON_DEVICE T atomicMin(T* p, T v) {                                                                           \
        return tenon::exchange_by(p, [v](T old) { return v < old ? v : old; });                                     \
    }
TENON_ATOMIC_INTEGER(int)
TENON_ATOMIC_INTEGER(unsigned int)
TENON_ATOMIC_INTEGER(long long)
TENON_ATOMIC_INTEGER(unsigned long long)
#undef TENON_ATOMIC_INTEGER

TENON_DEVICE float atomicAdd(float* p, float v) {
    return tenon::exchange_by(p, [v](float old) { return old + v; });
}
TENON_DEVICE double atomicAdd(double* p, double v) {
    return tenon::exchange_by(p, [v](double old) { return old + v; });
}
TENON_DEVICE float atomicExch(float* p, float v) {
    return tenon::exchange_by(p, [v](float) { return v; });
}
TENON_DEVICE unsigned int atomicInc(unsigned int* p, unsigned int limit) {
    return tenon::exchange_by(p, [limit](unsigned int old) { return old >= limit ? 0u : old + 1u; });
}
TENON_DEVICE unsigned int atomicDec(unsigned int* p, unsigned int limit) {
    return tenon::exchange_by(p, [limit](unsigned int old) { return old == 0u || old > limit ? limit : old - 1u; });
}

// The first report stays: step + 1, 4 bytes unused, the value.
TENON_DEVICE void report_fault(void* faults, int step, long long value) {
    if (atomicCAS(static_cast<unsigned int*>(faults), 0u, static_cast<unsigned int>(step) + 1u) == 0u) {
        atomicExch(static_cast<unsigned long long*>(faults) + 1, static_cast<unsigned long long>(value));
    }
}
