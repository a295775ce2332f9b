#include "check.h"

#include <cstdio>

#include "worker.h"

namespace {
const char* name(Access access) {
    switch (access) {
        case Access::Read: return "a read";
        case Access::Write: return "a write";
        case Access::AtomicRead: return "an atomic read";
        case Access::AtomicStore: return "an atomic write";
        default: return "an atomic update";
    }
}

bool writes(Access access) { return access != Access::Read && access != Access::AtomicRead; }

[[noreturn]] void illegal(uint64_t address, uint64_t bytes, const char* what, const void* caller) {
    Worker* worker = current_worker;
    const Shared& shared = worker->block->shared;
    auto past = [&](const uint8_t* memory, uint32_t size) { return address - reinterpret_cast<uint64_t>(memory) < size + 65536ull && size > 0; };
    bool in_fixed = past(shared.fixed, shared.fixed_bytes);
    if (in_fixed || past(shared.dynamic, shared.dynamic_bytes)) {
        uint64_t at = address - reinterpret_cast<uint64_t>(in_fixed ? shared.fixed : shared.dynamic);
        fail(caller, "illegal address: %s of %llu bytes at offset %llu of the %s shared memory, which has %u bytes", what, static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(at), in_fixed ? "static" : "dynamic", in_fixed ? shared.fixed_bytes : shared.dynamic_bytes);
    }
    if (shared.dynamic_bytes == 0 && past(shared.dynamic, 1)) {
        fail(caller, "illegal address: %s of %llu bytes of dynamic shared memory, of which the launch has none", what, static_cast<unsigned long long>(bytes));
    }
    std::string where = nearest_buffer(address);
    fail(caller, "illegal address: %s of %llu bytes at 0x%llx, %s", what, static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address), where.c_str());
}
}  // namespace

void misaligned(uint64_t address, uint64_t bytes, Access access, const void* caller) {
    if (current_worker == nullptr || current_worker->job == nullptr) {
        __builtin_trap();
    }
    fail(caller, "misaligned address: %s of %llu bytes at 0x%llx", name(access), static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address));
}

void check_elsewhere(uint64_t address, uint64_t bytes, Access access, const void* caller) {
    Worker* worker = current_worker;
    if (worker == nullptr || !worker->in_kernel.load(std::memory_order_relaxed)) {
        return;
    }
    if (worker->on_stack(address)) {
        return;
    }
    Shared& shared = worker->block->shared;
    int64_t at = shared.locate(address, bytes);
    if (at >= 0) {
        if (shared.checked()) {
            shared.note(at, static_cast<uint32_t>(bytes), access, worker->thread->index, caller);
        }
        return;
    }
    if (device_memory.holds(address, bytes)) {
        check_order(address, bytes, access, caller);
        return;
    }
    if (worker->job->launch.module->holds(address, bytes, writes(access))) {
        return;
    }
    illegal(address, bytes, name(access), caller);
}

int64_t check_shared(const void* address, uint32_t bytes, Access access, const char* what, const void* caller) {
    Worker* worker = current_worker;
    uint64_t from = reinterpret_cast<uint64_t>(address);
    if ((from & (bytes - 1)) != 0) {
        fail(caller, "misaligned address: %s with the shared address 0x%llx, which is no multiple of %u", what, static_cast<unsigned long long>(from), bytes);
    }
    Shared& shared = worker->block->shared;
    int64_t at = shared.locate(from, bytes);
    if (at < 0) {
        illegal(from, bytes, what, caller);
    }
    if (shared.checked() && access == Access::Read) {
        shared.note(at, bytes, access, worker->thread->index, caller);
    }
    return at;
}

void check_global(const void* address, uint32_t bytes, const char* what, const void* caller) {
    uint64_t from = reinterpret_cast<uint64_t>(address);
    if ((from & (bytes - 1)) != 0) {
        fail(caller, "misaligned address: %s from 0x%llx, which is no multiple of %u", what, static_cast<unsigned long long>(from), bytes);
    }
    if (!device_memory.holds(from, bytes) && !current_worker->job->launch.module->holds(from, bytes, false)) {
        illegal(from, bytes, what, caller);
    }
    check_order(from, bytes, Access::Read, caller);
}
