// y = a whole expression of broadcast operands, interpreted: a list of operations on numbered registers, which lie in shared memory, a column
// a thread, so that nothing of an element in between touches global memory. Four elements a thread (two of 64 bits) share the decoding.
//
// Launch: 128 threads, any number of blocks, dynamic shared memory of slots · 128 · 16 bytes; all values on 16-byte boundaries, y may be an
// operand of its shape and width. Floats between operations are not rounded to their types but where a cast says so.
//
// Variants: f32, floats of at most 32 bits and booleans; wide, every type: registers of 64 bits that hold a float, a double or an integer.
#include "elementwise.cuh"
#include "binary_fn.cuh"

constexpr int DO_LOAD = 0;     // slot = operand a, of the type
constexpr int DO_UNARY = 1;    // slot = fn(a)
constexpr int DO_BINARY = 2;   // slot = fn(a, b)
constexpr int DO_COMPARE = 3;  // slot = fn(a, b), a boolean
constexpr int DO_WHERE = 4;    // slot = a ? b : c
constexpr int DO_CAST = 5;     // slot = a in the type `fn`
constexpr int DO_STORE = 6;    // y = a

struct Operation {
    u8 what;
    u8 type;  // of the operands, for where of the values
    u8 fn;
    u8 slot;
    u8 a;
    u8 b;
    u8 c;
    u8 unused;
    double p0;
    double p1;
};

struct Program {
    i64 count;
    Operation operations[25];  // 8 loads, 16 steps, a store
};

#if TENON_WIDE
typedef u64 Register;
constexpr int V = 2;
#else
typedef u32 Register;
constexpr int V = 4;
#endif

__device__ __forceinline__ Register keep(float v) { return __float_as_uint(v); }
__device__ __forceinline__ float as_float(Register r) { return __uint_as_float(static_cast<u32>(r)); }
#if TENON_WIDE
__device__ __forceinline__ Register keep(double v) { return static_cast<u64>(__double_as_longlong(v)); }
__device__ __forceinline__ double as_double(Register r) { return __longlong_as_double(static_cast<i64>(r)); }
#endif

__device__ __forceinline__ Register load(int type, const void* p, i64 at) {
    switch (type) {
        case TYPE_F32: return keep(static_cast<const float*>(p)[at]);
        case TYPE_F16: return keep(to_f32(static_cast<const f16*>(p)[at]));
        case TYPE_BF16: return keep(to_f32(static_cast<const bf16*>(p)[at]));
#if TENON_WIDE
        case TYPE_F64: return keep(static_cast<const double*>(p)[at]);
        default: return static_cast<u64>(load_integer(type, p, at));
#else
        default: return static_cast<const u8*>(p)[at] != 0;
#endif
    }
}

__device__ __forceinline__ void store(int type, void* p, i64 at, Register v) {
    switch (type) {
        case TYPE_F32: static_cast<float*>(p)[at] = as_float(v); break;
        case TYPE_F16: static_cast<f16*>(p)[at] = to_f16(as_float(v)); break;
        case TYPE_BF16: static_cast<bf16*>(p)[at] = to_bf16(as_float(v)); break;
#if TENON_WIDE
        case TYPE_F64: static_cast<double*>(p)[at] = as_double(v); break;
        default: store_integer(type, p, at, static_cast<i64>(v)); break;
#else
        default: static_cast<u8*>(p)[at] = v != 0; break;
#endif
    }
}

__device__ __forceinline__ Register unary_of(const Operation& op, Register v) {
#if TENON_WIDE
    if (op.type > TYPE_BF16) {
        return static_cast<u64>(wrapped(op.type, integer_unary_fn(op.fn, op.type, static_cast<i64>(v), op.p0, op.p1)));
    }
    if (op.type == TYPE_F64) {
        double r = unary_fn<double>(op.fn, as_double(v), op.p0, op.p1);
        return op.fn == FN_IS_NAN || op.fn == FN_IS_INF ? static_cast<u64>(r != 0) : keep(r);
    }
#else
    if (op.type == TYPE_BOOL) return v == 0;  // not, the only one of booleans
#endif
    float r = unary_fn<float>(op.fn, as_float(v), static_cast<float>(op.p0), static_cast<float>(op.p1));
    return op.fn == FN_IS_NAN || op.fn == FN_IS_INF ? Register(r != 0) : keep(r);
}

__device__ __forceinline__ Register binary_of(const Operation& op, Register u, Register v, void* faults, i32 step) {
#if TENON_WIDE
    if (op.type > TYPE_BF16) {
        i64 a = static_cast<i64>(u);
        i64 b = static_cast<i64>(v);
        if (has_no_integer(op.fn, op.type, a, b)) {
            report_fault(faults, step, b);
            return 0;
        }
        return static_cast<u64>(wrapped(op.type, integer_binary_fn(op.fn, op.type, a, b)));
    }
    if (op.type == TYPE_F64) return keep(binary_fn<double>(op.fn, as_double(u), as_double(v)));
#else
    if (op.type == TYPE_BOOL) return op.fn == FN_AND ? (u & v) : op.fn == FN_OR ? (u | v) : (u ^ v);
#endif
    return keep(binary_fn<float>(op.fn, as_float(u), as_float(v)));
}

__device__ __forceinline__ Register compare_of(const Operation& op, Register u, Register v) {
#if TENON_WIDE
    if (op.type > TYPE_BF16) return integer_compare_fn(op.fn, op.type, static_cast<i64>(u), static_cast<i64>(v));
    if (op.type == TYPE_F64) return compare_fn(op.fn, as_double(u), as_double(v));
#else
    if (op.type == TYPE_BOOL) return compare_fn(op.fn, u, v);
#endif
    return compare_fn(op.fn, as_float(u), as_float(v));
}

// A short float keeps its value in a float, rounded to the type.
__device__ __forceinline__ Register rounded_float(int to, float v) {
    return keep(to == TYPE_F16 ? to_f32(to_f16(v)) : to == TYPE_BF16 ? to_f32(to_bf16(v)) : v);
}

__device__ __forceinline__ Register cast_of(int from, int to, Register v) {
#if TENON_WIDE
    if (from > TYPE_BF16) {
        i64 number = static_cast<i64>(v);
        if (to > TYPE_BF16) return static_cast<u64>(wrapped(to, number));
        double d = integer_to_double(from, number);
        if (to == TYPE_F64) return keep(d);
        return to == TYPE_F32 ? keep(static_cast<float>(d)) : rounded_float(to, odd_float(d));
    }
    if (from == TYPE_F64) {
        double d = as_double(v);
        if (to == TYPE_F64) return v;
        if (to > TYPE_BF16) return static_cast<u64>(float_to_integer(to, d));
        return to == TYPE_F32 ? keep(static_cast<float>(d)) : rounded_float(to, odd_float(d));
    }
    if (to == TYPE_F64) return keep(static_cast<double>(as_float(v)));
    if (to > TYPE_BF16) return static_cast<u64>(float_to_integer(to, as_float(v)));
#else
    if (to == TYPE_BOOL) return from == TYPE_BOOL ? v : as_float(v) != 0;
    if (from == TYPE_BOOL) return keep(v != 0 ? 1.0f : 0.0f);
#endif
    return rounded_float(to, as_float(v));
}

extern "C" __global__ void __launch_bounds__(128) TENON_NAME(elementwise_region)(const void* x0, const void* x1, const void* x2, const void* x3, const void* x4, const void* x5, const void* x6, const void* x7, void* y, i64 elements, Walk8 walk, Program program, void* faults, i32 step) {
    TENON_DYNAMIC_SHARED(Register, registers);
    release_successor();
    await_predecessor();
    bool small = elements <= 0x7fffffff;
    i64 tile = static_cast<i64>(V) * 128;
    int count = static_cast<int>(program.count);
    for (i64 start = static_cast<i64>(blockIdx.x) * tile; start < elements; start += gridDim.x * tile) {
        i64 first = start + threadIdx.x;
        i64 at[V][8];
#pragma unroll
        for (int v = 0; v < V; v++) {
            locate(walk, first + v * 128 < elements ? first + v * 128 : 0, small, at[v]);
        }
        for (int k = 0; k < count; k++) {
            const Operation& op = program.operations[k];
#pragma unroll
            for (int v = 0; v < V; v++) {
                i64 position = first + v * 128;
                if (position >= elements) break;
                Register* mine = registers + v * 128 + threadIdx.x;  // of slot 0; the next slot is V · 128 further
                Register r = 0;
                Register a = op.what == DO_LOAD ? 0 : mine[op.a * (V * 128)];
                switch (op.what) {
                    case DO_LOAD: {
                        const void* all[8] = {x0, x1, x2, x3, x4, x5, x6, x7};
                        const void* p = x0;
                        i64 element = at[v][0];
#pragma unroll
                        for (int i = 1; i < 8; i++) {  // selected, so that both stay in registers
                            p = op.a == i ? all[i] : p;
                            element = op.a == i ? at[v][i] : element;
                        }
                        r = load(op.type, p, element);
                        break;
                    }
                    case DO_UNARY: r = unary_of(op, a); break;
                    case DO_BINARY: r = binary_of(op, a, mine[op.b * (V * 128)], faults, step); break;
                    case DO_COMPARE: r = compare_of(op, a, mine[op.b * (V * 128)]); break;
                    case DO_WHERE: r = a != 0 ? mine[op.b * (V * 128)] : mine[op.c * (V * 128)]; break;
                    case DO_CAST: r = cast_of(op.type, op.fn, a); break;
                    default: store(op.type, y, position, a); break;
                }
                if (op.what != DO_STORE) mine[op.slot * (V * 128)] = r;
            }
        }
    }
}
TENON_ENTRY(elementwise_region)
