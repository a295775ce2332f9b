// What the JVM calls. Handles are opaque; messages go into the caller's buffer, cut to its size.
#include <cstdio>

#include "memory.h"
#include "pool.h"

struct Description {
    uint64_t name;
    uint64_t sizes;
    uint32_t parameters;
    uint32_t checked;
};

#pragma GCC visibility push(default)
extern "C" {
void* tenon_pool_open(uint32_t workers, int64_t watchdog_milliseconds, int64_t spin_milliseconds) {
    return Pool::open(workers, watchdog_milliseconds, spin_milliseconds);
}

void tenon_pool_close(void* pool) { delete static_cast<Pool*>(pool); }

uint64_t tenon_allocate(uint64_t bytes, int32_t poison) { return allocate_device(bytes, poison != 0); }

void tenon_free(uint64_t address) { free_device(address); }

// The number of entries, or -1 and a message.
int32_t tenon_module_load(const char* path, void** module, uint32_t* shared_bytes, char* message, uint32_t capacity) {
    std::string why;
    Module* loaded = load_module(path, why);
    if (loaded == nullptr) {
        snprintf(message, capacity, "%s", why.c_str());
        return -1;
    }
    *module = loaded;
    *shared_bytes = loaded->shared_bytes;
    return static_cast<int32_t>(loaded->entries.size());
}

void tenon_module_unload(void* module) { unload_module(static_cast<Module*>(module)); }

void* tenon_module_entry(void* module, uint32_t number, Description* description) {
    const TenonEntry* entry = static_cast<Module*>(module)->entries[number];
    description->name = reinterpret_cast<uint64_t>(entry->name);
    description->sizes = reinterpret_cast<uint64_t>(entry->sizes);
    description->parameters = entry->parameters;
    description->checked = entry->checked;
    return const_cast<TenonEntry*>(entry);
}

// Checks the order between streams from now on; 0 when the host has no room for that.
int32_t tenon_order_begin() { return begin_order() ? 1 : 0; }

// Notes an access of work that is no kernel; 0, or the stream + 1 of the work that it races with.
int32_t tenon_order_note(uint64_t address, uint64_t bytes, int32_t writes, const Order* order) {
    uint64_t race = bytes == 0 ? 0 : note_order(address, bytes, writes != 0 ? Access::Write : Access::Read, *order);
    return race == 0 ? 0 : static_cast<int32_t>(other_stream(race)) + 1;
}

// 0, or 1 and `fault` filled.
int32_t tenon_launch(void* pool, const Launch* launch, void** arguments, Fault* fault) {
    return static_cast<Pool*>(pool)->run(*launch, arguments, fault) ? 0 : 1;
}
}
#pragma GCC visibility pop
