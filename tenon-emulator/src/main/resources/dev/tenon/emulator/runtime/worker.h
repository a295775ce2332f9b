// A worker thread and the fibre that it runs.
#pragma once
#include <pthread.h>

#include <atomic>

#include "block.h"
#include "fault.h"
#include "module.h"
#include "order.h"

struct Pool;

struct Launch {
    const TenonEntry* entry;
    Module* module;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    uint32_t cooperative;
    const Order* order;  // null where the order between streams is not checked
};

struct Job {
    Launch launch;
    void* const* arguments;
    Fault* fault;
    uint64_t blocks;
    std::atomic<uint64_t> next{0};
    std::atomic<bool> failed{false};
    uint32_t running = 0;  // workers in it; these two under the pool's lock
    uint64_t taken = 0;    // bits of the workers that had their share of a cooperative launch

    bool checked() const { return launch.entry->checked != 0; }
};

struct Worker {
    static constexpr size_t rescue_bytes = 64 * 1024;

    Pool* pool;
    uint32_t number;
    pthread_t handle;
    Stacks stacks;
    Block own;           // reused for block after block
    uint8_t* rescue;     // the stack on which faults of the host are turned into ours
    uint8_t* signal_stack;

    Job* job = nullptr;
    Block* block = nullptr;
    Thread* thread = nullptr;
    Stack* incoming = nullptr;  // of the fibre about to start
    void* main = nullptr;       // the scheduler's own state
    std::atomic<bool> in_kernel{false};
    std::atomic<uint64_t> progress{0};  // written by the worker alone

    void advance() { progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

    // What the host's fault was.
    int signal = 0;
    uint64_t signal_address = 0, signal_at = 0;

    bool on_stack(uint64_t address) const { return address - reinterpret_cast<uint64_t>(thread->stack->low) < thread->stack->bytes; }
    void run_job();
    // Saves the running fibre and lets the next of its block go on, or the scheduler.
    void pass(void** save);
    void enter(Thread* thread);

private:
    bool step(Block& block);
    void run_blocks();
    void run_together();
    void idle(uint64_t& seen, int64_t& since);
};

extern constinit thread_local Worker* current_worker;

// Back to the scheduler, for good.
[[noreturn]] void abandon();
