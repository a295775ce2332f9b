// What the kernels of recurrent layers know of a layer, and an LSTM's cell. TENON_CELL 0 RNN, 1 GRU, 2 LSTM; TENON_T the type of weights and
// results. State and sums in A.
#pragma once
#include "types.cuh"
#include "unary_fn.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int CELL = TENON_CELL;
constexpr int GATES = CELL == 0 ? 1 : CELL == 1 ? 3 : 4;

// Filled by GpuRecurrentLowering.java.
struct Recurrence {
    i64 steps, batch, hidden, wide;
    i64 directions, units, blocks, chunk;
    i64 shares, share, first_share;
    i64 reverse, batch_first, linear, coupled, keeps, group;
    double clip;
    i64 fn[2][3];
    double alpha[2][3];
    double beta[2][3];
};

// The operands; addresses of what a layer does not have are 0.
struct Operands {
    const T* r;
    const T* bias;
    const i32* lengths;
    const T* h0;
    const T* c0;
    const T* peepholes;
    const A* z;
    A* state;
    T* y;
    T* h;
    T* c;
};

__device__ __forceinline__ i64 state_at(const Recurrence& l, i64 d, i64 b, i64 unit) { return ((l.batch_first ? b * l.directions + d : d * l.batch + b)) * l.hidden + unit; }
__device__ __forceinline__ i64 own_at(const Recurrence& l, i64 d, i64 b, i64 unit) { return (d * l.batch + b) * l.hidden + unit; }

__device__ __forceinline__ A activate(const Recurrence& l, i64 d, int which, A x) {
    A clip = static_cast<A>(l.clip);
    if (clip > 0) x = x < -clip ? -clip : x > clip ? clip : x;
    int fn = static_cast<int>(l.fn[d][which]);
    if (fn == FN_SIGMOID) return sigmoid(x);
    if (fn == FN_TANH) return tanh(x);
    return unary_fn_call(fn, x, static_cast<A>(l.alpha[d][which]), static_cast<A>(l.beta[d][which]));
}

// What one lane knows of its sequence in a step.
struct Place {
    i64 d, b, unit, step, length;
    bool backwards;
    __device__ __forceinline__ bool runs() const { return step < length; }
    __device__ __forceinline__ i64 time() const { return !runs() ? step : backwards ? length - 1 - step : step; }
};

__device__ __forceinline__ Place place_of(const Recurrence& l, const Operands& o, i64 d, i64 b, i64 unit, i64 step) {
    i64 length = o.lengths == nullptr ? l.steps : o.lengths[b] < 0 ? 0 : o.lengths[b] < l.steps ? o.lengths[b] : l.steps;
    return {d, b, unit, step, length, l.reverse != 0 || d == 1};
}

// What the inputs add to a gate.
__device__ __forceinline__ A input_at(const Recurrence& l, const Operands& o, const Place& p, int gate) {
    i64 row = l.batch_first ? p.b * l.steps + p.time() : p.time() * l.batch + p.b;
    return o.z[(row * l.directions + p.d) * GATES * l.hidden + gate * l.hidden + p.unit];
}

// What the inputs and both biases add to a gate.
__device__ __forceinline__ A input_sum(const Recurrence& l, const Operands& o, const Place& p, int gate, bool recurrent_bias) {
    A v = input_at(l, o, p, gate);
    if (o.bias != nullptr) {
        const T* bias = o.bias + p.d * 2 * GATES * l.hidden;
        v += to_compute(bias[gate * l.hidden + p.unit]);
        if (recurrent_bias) v += to_compute(bias[(GATES + gate) * l.hidden + p.unit]);
    }
    return v;
}

__device__ __forceinline__ A recurrent_bias(const Recurrence& l, const Operands& o, const Place& p, int gate) {
    return o.bias == nullptr ? A(0) : to_compute(o.bias[(p.d * 2 * GATES + GATES + gate) * l.hidden + p.unit]);
}

// Stores a step's hidden state, and y; after the last step the result.
__device__ __forceinline__ void put_hidden(const Recurrence& l, const Operands& o, const Place& p, A last, A next) {
    A kept = p.runs() ? next : last;
    i64 all = l.directions * l.batch * l.hidden;
    o.state[((p.step + 1) & 1) * all + own_at(l, p.d, p.b, p.unit)] = kept;
    i64 row = l.batch_first ? (p.b * l.steps + p.time()) * l.directions + p.d : (p.time() * l.directions + p.d) * l.batch + p.b;
    o.y[row * l.hidden + p.unit] = narrowed<T>(p.runs() ? next : A(0));
    if (p.step == l.steps - 1) o.h[state_at(l, p.d, p.b, p.unit)] = narrowed<T>(kept);
}

// An LSTM's cell after a step, from the sums of its gates: the memory and the output.
__device__ __forceinline__ void lstm_next(const Recurrence& l, const Operands& o, const Place& p, const A (&sums)[4], A memory, A& next, A& output) {
    A peep[3] = {};
    if (o.peepholes != nullptr) {
#pragma unroll
        for (int g = 0; g < 3; g++) peep[g] = to_compute(o.peepholes[(p.d * 3 + g) * l.hidden + p.unit]);
    }
    A in = activate(l, p.d, 0, sums[0] + peep[0] * memory);
    A forget = l.coupled ? 1 - in : activate(l, p.d, 0, sums[2] + peep[2] * memory);
    next = forget * memory + in * activate(l, p.d, 1, sums[3]);
    output = activate(l, p.d, 0, sums[1] + peep[1] * next) * activate(l, p.d, 2, next);
}
