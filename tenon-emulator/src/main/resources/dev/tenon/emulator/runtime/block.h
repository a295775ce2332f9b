// A block that runs: its threads as fibres of one worker, their barriers and collectives.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "../include/emulated/abi.h"
#include "fibre.h"
#include "shared.h"

struct Job;
struct Worker;

constexpr uint32_t most_threads = 1024;

enum class State : uint8_t { Fresh, Ready, Barrier, Collective, ActiveMask, Polling, Ended };

struct AsyncCopy {
    uint8_t* to;
    const uint8_t* from;
    uint32_t bytes;
    uint32_t group;
};

// What a lane brings to a collective, and what it takes away.
struct Lane {
    uint64_t value;     // or the address of more
    uint64_t result;
    int32_t selector;   // of shuffles
    int32_t width;
};

// Computes a collective for all lanes that `present` names at once.
using Combine = void (*)(Lane lanes[32], uint32_t present);

// What every switch and every collective touches lies in the first line of the cache.
struct alignas(64) Thread {
    void* stack_pointer;
    Combine combine;
    uint32_t mask;
    int line;  // where it waits
    const char* file;
    uint32_t index, x, y, z;
    State state;

    Stack* stack;
    uint32_t group;  // of the next asynchronous copies
    std::vector<AsyncCopy> copies;
};

// Threads that can go on, each at most once.
class Queue {
public:
    bool empty() const { return head_ == tail_; }
    void push(uint32_t thread) { items_[tail_++ & (most_threads - 1)] = static_cast<uint16_t>(thread); }
    void push_first(uint32_t thread) { items_[--head_ & (most_threads - 1)] = static_cast<uint16_t>(thread); }
    uint32_t pop() { return items_[head_++ & (most_threads - 1)]; }
    void clear() { head_ = tail_ = 0; }

private:
    uint32_t head_ = 0, tail_ = 0;
    uint16_t items_[most_threads];
};

// A barrier of the source: which operation, where it stands, and the call in the kernel's code where that is known.
struct Barrier {
    int kind = 0, site = 0, line = 0;
    const char* file = nullptr;
    const void* call = nullptr;
};

struct Block {
    Job* job = nullptr;
    uint32_t index[3] = {};
    uint32_t count = 0;  // threads
    uint32_t fresh = 0;  // the first that has not started
    uint32_t alive = 0;
    Thread* threads = nullptr;
    Queue ready, pollers;
    Shared shared;

    // The barrier that is being waited at.
    uint32_t waiting = 0, votes = 0;
    int result = 0;
    Barrier at;

    // Threads that ran to the end of the kernel rather than left it by `return`.
    uint32_t ran_through = 0;
    Thread* first_through = nullptr;

    struct Warp {
        uint32_t waiting = 0, gone = 0;  // lanes at a collective; lanes that ended or never were
        Lane lanes[32];
    } warps[32];

    ~Block();
    void start(Job* of, uint64_t number, uint8_t* fixed_shared);
    void release_stacks(Worker* worker);

    // The rest is called on a fibre of this block.
    int barrier(const Barrier& barrier, int predicate);
    // Returns where the lane's result is.
    Lane& collective(Combine combine, const Lane& mine, uint32_t mask, int line, const char* file);
    uint32_t active_mask(int line, const char* file);
    void yield(int line, const char* file);
    void finish(Thread* thread);

    // When nothing can go on: answers one group of __activemask; false when there is none.
    bool resolve_active_mask();
    std::string describe_waiting() const;

private:
    void complete_barrier();
    bool try_collective(uint32_t warp, uint32_t lane);
    void make_ready(Thread& thread);
    void suspend(Thread& thread, State state);
};
