// An LSTM along a sequence (core's Lstm has the formula) for many sequences, on tensor cores in TF32; the inputs' part of all gates given.
//
// A block owns 16 hidden units of one direction for up to 16 sequences, for all steps. A warp has the recurrent weights of one gate and half of
// the sums in registers, and multiplies them with the hidden state of the sequences, which the block's team has written; then a thread has the
// cell of one unit and sequence, whose memory stays in a register. The inputs of the next step are read before the team meets.
//
// The order of sums inside a block of 16 is that in which a lane reads four neighbours: products take the first two and then the last two.
//
// Launch: 256 threads, `blocks` blocks (ceil(hidden / 16)) for each of `shares` teams of each direction, cooperative where blocks is more than
// one; the teams from first_share on. hidden is at most 512. Dynamic shared memory: the states [16, wide] and the sums [2, 4, 16, 17] of floats;
// wide is 16 more than a multiple of 32 and at least hidden in whole sixteens. state and counters as recurrent.cu has them. Variants: TENON_CELL
// 2, TENON_T float. From sm_80 on.
#include "recurrent.cuh"

constexpr int UNITS = 16;
constexpr int SEQUENCES = 16;
constexpr int BLOCK = 16;   // of the summed index
constexpr int MOST = 16;    // blocks of a half
constexpr int LINE = SEQUENCES + 1;

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
__device__ __forceinline__ u32 tf32_bits(float v) { return __float_as_uint(to_tf32(v)); }

// The hidden state of `count` sequences before a step, in TF32. Zeros past the hidden units are there already.
__device__ __forceinline__ void load_states(const Recurrence& l, const Operands& o, i64 d, i64 begin, i64 count, i64 step, float* states) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float* source = o.state + ((step & 1) * l.directions + d) * l.batch * l.hidden + begin * l.hidden;
    if (step > 0 && l.hidden % 4 == 0) {
        uint4 some[2][4];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int s = warp + i / 4 * 8, four = lane + i % 4 * 32;
            if (s < count && four < l.hidden / 4) some[i / 4][i % 4] = __ldcg(reinterpret_cast<const uint4*>(source + s * l.hidden) + four);
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int s = warp + i / 4 * 8, four = lane + i % 4 * 32;
            uint4 v = some[i / 4][i % 4];
            if (s < count && four < l.hidden / 4) {
                *reinterpret_cast<uint4*>(states + s * l.wide + four * 4) = {
                    tf32_bits(__uint_as_float(v.x)), tf32_bits(__uint_as_float(v.y)), tf32_bits(__uint_as_float(v.z)), tf32_bits(__uint_as_float(v.w))};
            }
        }
        return;
    }
    for (i64 i = threadIdx.x; i < count * l.hidden; i += blockDim.x) {
        i64 s = i / l.hidden, unit = i % l.hidden;
        float v = step > 0 ? __ldcg(source + i) : o.h0 == nullptr ? 0.0f : o.h0[state_at(l, d, begin + s, unit)];
        states[s * l.wide + unit] = to_tf32(v);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(256, 1) TENON_NAME(lstm_tile)(const T* r, const T* bias, const i32* lengths, const T* h0, const T* c0, const T* peepholes, const A* z, A* state, T* y, T* h, T* c, u32* counters, Recurrence l, i64 from, i64 to) {
    TENON_DYNAMIC_SHARED(float, states);
    float* sums = states + SEQUENCES * l.wide;  // [half][gate][unit][sequence]
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    Operands o = {r, bias, lengths, h0, c0, peepholes, z, state, y, h, c};
    i64 team = blockIdx.x / l.blocks, first = blockIdx.x % l.blocks * UNITS, d = team / l.shares;
    i64 begin = (l.first_share + team % l.shares) * l.share, end = begin + l.share < l.batch ? begin + l.share : l.batch;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, t = lane % 4;
    int gate = warp % 4, half = warp / 4;
    int all = static_cast<int>((l.hidden + BLOCK - 1) / BLOCK), each = (all + 1) / 2, base = half * each;
    int blocks = base + each < all ? each : all - base;  // of this half
    await_predecessor();

    u32 w[MOST][2][4];
    const T* rows = r + (d * GATES + gate) * l.hidden * l.hidden;
#pragma unroll
    for (int b = 0; b < MOST; b++) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            i64 unit = first + group + i % 2 * 8, k = (base + b) * BLOCK + 4 * t + i / 2;
            w[b][i / 4][i % 4] = b < blocks && unit < l.hidden && k < l.hidden ? tf32_bits(rows[unit * l.hidden + k]) : 0u;
        }
    }
    for (i64 i = threadIdx.x; i < SEQUENCES * l.wide; i += blockDim.x) states[i] = 0.0f;

    // the cell of this thread
    int local = threadIdx.x % UNITS, sequence = threadIdx.x / UNITS;
    bool mine = first + local < l.hidden && begin + sequence < end;
    Place p = place_of(l, o, d, mine ? begin + sequence : begin, mine ? first + local : 0, from);
    i64 at = state_at(l, d, p.b, p.unit);
    float last = mine && h0 != nullptr ? h0[at] : 0.0f, memory = mine && c0 != nullptr ? c0[at] : 0.0f;
    float own[4] = {}, in[4] = {};
    if (mine) {
#pragma unroll
        for (int g = 0; g < 4; g++) {
            if (bias != nullptr) own[g] = bias[(d * 2 * GATES + g) * l.hidden + p.unit] + bias[(d * 2 * GATES + GATES + g) * l.hidden + p.unit];
            in[g] = input_at(l, o, p, g);
        }
    }
    u32 number = 0;
    __syncthreads();
    for (i64 step = from; step < to; step++) {
        load_states(l, o, d, begin, end - begin, step, states);
        __syncthreads();
        float tile[2][2][4] = {};  // [eight sequences][part of a block]
#pragma unroll
        for (int b = 0; b < MOST; b++) {
            if (b < blocks) {
#pragma unroll
                for (int n = 0; n < 2; n++) {
                    uint4 v = *reinterpret_cast<const uint4*>(states + (n * 8 + group) * l.wide + (base + b) * BLOCK + 4 * t);
                    u32 low[2] = {v.x, v.y}, high[2] = {v.z, v.w};
                    mma_1688_tf32(tile[n][0], w[b][0], low);
                    mma_1688_tf32(tile[n][1], w[b][1], high);
                }
            }
        }
        float* line = sums + ((half * GATES + gate) * UNITS + group) * LINE + 2 * t;
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int i = 0; i < 4; i++) line[i / 2 * 8 * LINE + n * 8 + i % 2] = tile[n][0][i] + tile[n][1][i];
        }
        __syncthreads();
        if (mine) {
            float v[4], next, output;
#pragma unroll
            for (int g = 0; g < 4; g++) {
                const float* sum = sums + (g * UNITS + local) * LINE + sequence;
                v[g] = in[g] + own[g] + (sum[0] + sum[GATES * UNITS * LINE]);
            }
            p.step = step;
            lstm_next(l, o, p, v, memory, next, output);
            put_hidden(l, o, p, last, output);
            if (p.runs()) {
                last = output;
                memory = next;
            }
            if (step == l.steps - 1) c[at] = memory;
            p.step = step + 1;
            if (step + 1 < to) {
#pragma unroll
                for (int g = 0; g < 4; g++) in[g] = input_at(l, o, p, g);
            }
        }
        if (step + 1 < to) {
            if (l.blocks > 1) {
                meet(counters + team, static_cast<u32>(l.blocks), ++number);
            } else {
                __syncthreads();
            }
        }
    }
    release_successor();
    if (number > 0) {  // the last block of a team to get here leaves the counters as it found them
        __syncthreads();
        i64 teams = l.directions * l.shares;
        if (threadIdx.x == 0 && atomicAdd(counters + teams + team, 1u) == static_cast<u32>(l.blocks) - 1) {
            counters[team] = 0;
            counters[teams + team] = 0;
        }
    }
#endif
}
TENON_ENTRY(lstm_tile)
