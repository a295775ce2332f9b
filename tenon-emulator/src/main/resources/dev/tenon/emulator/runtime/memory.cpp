#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "order.h"

DeviceMemory device_memory;

namespace {
struct Piece {
    uint64_t bytes;     // asked for
    uint64_t reserved;  // whole pages, with the red zone
    bool live;
};

std::mutex mutex;
// Live pieces and lately freed ones: so a late access can be told from a wild one.
std::map<uint64_t, Piece>& pieces = *new std::map<uint64_t, Piece>();
std::deque<uint64_t>& freed = *new std::deque<uint64_t>();  // the oldest are forgotten
constexpr size_t remembered = 4096;
uint64_t next_free = 0;
constexpr uint64_t page = 4096;
constexpr uint64_t large = 16 << 20;

bool reserve() {
    for (uint64_t size = 1ull << 42; size >= 1ull << 33; size >>= 1) {
        void* range = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) {
            continue;
        }
        void* table = mmap(nullptr, (size >> granule_bits) * sizeof(uint16_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (table == MAP_FAILED) {
            munmap(range, size);
            continue;
        }
        device_memory.valid = static_cast<uint16_t*>(table);
        device_memory.base = reinterpret_cast<uint64_t>(range);
        device_memory.size = size;
        next_free = device_memory.base;
        return true;
    }
    return false;
}

void mark(uint64_t address, uint64_t bytes, bool live) {
    uint16_t* valid = device_memory.valid + ((address - device_memory.base) >> granule_bits);
    if (!live && bytes >= large) {  // whole pages of the table go back to the host, and read as zero
        uint64_t from = reinterpret_cast<uint64_t>(valid);
        uint64_t to = from + (bytes >> granule_bits) * sizeof(uint16_t);
        uint64_t first = (from + page - 1) / page * page;
        madvise(reinterpret_cast<void*>(first), to / page * page - first, MADV_DONTNEED);
    }
    for (uint64_t i = 0; i < bytes; i += granule) {
        valid[i >> granule_bits] = live ? static_cast<uint16_t>(bytes - i < granule ? bytes - i : granule) : 0;
    }
}

// A place after the last one given, so that freed addresses stay unused for as long as there are others.
uint64_t place(uint64_t reserved) {
    uint64_t end = device_memory.base + device_memory.size;
    for (int round = 0; round < 2; round++) {
        uint64_t at = next_free;
        while (reserved <= end - at) {
            auto it = pieces.lower_bound(at);
            uint64_t blocked = 0;
            for (; it != pieces.end() && it->first < at + reserved; ++it) {
                if (it->second.live) {
                    blocked = it->first + it->second.reserved;
                    break;
                }
            }
            if (blocked == 0) {
                pieces.erase(pieces.lower_bound(at), pieces.lower_bound(at + reserved));
                return at;
            }
            at = blocked;
        }
        next_free = device_memory.base;
    }
    return 0;
}
}  // namespace

bool reserve_device() {
    std::lock_guard lock(mutex);
    return device_memory.size != 0 || reserve();
}

uint64_t allocate_device(uint64_t bytes, bool poison) {
    std::lock_guard lock(mutex);
    if ((device_memory.size == 0 && !reserve()) || bytes > device_memory.size) {
        return 0;
    }
    uint64_t reserved = (bytes + granule + page - 1) / page * page;
    uint64_t address = place(reserved);
    void* memory = reinterpret_cast<void*>(address);
    if (address == 0 || mprotect(memory, reserved, PROT_READ | PROT_WRITE) != 0) {
        return 0;
    }
    forget_order(address, reserved);
    pieces[address] = {bytes, reserved, true};
    next_free = address + reserved;
    mark(address, bytes, true);
    if (poison) {
        memset(memory, 0xff, bytes);
    }
    return address;
}

void free_device(uint64_t address) {
    std::lock_guard lock(mutex);
    auto it = pieces.find(address);
    if (it == pieces.end() || !it->second.live) {
        return;
    }
    it->second.live = false;
    mark(address, it->second.bytes, false);
    // The pages stay readable: work that still runs must not bring the process down.
    madvise(reinterpret_cast<void*>(address), it->second.reserved, MADV_DONTNEED);
    freed.push_back(address);
    if (freed.size() > remembered) {
        auto oldest = pieces.find(freed.front());
        if (oldest != pieces.end() && !oldest->second.live) {
            pieces.erase(oldest);
        }
        freed.pop_front();
    }
}

std::string nearest_buffer(uint64_t address) {
    std::lock_guard lock(mutex);
    char text[160];
    if (address - device_memory.base >= device_memory.size) {
        return address < 4096 ? "which is near null" : "which is no device memory";
    }
    auto after = pieces.upper_bound(address);
    if (after != pieces.begin()) {
        auto it = std::prev(after);
        uint64_t end = it->first + it->second.bytes;
        if (!it->second.live && address < end) {
            snprintf(text, sizeof text, "in a buffer of %llu bytes at 0x%llx that was freed", static_cast<unsigned long long>(it->second.bytes), static_cast<unsigned long long>(it->first));
            return text;
        }
        if (it->second.live && (address < it->first + it->second.reserved || after == pieces.end())) {
            snprintf(text, sizeof text, "%llu bytes past the end of the buffer of %llu bytes at 0x%llx",
                     static_cast<unsigned long long>(address < end ? 0 : address - end), static_cast<unsigned long long>(it->second.bytes), static_cast<unsigned long long>(it->first));
            return text;
        }
    }
    if (after != pieces.end()) {
        snprintf(text, sizeof text, "%llu bytes before the%s buffer of %llu bytes at 0x%llx", static_cast<unsigned long long>(after->first - address),
                 after->second.live ? "" : " freed", static_cast<unsigned long long>(after->second.bytes), static_cast<unsigned long long>(after->first));
        return text;
    }
    return "which is in no buffer";
}
