#include "order.h"

#include <sys/mman.h>

#include <atomic>

#include "memory.h"
#include "worker.h"

bool order_checked = false;

namespace {
constexpr uint32_t line_bits = 6;
constexpr uint32_t readers = 7;
constexpr uint64_t atomic_bit = 1ull << 63;

// Stamps: whether the access was atomic, the stream, the number of its work; 0 for none.
struct Line {
    std::atomic<uint64_t> write;
    std::atomic<uint64_t> reads[readers];  // by the stream's number, modulo: streams that share a place may hide each other
};

std::atomic<Line*> lines{nullptr};

bool before(uint64_t stamp, const Order& order) {
    uint32_t stream = other_stream(stamp);
    return stream < order.streams && other_number(stamp) <= order.known[stream];
}

uint64_t note(Line& line, Access access, uint64_t stamp, const Order& order) {
    bool reads = access == Access::Read || access == Access::AtomicRead;
    bool atomic = access != Access::Read && access != Access::Write;
    std::atomic<uint64_t>& read = line.reads[order.stream % readers];
    if (reads && read.load(std::memory_order_relaxed) == stamp) {
        return 0;
    }
    uint64_t written = line.write.load(std::memory_order_relaxed);
    bool own = (written & ~atomic_bit) == stamp;
    if (written != 0 && !own && !(atomic && (written & atomic_bit) != 0) && !before(written, order)) {
        return written;
    }
    if (reads) {
        read.store(stamp, std::memory_order_relaxed);
        return 0;
    }
    if (!own) {
        for (const std::atomic<uint64_t>& each : line.reads) {
            uint64_t seen = each.load(std::memory_order_relaxed);
            if (seen != 0 && seen != stamp && !before(seen, order)) {
                return seen;
            }
        }
        line.write.store(stamp | (atomic ? atomic_bit : 0), std::memory_order_relaxed);
    }
    return 0;
}
}  // namespace

bool begin_order() {
    if (!reserve_device()) {
        return false;
    }
    if (lines.load() == nullptr) {
        static_assert(sizeof(Line) == 1 << line_bits);
        void* table = mmap(nullptr, device_memory.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (table == MAP_FAILED) {
            return false;
        }
        Line* none = nullptr;
        if (!lines.compare_exchange_strong(none, static_cast<Line*>(table))) {
            munmap(table, device_memory.size);
        }
        order_checked = true;
    }
    return true;
}

uint64_t note_order(uint64_t address, uint64_t bytes, Access access, const Order& order) {
    uint64_t stamp = static_cast<uint64_t>(order.stream) << 48 | order.number;
    Line* table = lines.load(std::memory_order_relaxed);
    uint64_t first = (address - device_memory.base) >> line_bits;
    uint64_t last = (address + bytes - 1 - device_memory.base) >> line_bits;
    for (uint64_t at = first; at <= last; at++) {
        uint64_t race = note(table[at], access, stamp, order);
        if (race != 0) {
            return race;
        }
    }
    return 0;
}

void forget_order(uint64_t address, uint64_t bytes) {
    Line* table = lines.load();
    if (table != nullptr) {
        madvise(reinterpret_cast<uint8_t*>(table) + (address - device_memory.base), bytes, MADV_DONTNEED);
    }
}

void check_order(uint64_t address, uint64_t bytes, Access access, const void* caller) {
    Worker* worker = current_worker;
    if (worker == nullptr || !worker->in_kernel.load(std::memory_order_relaxed)) {
        return;
    }
    const Order* order = worker->job->launch.order;
    if (order == nullptr || address - device_memory.base >= device_memory.size) {
        return;
    }
    uint64_t race = note_order(address, bytes, access, *order);
    if (race != 0) {
        fail(caller, "race between streams: %llu bytes at 0x%llx, which stream %u accesses in its work %llu; no event makes this work, %llu of stream %u, wait for it",
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address), other_stream(race), static_cast<unsigned long long>(other_number(race)),
             static_cast<unsigned long long>(order->number), order->stream);
    }
}
