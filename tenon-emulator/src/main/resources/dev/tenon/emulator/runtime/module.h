// A loaded kernel object: its entries, its globals, where its shared memory lies.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "../include/emulated/abi.h"

struct Module {
    struct Range {
        uint64_t low, high;
        bool writable, code;
        bool holds(uint64_t address, uint64_t bytes) const { return address >= low && address < high && bytes <= high - address; }
    };

    std::string path;
    void* handle = nullptr;
    uint64_t base = 0;
    std::vector<const TenonEntry*> entries;
    std::vector<Range> ranges;
    uint32_t shared_bytes = 0;  // of all kernels of the object: they share one thread-local segment
    uint64_t tls_module = 0;

    // The calling thread's copy of the shared memory.
    uint8_t* shared() const;
    bool runs(uint64_t address) const;
    // Whether a global of the object lies there.
    bool holds(uint64_t address, uint64_t bytes, bool write) const;
};

// Null and a message when the host refuses it.
Module* load_module(const char* path, std::string& message);
void unload_module(Module* module);
