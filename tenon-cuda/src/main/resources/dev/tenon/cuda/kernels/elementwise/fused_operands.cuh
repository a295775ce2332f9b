// How compiled regions read their operands: generated programs say the form of each (FusedOperands.java), sizes are arguments.
//
//   Whole<type>      the result's elements in its order
//   Single<type>     one element
//   Row<type, r>     repeated each layout.rows[r] elements
//   Walked<type, g>  by the strides layout.strides[g]
//
// A program is a list of macro calls on numbered values, all types by number (types.cuh):
//   INPUT(value, form)  UNARY(value, type, fn, a, p0, p1)  BINARY(value, type, fn, a, b)  COMPARE(value, type, fn, a, b)
//   WHERE(value, c, a, b)  CAST(value, from, to, a)
// type is that of the operands, p0 and p1 are the bits of doubles. The generated header also counts: TENON_INPUT_COUNT, TENON_RESULT_COUNT,
// TENON_ROWS, TENON_WALKED, TENON_DIMS, the last three 1 at least.
#pragma once
#include "region.cuh"
#include "fused_program.cuh"
#include "walk.cuh"

struct Operands {
    const void* x[TENON_INPUT_COUNT];
    void* y[TENON_RESULT_COUNT];
};

// Beside the operands (FusedOperands.java).
struct Layout {
    i64 rows[TENON_ROWS];
    i64 sizes[TENON_DIMS];  // of the dims that walked operands are walked along, outermost first
    i64 strides[TENON_WALKED][TENON_DIMS];
};

// Where reading starts: a position in the result, and what follows for operands that are not whole.
struct Place {
    const Layout& layout;
    i64 position;
    i64 walked[TENON_WALKED];  // the elements of the position
    bool small;                // all positions fit into u32

    __device__ __forceinline__ Place(const Layout& all, i64 first, bool fits) : layout(all), position(first), small(fits) { walk(first, walked); }

    __device__ __forceinline__ i64 rest(i64 of, i64 size) const { return small ? static_cast<u32>(of) % static_cast<u32>(size) : of % size; }
    __device__ __forceinline__ i64 quotient(i64 of, i64 size) const { return small ? static_cast<u32>(of) / static_cast<u32>(size) : of / size; }

    __device__ __forceinline__ void walk(i64 from, i64 (&at)[TENON_WALKED]) const {
#pragma unroll
        for (int g = 0; g < TENON_WALKED; g++) at[g] = 0;
#pragma unroll
        for (int d = TENON_DIMS - 1; d > 0; d--) {
            i64 above = quotient(from, layout.sizes[d]);
            step(from - above * layout.sizes[d], d, at);
            from = above;
        }
        step(from, 0, at);
    }

    __device__ __forceinline__ void step(i64 index, int d, i64 (&at)[TENON_WALKED]) const {
#pragma unroll
        for (int g = 0; g < TENON_WALKED; g++) at[g] += index * layout.strides[g][d];
    }
};

template <int TYPE, int N>
struct Neighbours {
    typedef typename Element<TYPE>::S S;
    Pack<S, N> raw;

    __device__ __forceinline__ auto element(int i) const { return kept<TYPE>(raw.at[i]); }
    __device__ __forceinline__ void pack(const void* x, i64 at) { raw = *reinterpret_cast<const Pack<S, N>*>(static_cast<const S*>(x) + at); }
    __device__ __forceinline__ void one(int i, const void* x, i64 at) { raw.at[i] = static_cast<const S*>(x)[at]; }
};

template <int TYPE>
struct Whole {
    template <int N>
    struct Held : Neighbours<TYPE, N> {
        __device__ __forceinline__ void load(const void* x, const Place& place) { this->pack(x, place.position); }
    };
};

template <int TYPE>
struct Single {
    template <int N>
    struct Held : Neighbours<TYPE, 1> {
        __device__ __forceinline__ void load(const void* x, const Place&) { this->one(0, x, 0); }
        __device__ __forceinline__ auto element(int) const { return Neighbours<TYPE, 1>::element(0); }
    };
};

template <int TYPE, int R>
struct Row {
    template <int N>
    struct Held : Neighbours<TYPE, N> {
        __device__ __forceinline__ void load(const void* x, const Place& place) {
            i64 size = place.layout.rows[R];
            i64 at = place.rest(place.position, size);
            if (size % N == 0) {  // then no pack crosses a row
                this->pack(x, at);
            } else {
#pragma unroll
                for (int i = 0; i < N; i++) {
                    this->one(i, x, at);
                    at = at + 1 == size ? 0 : at + 1;
                }
            }
        }
    };
};

template <int TYPE, int G>
struct Walked {
    template <int N>
    struct Held : Neighbours<TYPE, N> {
        __device__ __forceinline__ void load(const void* x, const Place& place) {
            i64 stride = place.layout.strides[G][TENON_DIMS - 1];
            if (place.layout.sizes[TENON_DIMS - 1] % N == 0) {
                if (stride == 1) {
                    this->pack(x, place.walked[G]);
                } else {
#pragma unroll
                    for (int i = 0; i < N; i++) this->one(i, x, place.walked[G] + i * stride);
                }
            } else {
#pragma unroll
                for (int i = 0; i < N; i++) {
                    i64 at[TENON_WALKED];
                    place.walk(place.position + i, at);
                    this->one(i, x, at[G]);
                }
            }
        }
    };
};

// Steps of an element, on variables v0, v1, …; `faults` and `step` are in scope.
#define UNARY(value, type, fn, a, p0, p1) auto v##value = unary_of<type, fn>(v##a, p0, p1);
#define BINARY(value, type, fn, a, b) auto v##value = binary_of<type, fn>(v##a, v##b, faults, step);
#define COMPARE(value, type, fn, a, b) auto v##value = compare_of<type, fn>(v##a, v##b);
#define WHERE(value, c, a, b) auto v##value = v##c != 0 ? v##a : v##b;
#define CAST(value, from, to, a) auto v##value = cast_of<from, to>(v##a);
