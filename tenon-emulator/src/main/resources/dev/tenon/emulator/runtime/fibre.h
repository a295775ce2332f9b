// Stacks, and the switch between them.
#pragma once
#include <cstdint>
#include <vector>

// Saves the callee-saved registers and the stack pointer, and goes on where `to` was saved.
extern "C" void tenon_switch(void** save, void* to);

struct Stack {
    uint8_t* low;   // lowest usable byte; below lies a page that faults
    uint32_t bytes;
    void* top;

    // The saved state of a fibre that will start in `entry`, which never returns.
    void* prepared(void (*entry)()) const;
};

// Of one worker. Stacks are mapped when first needed and kept.
class Stacks {
public:
    ~Stacks();
    Stack* take();  // null when the host has no more
    void give(Stack* stack) { free_.push_back(stack); }

private:
    std::vector<Stack*> all_, free_;
};
