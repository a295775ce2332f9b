#include "worker.h"

#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <memory>

#include "pool.h"

constinit thread_local Worker* current_worker = nullptr;
thread_local TenonThread tenon_thread;

namespace {
constexpr uint32_t spins_a_turn = 256;

int64_t milliseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Runs threads of the block that have not started, one after the other, as long as they do not wait.
void fibre_main() {
    Worker* worker = current_worker;
    Stack* stack = worker->incoming;
    Block* block = worker->block;
    do {
        Thread* thread = &block->threads[block->fresh++];
        thread->stack = stack;
        worker->enter(thread);
        worker->job->launch.entry->call(worker->job->arguments);
        block->finish(thread);
    } while (block->ready.empty() && block->fresh < block->count);
    worker->stacks.give(stack);
    void* nowhere;
    worker->pass(&nowhere);
}
}  // namespace

void abandon() {
    Worker* worker = current_worker;
    worker->in_kernel.store(false, std::memory_order_relaxed);
    void* nowhere;
    tenon_switch(&nowhere, worker->main);
    __builtin_unreachable();
}

void Worker::enter(Thread* next) {
    thread = next;
    tenon_thread.thread[0] = next->x;
    tenon_thread.thread[1] = next->y;
    tenon_thread.thread[2] = next->z;
    tenon_thread.left = nullptr;
    tenon_thread.spins = spins_a_turn;
}

void Worker::pass(void** save) {
    if (!block->ready.empty()) {
        Thread* next = &block->threads[block->ready.pop()];
        enter(next);
        tenon_switch(save, next->stack_pointer);
    } else if (block->fresh < block->count) {
        Stack* stack = stacks.take();
        if (stack == nullptr) {
            fail(nullptr, "the host has no memory for the stack of another thread");
        }
        incoming = stack;
        tenon_switch(save, stack->prepared(fibre_main));
    } else {
        in_kernel.store(false, std::memory_order_relaxed);
        tenon_switch(save, main);
    }
}

// Runs the block until all its threads ended (true), or none can go on now.
bool Worker::step(Block& next) {
    block = &next;
    memcpy(tenon_thread.block, next.index, sizeof tenon_thread.block);
    tenon_thread.dynamic_shared = next.shared.dynamic;
    for (;;) {
        if (!next.ready.empty() || next.fresh < next.count) {
            in_kernel.store(true, std::memory_order_relaxed);
            pass(&main);
        }
        if (job->failed.load(std::memory_order_relaxed)) {
            return false;
        }
        if (next.alive == 0) {
            return true;
        }
        if (next.resolve_active_mask()) {
            continue;
        }
        if (next.pollers.empty()) {
            for (uint32_t i = 0; i < next.count; i++) {
                if (next.threads[i].state != State::Ended) {
                    thread = &next.threads[i];
                    break;
                }
            }
            report(thread->line, thread->file, "deadlock: %s", next.describe_waiting().c_str());
        }
        return false;
    }
}

void Worker::idle(uint64_t& seen, int64_t& since) {
    uint64_t progress_now = pool->progress();
    if (progress_now != seen || since == 0) {
        seen = progress_now;
        since = milliseconds();
    } else if (milliseconds() - since > pool->spin_milliseconds) {
        std::string others = block->describe_waiting();
        report(thread->line, thread->file, "endless wait: the thread waits in a loop for something that no running thread does%s%s; blocks of an ordinary launch cannot wait for one another",
               others.empty() ? "" : "; ", others.c_str());
    }
    sched_yield();
}

void Worker::run_job() {
    memcpy(tenon_thread.block_dim, job->launch.block, sizeof tenon_thread.block_dim);
    memcpy(tenon_thread.grid_dim, job->launch.grid, sizeof tenon_thread.grid_dim);
    if (job->launch.cooperative) {
        run_together();
    } else {
        run_blocks();
    }
    block = nullptr;
    thread = nullptr;
}

namespace {
// Lets waiting threads try again.
void wake_pollers(Block& block) {
    while (!block.pollers.empty()) {
        uint32_t next = block.pollers.pop();
        block.threads[next].state = State::Ready;
        block.ready.push(next);
    }
}
}  // namespace

void Worker::run_blocks() {
    if (!own.shared.reserve(job->launch.shared_bytes, job->checked())) {
        report(0, nullptr, "the host has no memory for the block's shared memory");
        return;
    }
    uint8_t* fixed = job->launch.module->shared();
    for (uint64_t next = job->next.fetch_add(1); next < job->blocks && !job->failed; next = job->next.fetch_add(1)) {
        own.start(job, next, fixed);
        uint64_t seen = 0;
        int64_t since = 0;
        while (!step(own) && !job->failed) {
            idle(seen, since);
            wake_pollers(own);
        }
        own.release_stacks(this);
    }
}

// All blocks of a cooperative launch are resident: this worker's share takes turns. They share its thread-local memory, so each block's
// static shared memory is put there for its turn.
void Worker::run_together() {
    struct Resident {
        Block block;
        std::vector<uint8_t> fixed;
        bool ended = false;
    };
    uint8_t* fixed = job->launch.module->shared();
    uint32_t fixed_bytes = job->launch.module->shared_bytes;
    std::vector<std::unique_ptr<Resident>> residents;
    for (uint64_t next = number; next < job->blocks; next += pool->size()) {
        residents.push_back(std::make_unique<Resident>());
        Resident& resident = *residents.back();
        if (!resident.block.shared.reserve(job->launch.shared_bytes, job->checked())) {
            report(0, nullptr, "the host has no memory for the shared memory of all blocks");
            return;
        }
        resident.block.start(job, next, fixed);
        resident.fixed.assign(fixed, fixed + fixed_bytes);
    }
    uint64_t seen = 0;
    int64_t since = 0;
    for (size_t left = residents.size(); left > 0 && !job->failed;) {
        for (auto& resident : residents) {
            if (resident->ended || job->failed) {
                continue;
            }
            memcpy(fixed, resident->fixed.data(), fixed_bytes);
            if (step(resident->block)) {
                resident->ended = true;
                left--;
            }
            memcpy(resident->fixed.data(), fixed, fixed_bytes);
            wake_pollers(resident->block);
        }
        if (left > 0 && !job->failed) {
            idle(seen, since);
        }
    }
    for (auto& resident : residents) {
        resident->block.release_stacks(this);
    }
}

extern "C" {
int tenon_barrier(int kind, int predicate, int site, int line, const char* file) {
    Block* block = current_worker->block;
    // the call, too: a function with a barrier may have been called, and inlined, in both arms of a branch
    return block->barrier({kind, site, line, file, block->job->checked() ? __builtin_return_address(0) : nullptr}, predicate);
}

void tenon_yield_at(int line, const char* file) { current_worker->block->yield(line, file); }

void tenon_spin() {
    if (tenon_thread.spins-- == 0) {
        tenon_thread.spins = spins_a_turn;
        Worker* worker = current_worker;
        if (worker != nullptr && worker->in_kernel.load(std::memory_order_relaxed)) {
            worker->block->yield(0, nullptr);
        }
    }
}

void tenon_meeting(unsigned int blocks, int line, const char* file) {
    const Job& job = *current_worker->job;
    if (!job.launch.cooperative && blocks > 1) {
        fail_at(line, file, "meeting of %u blocks: the launch is not cooperative, so they do not all run at once", blocks);
    }
    if (blocks > job.blocks) {
        fail_at(line, file, "meeting of %u blocks: the launch has %llu", blocks, static_cast<unsigned long long>(job.blocks));
    }
}

long long tenon_clock() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void tenon_trap(int line, const char* file) { fail_at(line, file, "trap: the kernel ended itself (an assertion, or __trap)"); }
}
