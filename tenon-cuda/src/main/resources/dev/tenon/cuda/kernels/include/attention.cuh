// What the attention kernels share: where operands lie, and which scores a query sees.
#pragma once
#include "pack.cuh"

// An operand [batch, token, head, element] with its strides in elements; elements are neighbours.
template <typename T>
struct Heads {
    T* at;
    i64 batch;
    i64 token;
    i64 head;

    __device__ __forceinline__ T* row(i64 b, i64 t, i64 h) const { return at + b * batch + t * token + h * head; }
};

enum MaskKind { MASK_NONE = 0, MASK_ADDED = 1, MASK_BOOLEAN = 2 };

// The rules by which a query sees keys: bottom-right causal, sliding window, soft cap, mask. Scores come in scaled.
template <typename T, typename A>
struct Seen {
    const void* mask;  // T or u8, broadcast by strides of 0
    i64 mask_batch;
    i64 mask_head;
    i64 mask_query;
    i64 mask_key;
    int kind;
    int causal;
    i64 window;  // 0 for none
    i64 queries;
    i64 keys;
    A cap;  // 0 for none

    __device__ __forceinline__ i64 position(i64 query) const { return query + keys - queries; }

    // The keys [first, end) that some query of [from, to] may see.
    __device__ __forceinline__ i64 end(i64 to) const {
        i64 all = causal ? position(to) + 1 : keys;
        return all < 0 ? 0 : all < keys ? all : keys;
    }

    __device__ __forceinline__ i64 first(i64 from) const {
        i64 start = window > 0 ? position(from) - window + 1 : 0;
        return start < 0 ? 0 : start;
    }

    // The scaled score of a pair in bounds, with cap and mask; -inf where the query does not see the key.
    __device__ __forceinline__ A score(A scaled, i64 b, i64 h, i64 query, i64 key) const {
        A s = cap > A(0) ? cap * tanh(scaled / cap) : scaled;
        i64 at = b * mask_batch + h * mask_head + query * mask_query + key * mask_key;
        if (kind == MASK_ADDED) s += to_compute(static_cast<const T*>(mask)[at]);
        bool sees = (!causal || key <= position(query)) && (window == 0 || key > position(query) - window);
        if (kind == MASK_BOOLEAN) sees = sees && static_cast<const u8*>(mask)[at] != 0;
        return sees ? s : A(-TENON_INFINITY);
    }
};
