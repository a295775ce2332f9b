#include "shared.h"

#include <sys/mman.h>

#include <cstring>

#include "fault.h"

namespace {
constexpr uint32_t gap = 4096;

// Flags of a write's stamp.
constexpr uint32_t atomic = Clock::flag_a, on_its_way = Clock::flag_b;
// Flags of a read's stamp: other threads of the warp, of other warps, read at that time too.
constexpr uint32_t many = Clock::flag_a, many_warps = Clock::flag_b;

uint8_t* map(uint64_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}
}  // namespace

bool Shared::reserve(uint32_t dynamic, bool checked) {
    uint32_t entries = most_fixed + dynamic;
    if (memory_ != nullptr && dynamic <= entries_ - most_fixed && (!checked || writes_ != nullptr)) {
        return true;
    }
    if (memory_ != nullptr) {
        munmap(memory_, mapped_);
        memory_ = nullptr;
        writes_ = reads_ = nullptr;
    }
    uint64_t data = (dynamic + 2 * gap - 1) / gap * gap;
    mapped_ = data + (checked ? 2ull * entries * sizeof(uint32_t) : 0);
    memory_ = map(mapped_);
    if (memory_ == nullptr) {
        return false;
    }
    this->dynamic = memory_;
    entries_ = entries;
    clock = Clock();
    if (checked) {
        writes_ = reinterpret_cast<uint32_t*>(memory_ + data);
        reads_ = writes_ + entries;
    }
    return true;
}

Shared::~Shared() {
    if (memory_ != nullptr) {
        munmap(memory_, mapped_);
    }
}

void Shared::start(uint8_t* fixed_memory, uint32_t fixed_size, uint32_t dynamic_size) {
    fixed = fixed_memory;
    fixed_bytes = fixed_size;
    dynamic_bytes = dynamic_size;
    if (fixed_size > 0) {
        memset(fixed, 0xff, fixed_size);
    }
    if (dynamic_size > 0) {
        memset(dynamic, 0xff, dynamic_size);
    }
    if (clock.full() && writes_ != nullptr) {
        memset(writes_, 0, 2ull * entries_ * sizeof(uint32_t));
        clock = Clock();
    }
    clock.begin_block();
}

void Shared::rebase() {
    for (uint32_t i = 0; i < 2 * entries_; i++) {
        uint32_t stamp = writes_[i];
        writes_[i] = Clock::time(stamp) < clock.start ? 0 : 1u << 12 | (stamp & 0xfff);
    }
    clock.now = 2;
    clock.start = 1;
    clock.barrier = 2;
    for (uint32_t& warp : clock.warps) {
        warp = 2;
    }
}

void Shared::note(int64_t at, uint32_t bytes, Access access, uint32_t thread, const void* caller) {
    bool write = access != Access::Read && access != Access::AtomicRead;
    bool needs_value = access != Access::Write && access != Access::AtomicStore;
    bool is_atomic = access != Access::Read && access != Access::Write;
    uint32_t mine = clock.stamp(thread, is_atomic ? atomic : 0);
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t& last_write = writes_[at + i];
        uint32_t& last_read = reads_[at + i];
        if (needs_value && Clock::time(last_write) < clock.start) {
            fail(caller, "uninitialised shared memory: a read of %u bytes at offset %lld of the %s shared memory, which nothing of this block has written",
                 bytes, static_cast<long long>(at < most_fixed ? at : at - most_fixed), at < most_fixed ? "static" : "dynamic");
        }
        if ((last_write & on_its_way) != 0 && Clock::time(last_write) >= clock.start) {
            fail(caller, "pending copy: %s of shared memory that an asynchronous copy of thread %u has not filled yet (copy_async_wait, then a barrier)",
                 write ? "a write" : "a read", Clock::thread(last_write));
        }
        if (clock.concurrent(last_write, thread) && !(is_atomic && (last_write & atomic) != 0)) {
            race(at + i, write ? "a write after a write" : "a read after a write", last_write, caller);
        }
        if (write) {
            bool read_by_others = clock.concurrent(last_read, thread)
                                  || ((last_read & many) != 0 && Clock::time(last_read) >= clock.barrier && Clock::time(last_read) >= clock.warps[thread >> 5])
                                  || ((last_read & many_warps) != 0 && Clock::time(last_read) >= clock.barrier);
            if (read_by_others) {
                race(at + i, "a write after a read", last_read, caller);
            }
            last_write = mine;
        } else if (!is_atomic) {
            uint32_t flags = 0;
            if (clock.concurrent(last_read, thread)) {
                flags = (last_read & many_warps) | (Clock::thread(last_read) >> 5 == thread >> 5 ? many : many_warps);
            } else if (Clock::time(last_read) >= clock.barrier) {
                flags = last_read & 3;
            }
            last_read = clock.stamp(thread, flags);
        }
    }
}

void Shared::pending(int64_t at, uint32_t bytes, uint32_t thread, const void* caller) {
    note(at, bytes, Access::Write, thread, caller);
    for (uint32_t i = 0; i < bytes; i++) {
        writes_[at + i] |= on_its_way;
    }
}

void Shared::arrived(int64_t at, uint32_t bytes, uint32_t thread) {
    for (uint32_t i = 0; i < bytes; i++) {
        writes_[at + i] = clock.stamp(thread, 0);
    }
}

void Shared::race(int64_t at, const char* what, uint32_t other, const void* caller) const {
    bool is_fixed = at < most_fixed;
    fail(caller, "shared-memory race: %s of thread %u with no barrier between, byte %lld of the %s shared memory", what, Clock::thread(other),
         static_cast<long long>(is_fixed ? at : at - most_fixed), is_fixed ? "static" : "dynamic");
}
