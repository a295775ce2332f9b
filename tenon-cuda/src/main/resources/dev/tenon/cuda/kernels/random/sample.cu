// Draws one token a row: the largest logit at temperature 0, else by weights e^((logit - largest) / temperature), of which the k largest stay, of
// these the fewest that sum to a share, of these those of at least a part of the largest; core's Sample has the rules.
//
// One block a row does all of it. What stays is told by two numbers, the least weight and how many of those equal to it stay, the first by index:
// a weight's order is that of its bits as a float, so both come from counting bits from the top, 11 at a time, in shared memory. Shares are
// summed as integers of 2^-40, which come out the same in any order. The token is then found in sums of ever shorter stretches.
//
// Launch: a multiple of 32 threads, up to 1024; any number of blocks. workspace [blocks][vocabulary] of A. Ties go to the lower index.
// Where few stay, which a top k says, all but two passes over the logits are spared: the k-th of the threads' largest logits bounds the k-th
// weight, what is not under it is gathered in shared memory, at most FEW, and the rest is done there, sums in the order of the vocabulary.
// A NaN logit is reported by its place, parameters that have no meaning by -1. Variants: TENON_T float, double, f16, bf16.
#include "philox.cuh"
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int DIGIT = 11;
constexpr int BINS = 1 << DIGIT;
constexpr int EACH = BINS / 32;           // bins of a lane
constexpr double UNIT = 1099511627776.0;  // 2^40

// What a row has in shared memory. Bin d lies where lane d / EACH reads it without conflicts.
struct Row {
    u64 units[BINS];
    u32 counts[BINS];
    double sums[32];
    A values[32];
    i64 places[32];
    i64 from, to, found;
    double before, target;
    u64 seen, sum;
    u32 digit, ties;
};

// Weights that stay: those whose bits are more than `least`, and the first `ties` of those that equal it.
struct Kept {
    u32 least;
    u32 ties;
    bool some;    // not all of those that equal it
    bool all;     // nothing has been left out yet
    u64 units;    // the sum of those that stay
};

// Equal first: the difference of infinities is no number.
__device__ __forceinline__ A weight_of(A logit, A top, A heat) { return logit == top ? A(1) : exp((logit - top) / heat); }

__device__ __forceinline__ int bin_place(u32 digit) { return static_cast<int>(digit % EACH * 32 + digit / EACH); }
__device__ __forceinline__ u32 bits_of(A weight) { return __float_as_uint(static_cast<float>(weight)); }
__device__ __forceinline__ u64 units_of(A weight) { return static_cast<u64>(static_cast<double>(weight) * UNIT + 0.5); }

// Calls f(logit, index) for the elements of a thread, in ascending order: 16 bytes an access, four on their way.
template <typename F>
__device__ __forceinline__ void each(const T* logits, i64 size, F f) {
    constexpr int PACK = Widest<T>::value;
    constexpr int AHEAD = 4;
    i64 packs = reinterpret_cast<u64>(logits) % 16 == 0 ? size / PACK : 0, threads = blockDim.x;
    for (i64 at = threadIdx.x; at < packs; at += AHEAD * threads) {
        Pack<T, PACK> some[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (at + a * threads < packs) some[a] = load_pack<T, PACK>(logits, at + a * threads);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (at + a * threads < packs) {
#pragma unroll
                for (int i = 0; i < PACK; i++) f(to_compute(some[a].at[i]), (at + a * threads) * PACK + i);
            }
        }
    }
#pragma unroll 4
    for (i64 i = packs * PACK + threadIdx.x; i < size; i += threads) f(to_compute(logits[i]), i);
}

// The largest logit and its index for all threads, and of its own elements for each; a NaN is reported.
__device__ __forceinline__ A largest(const T* logits, i64 size, i64 row, Row& shared, i64& place, A& own, bool& valid, void* faults, i32 step) {
    A best = -A(TENON_INFINITY);
    i64 at = size;
    i64 wrong = size;
    each(logits, size, [&](A v, i64 i) {
        if (v != v) wrong = i;
        if (at == size || v > best) {
            best = v;
            at = i;
        }
    });
    if (wrong < size) report_fault(faults, step, row * size + wrong);
    bool numbers = wrong == size;
    own = best;
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        A v = __shfl_xor_sync(0xffffffffu, best, lanes);
        i64 p = __shfl_xor_sync(0xffffffffu, at, lanes);
        if (p < size && (at == size || v > best || (v == best && p < at))) {
            best = v;
            at = p;
        }
    }
    if (threadIdx.x % 32 == 0) {
        shared.values[threadIdx.x / 32] = best;
        shared.places[threadIdx.x / 32] = at;
    }
    valid = __syncthreads_and(numbers) != 0;
    best = shared.values[0];
    at = shared.places[0];
    for (int w = 1; w < blockDim.x / 32; w++) {
        A v = shared.values[w];
        i64 p = shared.places[w];
        if (p < size && (at == size || v > best || (v == best && p < at))) {
            best = v;
            at = p;
        }
    }
    __syncthreads();
    place = at;
    return best;
}

// One warp goes down the bins from the top: to the one with which the count, or the units, are enough, else to the last that has any.
__device__ __forceinline__ void choose_bin(Row& shared, bool by_count, u64 count, double target) {
    int lane = threadIdx.x;
    u32 first = static_cast<u32>(31 - lane) * EACH;
    u64 mine = 0, units = 0, seen_before = shared.seen, sum_before = shared.sum;
    __syncwarp();
    for (u32 d = 0; d < EACH; d++) {
        mine += shared.counts[bin_place(first + d)];
        units += shared.units[bin_place(first + d)];
    }
    u64 seen = mine, sum = units;  // of this lane and those above
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        u64 c = __shfl_up_sync(0xffffffffu, seen, lanes), u = __shfl_up_sync(0xffffffffu, sum, lanes);
        if (lane >= lanes) {
            seen += c;
            sum += u;
        }
    }
    bool enough = by_count ? seen_before + seen >= count : static_cast<double>(sum_before + sum) >= target;
    u32 any = __ballot_sync(0xffffffffu, mine > 0);
    u32 there = __ballot_sync(0xffffffffu, mine > 0 && enough);
    int chosen = there != 0 ? __ffs(there) - 1 : 31 - __clz(any);
    if (lane == chosen) {
        u64 c = seen_before + seen - mine, u = sum_before + sum - units, c0 = c, u0 = u;
        u32 found = first;
        for (int d = EACH - 1; d >= 0; d--) {
            u32 n = shared.counts[bin_place(first + d)];
            if (n == 0) continue;
            found = first + d;
            c0 = c;
            u0 = u;
            c += n;
            u += shared.units[bin_place(first + d)];
            if (by_count ? c >= count : static_cast<double>(u) >= target) break;
        }
        shared.digit = found;
        shared.ties = shared.counts[bin_place(found)];
        shared.seen = c0;
        shared.sum = u0;
    }
}

// Leaves the `count` largest of the weights that stay, or the fewest, largest first, whose units are `share` of theirs.
__device__ __forceinline__ Kept left_of(const A* weights, i64 size, Kept now, bool by_count, u64 count, double share, Row& shared) {
    u32 prefix = 0;
    double target = share * static_cast<double>(now.units);
    if (threadIdx.x == 0) {
        shared.seen = 0;
        shared.sum = 0;
    }
    for (int pass = 0; pass < 3; pass++) {
        int digits = pass == 2 ? 10 : DIGIT;
        int shift = pass == 0 ? 21 : pass == 1 ? 10 : 0;
        u32 mask = (1u << digits) - 1;
        for (int i = threadIdx.x; i < BINS; i += blockDim.x) {
            shared.units[i] = 0;
            shared.counts[i] = 0;
        }
        __syncthreads();
        for (i64 i = threadIdx.x; i < size; i += blockDim.x) {
            A w = weights[i];
            u32 b = bits_of(w);
            if ((pass > 0 && b >> (shift + digits) != prefix) || (!now.all && b < now.least)) continue;
            int place = bin_place(b >> shift & mask);
            atomicAdd(&shared.counts[place], 1u);
            atomicAdd(&shared.units[place], units_of(w));
        }
        __syncthreads();
        if (threadIdx.x < 32) choose_bin(shared, by_count, count, target);
        __syncthreads();
        prefix = prefix << digits | shared.digit;
    }
    u64 each = units_of(static_cast<A>(__uint_as_float(prefix)));
    double left = target - static_cast<double>(shared.sum);
    u64 needed = by_count ? count - shared.seen : left <= 0 || each == 0 ? 1 : static_cast<u64>(ceil(left / static_cast<double>(each)));
    u64 most = !now.all && now.least == prefix ? now.ties : shared.ties;
    u64 ties = needed < 1 ? 1 : needed > most ? most : needed;
    Kept r = {prefix, static_cast<u32>(ties), ties < shared.ties, false, shared.sum + ties * each};
    __syncthreads();
    return r;
}

// The first index at which the running sum of f exceeds a target, `fraction` of the whole sum where that is not negative; else the last at which f
// is not 0. Sums of as many stretches as there are warps, then of the one that has the index, until that is short.
template <typename F>
__device__ __forceinline__ i64 pick(const F& f, i64 size, double fraction, double target, Row& shared) {
    int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    bool known = fraction < 0;
    if (threadIdx.x == 0) {
        shared.from = 0;
        shared.to = size;
        shared.before = 0;
        shared.target = target;
    }
    __syncthreads();
    while (shared.to - shared.from > 32) {
        i64 from = shared.from, to = shared.to;
        i64 each = (to - from + warps - 1) / warps;
        i64 first = from + warp * each, end = first + each < to ? first + each : to;
        double sum = 0;
        for (i64 i = first + lane; i < end; i += 32) sum += f(i);
        for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (lane == 0) shared.sums[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (!known) {
                double whole = 0;
                for (int w = 0; w < warps; w++) whole += shared.sums[w];
                shared.target = fraction * whole;
            }
            double running = shared.before, before = running;
            int chosen = 0;
            for (int w = 0; w < warps; w++) {
                if (shared.sums[w] <= 0) continue;
                chosen = w;
                before = running;
                running += shared.sums[w];
                if (running > shared.target) break;
            }
            shared.before = before;
            shared.from = from + chosen * each;
            shared.to = shared.from + each < to ? shared.from + each : to;
        }
        known = true;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        if (!known) {
            double whole = 0;
            for (i64 i = shared.from; i < shared.to; i++) whole += f(i);
            shared.target = fraction * whole;
        }
        double running = shared.before;
        shared.found = shared.from;
        for (i64 i = shared.from; i < shared.to; i++) {
            double w = f(i);
            if (!(w > 0)) continue;
            shared.found = i;
            running += w;
            if (running > shared.target) break;
        }
    }
    __syncthreads();
    i64 found = shared.found;
    __syncthreads();
    return found;
}

struct Tied {
    const A* weights;
    u32 bits;
    __device__ __forceinline__ double operator()(i64 i) const { return bits_of(weights[i]) == bits ? 1 : 0; }
};

struct Staying {
    const A* weights;
    Kept kept;
    i64 last;  // of those that equal the least
    double least;
    __device__ __forceinline__ double operator()(i64 i) const {
        double w = static_cast<double>(weights[i]);
        u32 b = bits_of(weights[i]);
        bool out = !kept.all && (b < kept.least || (b == kept.least && i > last));
        return out || w < least ? 0 : w;
    }
};

// The sum of all units, by all threads.
__device__ __forceinline__ u64 all_units(u64 mine, Row& shared) {
    if (threadIdx.x == 0) shared.sum = 0;
    __syncthreads();
    for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(&shared.sum, mine);
    __syncthreads();
    u64 sum = shared.sum;
    __syncthreads();
    return sum;
}

#include "sample_few.cuh"

extern "C" __global__ void __launch_bounds__(1024) TENON_NAME(sample)(const T* logits, const float* temperature, const i64* top_k, const float* top_p, const float* min_p, const i64* seed, const i64* step, i64* y, A* workspace, i64 rows, i64 size, void* faults, i32 number) {
    __shared__ Row shared;
    release_successor();
    await_predecessor();
    A heat = static_cast<A>(*temperature);
    float share = *top_p, least = *min_p;
    i64 count = *top_k;
    bool asked = heat >= 0 && share >= 0 && least >= 0 && least <= 1 && count >= 0;
    if (!asked && global_thread() == 0) report_fault(faults, number, -1);
    A* weights = workspace + blockIdx.x * size;
    for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* from = logits + row * size;
        i64 place;
        A own;
        bool valid;
        A top = largest(from, size, row, shared, place, own, valid, faults, number);
        if (!asked || !valid || heat == 0) {
            if (threadIdx.x == 0) y[row] = place;
            continue;
        }
        double u = philox_unit(philox(static_cast<u64>(row), static_cast<u64>(*step), static_cast<u64>(*seed)).x);
        if (count > 0 && count <= blockDim.x / 2 && size >= 4ll * blockDim.x && size <= 0xffffffffll) {
            u32 found = gather_few(from, size, own, top, heat, static_cast<u32>(count), shared);
            if (found <= FEW) {
                i64 token = draw_few(from, top, heat, found < count ? found : static_cast<u32>(count), found, share, least, u, shared);
                if (threadIdx.x == 0) y[row] = token;
                __syncthreads();
                continue;
            }
        }
        u64 units = 0;
        for (i64 i = threadIdx.x; i < size; i += blockDim.x) {
            A w = weight_of(to_compute(from[i]), top, heat);
            weights[i] = w;
            units += units_of(w);
        }
        Kept kept = {0, 0, false, true, all_units(units, shared)};
        if (count > 0 && count < size) kept = left_of(weights, size, kept, true, static_cast<u64>(count), 0, shared);
        if (share < 1) kept = left_of(weights, size, kept, false, 0, static_cast<double>(share), shared);
        i64 last = kept.some ? pick(Tied{weights, kept.least}, size, -1, kept.ties - 0.5, shared) : size;
        i64 token = pick(Staying{weights, kept, last, static_cast<double>(least)}, size, u, 0, shared);
        if (threadIdx.x == 0) y[row] = token;
    }
}
TENON_ENTRY(sample)
