#include "module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <mutex>

namespace {
std::mutex loading;
std::vector<const TenonEntry*>* announced = nullptr;

struct TlsIndex {
    unsigned long module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex*);

int read_segments(dl_phdr_info* info, size_t, void* data) {
    Module* module = static_cast<Module*>(data);
    if (info->dlpi_addr != module->base) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        uint64_t low = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD) {
            module->ranges.push_back({low, low + segment.p_memsz, (segment.p_flags & PF_W) != 0, (segment.p_flags & PF_X) != 0});
        } else if (segment.p_type == PT_TLS) {
            module->shared_bytes = static_cast<uint32_t>(segment.p_memsz);
            module->tls_module = info->dlpi_tls_modid;
        }
    }
    return 1;
}
}  // namespace

extern "C" void tenon_register(const TenonEntry* entry) {
    if (announced != nullptr) {
        announced->push_back(entry);
    }
}

Module* load_module(const char* path, std::string& message) {
    std::lock_guard lock(loading);
    Module* module = new Module();
    module->path = path;
    announced = &module->entries;
    module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    announced = nullptr;
    if (module->handle == nullptr) {
        message = dlerror();
        delete module;
        return nullptr;
    }
    link_map* map = nullptr;
    if (dlinfo(module->handle, RTLD_DI_LINKMAP, &map) == 0) {
        module->base = map->l_addr;
        dl_iterate_phdr(read_segments, module);
    }
    return module;
}

void unload_module(Module* module) {
    std::lock_guard lock(loading);
    dlclose(module->handle);
    delete module;
}

uint8_t* Module::shared() const {
    if (shared_bytes == 0) {
        return nullptr;
    }
    TlsIndex index{tls_module, 0};
    return static_cast<uint8_t*>(__tls_get_addr(&index));
}

bool Module::runs(uint64_t address) const {
    for (const Range& range : ranges) {
        if (range.code && range.holds(address, 1)) {
            return true;
        }
    }
    return false;
}

bool Module::holds(uint64_t address, uint64_t bytes, bool write) const {
    for (const Range& range : ranges) {
        if (range.holds(address, bytes) && (!write || range.writable)) {
            return true;
        }
    }
    return false;
}
