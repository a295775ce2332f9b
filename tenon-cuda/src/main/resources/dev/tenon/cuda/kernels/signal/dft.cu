// y[k] = the sum over j of x[j] exp(-2 pi i j k / n) along an axis; the inverse exchanges the parts of all numbers, before and after, and divides
// by n. Worked out in double, as the reference, with twiddles from a table.
//
// A transform is passes of Stockham's form (1966), one a factor of n: radix 4 by butterflies, other radices as sums. Passes go from one buffer
// into another and need no reordering.
//
//   dft_tables          the twiddles of a length, or Bluestein's chirp: a thread an entry
//   dft_block           whole transforms in shared memory, `group` of them a block
//   dft_load, dft_store between tensors and numbers in the workspace, for lengths that do not fit shared memory
//   dft_pass            one pass over rows in the workspace: a thread a butterfly, or a sum
//   dft_chirp_load      rows times the chirp, padded, and the filter's row behind them (Bluestein 1970, for large prime factors)
//   dft_chirp_multiply  rows times the filter's row, parts exchanged
//   dft_chirp_store     rows times the chirp, into the tensor
//
// Launch: 256 threads, any number of blocks. dft_block: dynamic shared memory of 2 · group · n complex numbers.
// Variants: TENON_T float, double, f16, bf16.
#include "types.cuh"
#include "walk.cuh"

typedef TENON_T T;

constexpr int DFT_PASSES = 24;

struct alignas(16) Complex {
    double re;
    double im;
};

// Filled by DftLowering.java.
struct DftSpace {
    i64 units;  // runs along the axis
    i64 first;  // of a launch's units
    i64 count;  // of a launch's units
    i64 length;
    i64 inner;
    i64 x_size;  // along the axis
    i64 x_parts;
    i64 y_size;
    i64 y_parts;
    i64 inverse;
    i64 mirrored;  // x is half of a spectrum, the other half its mirror image
    i64 there;     // elements that x has
    i64 group;
    i64 passes;
    i64 radix[DFT_PASSES];
};

__device__ __forceinline__ Complex times(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
__device__ __forceinline__ Complex plus(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ __forceinline__ Complex minus(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ __forceinline__ Complex exchanged(Complex a) { return {a.im, a.re}; }

// Twiddles exp(-2 pi i k / n), or the chirp exp(-pi i k^2 / n), whose square is reduced before it meets pi.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_tables)(void* table, i64 n, i32 chirp) {
    release_successor();
    await_predecessor();
    for (i64 k = global_thread(); k < n; k += global_threads()) {
        double share = chirp ? static_cast<double>(k * k % (2 * n)) / static_cast<double>(n) : 2.0 * static_cast<double>(k) / static_cast<double>(n);
        double sine, cosine;
        sincos(3.14159265358979323846 * share, &sine, &cosine);
        static_cast<Complex*>(table)[k] = {cosine, -sine};
    }
}
TENON_ENTRY(dft_tables)

__device__ __forceinline__ i64 run_start(const DftSpace& s, i64 unit, i64 size) { return unit / s.inner * size * s.inner + unit % s.inner; }

// Element i of what is transformed: x cut or padded, the parts exchanged for the inverse.
__device__ __forceinline__ Complex read_one(const DftSpace& s, const T* x, i64 unit, i64 i) {
    bool mirror = s.mirrored && i >= s.there && s.length - i < s.there;
    i64 from = mirror ? s.length - i : i;
    Complex v = {0, 0};
    if (from < s.there) {
        const T* p = x + (run_start(s, unit, s.x_size) + from * s.inner) * s.x_parts;
        v.re = static_cast<double>(to_compute(p[0]));
        if (s.x_parts == 2) v.im = mirror ? -static_cast<double>(to_compute(p[1])) : static_cast<double>(to_compute(p[1]));
    }
    // what a real signal cannot have
    if (s.mirrored && (i == 0 || 2 * i == s.length)) v.im = 0;
    return s.inverse ? exchanged(v) : v;
}

__device__ __forceinline__ void write_one(const DftSpace& s, T* y, i64 unit, i64 i, Complex v) {
    if (s.inverse) v = exchanged(v);
    double scale = s.inverse ? 1.0 / static_cast<double>(s.length) : 1.0;
    T* p = y + (run_start(s, unit, s.y_size) + i * s.inner) * s.y_parts;
    p[0] = rounded_to<T>(v.re * scale);
    if (s.y_parts == 2) p[1] = rounded_to<T>(v.im * scale);
}

// Butterfly j of n / 4, behind passes whose radices have the product l.
__device__ __forceinline__ void butterfly4(const Complex* from, Complex* to, const Complex* table, u32 n, u32 l, u32 j) {
    u32 quarter = n / 4;
    u32 block = j / l, within = j - block * l;
    u32 turn = within * (quarter / l);
    Complex a = from[j];
    Complex b = times(from[j + quarter], table[turn]);
    Complex c = times(from[j + 2 * quarter], table[2 * turn]);
    Complex d = times(from[j + 3 * quarter], table[3 * turn]);
    Complex even = plus(a, c), odd = minus(a, c), sum = plus(b, d), apart = minus(b, d);
    Complex turned = {apart.im, -apart.re};  // by -i
    Complex* out = to + block * l * 4 + within;
    out[0] = plus(even, sum);
    out[l] = plus(odd, turned);
    out[2 * l] = minus(even, sum);
    out[3 * l] = minus(odd, turned);
}

// Result `at` of a pass of any radix, as its sum.
__device__ __forceinline__ Complex sum_of_pass(const Complex* from, const Complex* table, u32 n, u32 l, u32 radix, u32 at) {
    u32 wide = l * radix, step = n / radix;
    u32 block = at / wide, place = at - block * wide;
    u32 first = block * l + place % l;
    u32 turn = place * (n / wide);
    Complex sum = from[first];
    u32 angle = 0;
    for (u32 p = 1; p < radix; p++) {
        angle += turn;
        if (angle >= n) angle -= n;
        sum = plus(sum, times(from[first + p * step], table[angle]));
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_block)(const void* x, void* y, const void* table, DftSpace space) {
    TENON_DYNAMIC_SHARED(Complex, buffers);
    release_successor();
    await_predecessor();
    const Complex* twiddles = static_cast<const Complex*>(table);
    u32 n = static_cast<u32>(space.length), group = static_cast<u32>(space.group);
    for (i64 first = blockIdx.x * space.group; first < space.units; first += gridDim.x * space.group) {
        u32 here = static_cast<u32>(min(space.group, space.units - first));
        Complex* from = buffers;
        Complex* to = buffers + group * n;
        for (u32 at = threadIdx.x; at < here * n; at += blockDim.x) {
            // neighbours in memory to neighbouring threads
            u32 unit = space.inner == 1 ? at / n : at % here;
            u32 i = space.inner == 1 ? at % n : at / here;
            from[unit * n + i] = read_one(space, static_cast<const T*>(x), first + unit, i);
        }
        u32 l = 1;
        for (int pass = 0; pass < static_cast<int>(space.passes); pass++) {
            u32 radix = static_cast<u32>(space.radix[pass]);
            __syncthreads();
            if (radix == 4) {
                for (u32 at = threadIdx.x; at < here * (n / 4); at += blockDim.x) {
                    u32 unit = at / (n / 4);
                    butterfly4(from + unit * n, to + unit * n, twiddles, n, l, at - unit * (n / 4));
                }
            } else {
                for (u32 at = threadIdx.x; at < here * n; at += blockDim.x) {
                    u32 unit = at / n;
                    to[at] = sum_of_pass(from + unit * n, twiddles, n, l, radix, at - unit * n);
                }
            }
            l *= radix;
            Complex* written = to;
            to = from;
            from = written;
        }
        __syncthreads();
        u32 size = static_cast<u32>(space.y_size);
        for (u32 at = threadIdx.x; at < here * size; at += blockDim.x) {
            u32 unit = space.inner == 1 ? at / size : at % here;
            u32 i = space.inner == 1 ? at % size : at / here;
            write_one(space, static_cast<T*>(y), first + unit, i, from[unit * n + i]);
        }
        __syncthreads();
    }
}
TENON_ENTRY(dft_block)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_load)(const void* x, void* rows, DftSpace space) {
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < space.count * space.length; at += global_threads()) {
        i64 unit = at / space.length;
        static_cast<Complex*>(rows)[at] = read_one(space, static_cast<const T*>(x), space.first + unit, at - unit * space.length);
    }
}
TENON_ENTRY(dft_load)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_store)(const void* rows, void* y, DftSpace space) {
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < space.count * space.y_size; at += global_threads()) {
        i64 unit = at / space.y_size;
        i64 i = at - unit * space.y_size;
        write_one(space, static_cast<T*>(y), space.first + unit, i, static_cast<const Complex*>(rows)[unit * space.length + i]);
    }
}
TENON_ENTRY(dft_store)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_pass)(const void* from, void* to, const void* table, i64 rows, i64 n, i64 l, i32 radix) {
    release_successor();
    await_predecessor();
    const Complex* x = static_cast<const Complex*>(from);
    const Complex* twiddles = static_cast<const Complex*>(table);
    Complex* y = static_cast<Complex*>(to);
    i64 each = radix == 4 ? n / 4 : n;
    for (i64 at = global_thread(); at < rows * each; at += global_threads()) {
        i64 row = at / each;
        u32 within = static_cast<u32>(at - row * each);
        if (radix == 4) {
            butterfly4(x + row * n, y + row * n, twiddles, static_cast<u32>(n), static_cast<u32>(l), within);
        } else {
            y[at] = sum_of_pass(x + row * n, twiddles, static_cast<u32>(n), static_cast<u32>(l), static_cast<u32>(radix), within);
        }
    }
}
TENON_ENTRY(dft_pass)

// `padded` numbers a row; row `count` is the filter, the chirp's conjugate at both ends.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_chirp_load)(const void* x, void* rows, const void* chirp, i64 padded, DftSpace space) {
    release_successor();
    await_predecessor();
    const Complex* turns = static_cast<const Complex*>(chirp);
    for (i64 at = global_thread(); at < (space.count + 1) * padded; at += global_threads()) {
        i64 row = at / padded;
        i64 i = at - row * padded;
        Complex v = {0, 0};
        if (row == space.count) {
            i64 distance = min(i, padded - i);
            if (distance < space.length) v = {turns[distance].re, -turns[distance].im};
        } else if (i < space.length) {
            v = times(read_one(space, static_cast<const T*>(x), space.first + row, i), turns[i]);
        }
        static_cast<Complex*>(rows)[at] = v;
    }
}
TENON_ENTRY(dft_chirp_load)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_chirp_multiply)(void* rows, i64 padded, i64 count) {
    release_successor();
    await_predecessor();
    Complex* all = static_cast<Complex*>(rows);
    const Complex* filter = all + count * padded;
    for (i64 at = global_thread(); at < count * padded; at += global_threads()) all[at] = exchanged(times(all[at], filter[at % padded]));
}
TENON_ENTRY(dft_chirp_multiply)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(dft_chirp_store)(const void* rows, void* y, const void* chirp, i64 padded, DftSpace space) {
    release_successor();
    await_predecessor();
    double share = 1.0 / static_cast<double>(padded);
    for (i64 at = global_thread(); at < space.count * space.y_size; at += global_threads()) {
        i64 unit = at / space.y_size;
        i64 i = at - unit * space.y_size;
        Complex v = exchanged(static_cast<const Complex*>(rows)[unit * padded + i]);
        v = times({v.re * share, v.im * share}, static_cast<const Complex*>(chirp)[i]);
        write_one(space, static_cast<T*>(y), space.first + unit, i, v);
    }
}
TENON_ENTRY(dft_chirp_store)
