#include "block.h"

#include <cstdio>
#include <cstring>

#include "worker.h"

Block::~Block() { delete[] threads; }

void Block::start(Job* of, uint64_t number, uint8_t* fixed_shared) {
    job = of;
    const Launch& launch = of->launch;
    index[0] = static_cast<uint32_t>(number % launch.grid[0]);
    index[1] = static_cast<uint32_t>(number / launch.grid[0] % launch.grid[1]);
    index[2] = static_cast<uint32_t>(number / launch.grid[0] / launch.grid[1]);
    count = alive = launch.block[0] * launch.block[1] * launch.block[2];
    fresh = waiting = votes = ran_through = 0;
    first_through = nullptr;
    ready.clear();
    pollers.clear();
    if (threads == nullptr) {
        threads = new Thread[most_threads]();
    }
    uint32_t x = 0, y = 0, z = 0;
    for (uint32_t i = 0; i < count; i++) {
        Thread& thread = threads[i];
        thread.index = i;
        thread.x = x;
        thread.y = y;
        thread.z = z;
        thread.state = State::Fresh;
        thread.stack = nullptr;
        thread.group = 0;
        thread.copies.clear();
        if (++x == launch.block[0]) {
            x = 0;
            if (++y == launch.block[1]) {
                y = 0;
                z++;
            }
        }
    }
    for (uint32_t warp = 0; warp * 32 < count; warp++) {
        uint32_t lanes = count - warp * 32;
        warps[warp].waiting = 0;
        warps[warp].gone = lanes >= 32 ? 0 : ~0u << lanes;
    }
    shared.start(fixed_shared, launch.module->shared_bytes, launch.shared_bytes);
}

void Block::release_stacks(Worker* worker) {
    for (uint32_t i = 0; i < count; i++) {
        if (threads[i].stack != nullptr) {
            worker->stacks.give(threads[i].stack);
            threads[i].stack = nullptr;
        }
    }
}

void Block::make_ready(Thread& thread) {
    thread.state = State::Ready;
    ready.push(thread.index);
}

void Block::suspend(Thread& thread, State state) {
    if (job->failed.load(std::memory_order_relaxed)) {
        abandon();
    }
    thread.state = state;
    current_worker->pass(&thread.stack_pointer);
}

namespace {
// What makes threads at one barrier and threads at another divergent; null for the same barrier.
const char* difference(const Barrier& a, const Barrier& b) {
    if (a.line != b.line || (a.file != b.file && strcmp(a.file, b.file) != 0)) {
        return "at another one";
    }
    return a.site != b.site || a.kind != b.kind ? "at another one of the same line" : a.call != b.call ? "at this one, in another branch" : nullptr;
}
}  // namespace

int Block::barrier(const Barrier& barrier, int predicate) {
    Thread& thread = *current_worker->thread;
    thread.line = barrier.line;
    thread.file = barrier.file;
    if (ran_through > 0) {
        fail_at(barrier.line, barrier.file, "divergent barrier: thread (%u,%u,%u) ran to the end of the kernel without it", first_through->x, first_through->y,
                first_through->z);
    }
    if (waiting == 0) {
        at = barrier;
        votes = 0;
    } else if (const char* where = difference(at, barrier)) {
        fail_at(barrier.line, barrier.file, "divergent barrier: %u threads of the block wait %s, %s:%d", waiting, where, at.file, at.line);
    }
    waiting++;
    votes += predicate != 0;
    if (waiting == alive) {
        complete_barrier();
    } else {
        suspend(thread, State::Barrier);
    }
    return result;
}

void Block::complete_barrier() {
    uint32_t arrived = waiting;
    result = at.kind == 1 ? votes > 0 : at.kind == 2 ? votes == arrived : static_cast<int>(votes);
    waiting = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (threads[i].state == State::Barrier) {
            make_ready(threads[i]);
        }
    }
    if (shared.checked()) {
        shared.renew();
        shared.clock.at_barrier();
    }
    current_worker->advance();
}

void Block::finish(Thread* thread) {
    thread->state = State::Ended;
    thread->stack = nullptr;
    alive--;
    current_worker->advance();
    Warp& warp = warps[thread->index >> 5];
    warp.gone |= 1u << (thread->index & 31);
    if (job->checked() && (tenon_thread.left == nullptr || strcmp(tenon_thread.left, job->launch.entry->name) != 0)) {
        if (ran_through++ == 0) {
            first_through = thread;
        }
        if (waiting > 0) {
            fail_at(at.line, at.file, "divergent barrier: this thread ran to the end of the kernel, %u threads of the block wait", waiting);
        }
    }
    if (waiting > 0 && waiting == alive) {
        complete_barrier();
    }
    for (uint32_t left = warp.waiting; left != 0; left &= left - 1) {
        uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
        if ((warp.waiting >> lane & 1) != 0) {
            try_collective(thread->index >> 5, lane);
        }
    }
}

void Block::yield(int at_line, const char* at_file) {
    Thread& thread = *current_worker->thread;
    thread.line = at_line;
    thread.file = at_file;
    pollers.push(thread.index);
    suspend(thread, State::Polling);
}

namespace {
void add_place(std::string& text, const Thread& thread, uint32_t threads, const char* what) {
    char part[200];
    snprintf(part, sizeof part, "%s%u thread%s at %s %s:%d (the first is (%u,%u,%u)", text.empty() ? "" : ", ", threads, threads == 1 ? " waits" : "s wait", what,
             thread.file == nullptr ? "?" : thread.file, thread.line, thread.x, thread.y, thread.z);
    text += part;
    if (thread.state == State::Collective) {
        snprintf(part, sizeof part, ", mask 0x%08x", thread.mask);
        text += part;
    }
    text += ")";
}
}  // namespace

std::string Block::describe_waiting() const {
    std::string text;
    std::vector<bool> told(count);
    for (uint32_t i = 0; i < count && text.size() < 700; i++) {
        const Thread& first = threads[i];
        if (told[i] || (first.state != State::Barrier && first.state != State::Collective)) {
            continue;
        }
        uint32_t same = 0;
        for (uint32_t j = i; j < count; j++) {
            const Thread& other = threads[j];
            if (other.state == first.state && other.line == first.line && (first.state == State::Barrier || other.mask == first.mask)) {
                told[j] = true;
                same++;
            }
        }
        add_place(text, first, same, first.state == State::Barrier ? "the barrier" : "the warp collective");
    }
    return text;
}
