// Sequences of their own lengths: the tokens of all lie one after the other, those of sequence b from query_offsets[b] to query_offsets[b + 1],
// and so do keys and values; or these lie in pages, which a table names. What offsets, lengths and pages say is checked before it is used.
#pragma once
#include "attention.cuh"

struct Sequences {
    const i32* query_offsets;  // [count + 1]
    const i32* key_offsets;    // [count + 1]; with pages lengths, [count]
    const i32* pages;          // [count, columns]; null where a sequence's keys are neighbours
    i64 count;
    i64 queries;  // tokens of all sequences
    i64 keys;     // tokens; with pages how many pages there are
    i64 columns;
    i64 page;     // tokens of a page
    i64 longest;  // most queries of a sequence
    void* faults;
    i32 step;
};

struct Sequence {
    i64 query;
    i64 queries;
    i64 key;
    i64 keys;
    const i32* pages;

    // Its tokens of an operand of queries.
    template <typename T>
    __device__ __forceinline__ Heads<T> own(T* at, i64 token, i64 head) const {
        return {at + query * token, 0, token, head, nullptr, 0};
    }

    // Its keys or values.
    template <typename T>
    __device__ __forceinline__ Heads<T> others(T* at, i64 each, i64 token, i64 head, i64 page) const {
        return {at + key * token, each, token, head, pages, static_cast<u32>(page < 0x7fffffff ? page : 0x7fffffff)};
    }
};

// Where sequence b lies. One that lies elsewhere than its operands is reported, and false. All threads of a block call.
__device__ __forceinline__ bool find(const Sequences& all, i64 b, Sequence& one) {
    i64 from = all.query_offsets[b];
    i64 to = all.query_offsets[b + 1];
    bool valid = 0 <= from && from <= to && to <= all.queries && to - from <= all.longest;
    one.query = from;
    one.queries = to - from;
    one.pages = nullptr;
    if (all.pages) {
        one.key = 0;
        one.keys = all.key_offsets[b];
        one.pages = all.pages + b * all.columns;
        valid = valid && 0 <= one.keys && one.keys <= all.columns * all.page;
        i64 used = valid ? (one.keys + all.page - 1) / all.page : 0;
        bool bad = !valid;
        for (i64 i = threadIdx.x; i < used; i += blockDim.x) bad = bad || one.pages[i] < 0 || one.pages[i] >= all.keys;
        valid = !__syncthreads_or(bad);
    } else {
        one.key = all.key_offsets[b];
        i64 end = all.key_offsets[b + 1];
        one.keys = end - one.key;
        valid = valid && 0 <= one.key && one.key <= end && end <= all.keys;
    }
    if (!valid && threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0) report_fault(all.faults, all.step, b);
    return valid;
}

// Zeros for the tokens [from, to) of y, by all blocks of a plane of the grid.
template <typename T>
__device__ __forceinline__ void clear(T* y, i64 token, i64 head, i64 from, i64 to, int heads, int dv) {
    i64 row = static_cast<i64>(heads) * dv;
    i64 threads = static_cast<i64>(gridDim.x) * gridDim.y * blockDim.x;
    i64 first = (static_cast<i64>(blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    for (i64 i = first; i < (to - from) * row; i += threads) {
        i64 t = i / row;
        i64 rest = i - t * row;
        y[(from + t) * token + rest / dv * head + rest % dv] = From<T>::of(0.0f);
    }
}

// Zeros for the tokens of no sequence.
template <typename T>
__device__ __forceinline__ void clear_others(const Sequences& all, T* y, i64 token, i64 head, int heads, int dv) {
    i64 first = all.count == 0 ? 0 : all.query_offsets[0];
    i64 end = all.count == 0 ? 0 : all.query_offsets[all.count];
    if (blockIdx.z != 0 || first < 0 || first > end || end > all.queries) return;
    clear(y, token, head, 0, first, heads, dv);
    clear(y, token, head, end, all.queries, heads, dv);
}
