#include "signals.h"

#include <csignal>
#include <cstring>
#include <mutex>

#include <ucontext.h>

#include "pool.h"

namespace {
constexpr int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction earlier[65];
int interruption = 0;

// Runs on the worker's rescue stack after the handler returned: here everything may be called.
[[noreturn]] void land() {
    Worker* worker = current_worker;
    const void* at = reinterpret_cast<const void*>(worker->signal_at);
    auto address = static_cast<unsigned long long>(worker->signal_address);
    switch (worker->signal) {
        case SIGFPE: fail(at, "integer division by zero, or of the least number by -1");
        case SIGILL: fail(at, "trap: the kernel ran into an instruction that ends it");
        case SIGSEGV:
        case SIGBUS: {
            uint64_t low = reinterpret_cast<uint64_t>(worker->thread->stack->low);
            if (address < low && address + 65536 > low) {
                fail(at, "stack overflow: a thread has %u bytes for its local variables", worker->thread->stack->bytes);
            }
            std::string where = nearest_buffer(address);
            fail(at, "illegal address: an access at 0x%llx, %s", address, where.c_str());
        }
        default:
            fail(at, "endless loop: the thread ran for %lld ms without ending or waiting", static_cast<long long>(worker->pool->watchdog_milliseconds));
    }
}

uint64_t stopped_at(const ucontext_t* context) {
#if defined(__x86_64__)
    return static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
#else
    return context->uc_mcontext.pc;
#endif
}

void go_on_at_landing(ucontext_t* context, uint8_t* stack_top) {
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&land);
    context->uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack_top - 8);  // as after a call
    context->uc_mcontext.gregs[REG_EFL] &= ~0x400;                                  // the direction flag
#else
    context->uc_mcontext.pc = reinterpret_cast<uint64_t>(&land);
    context->uc_mcontext.sp = reinterpret_cast<uint64_t>(stack_top);
#endif
}

void chain(int signal, siginfo_t* info, void* context) {
    const struct sigaction& previous = earlier[signal];
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
        previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    } else if (previous.sa_handler == SIG_DFL) {
        sigaction(signal, &previous, nullptr);  // the instruction runs again, and now ends the process
    }
}

void handle(int signal, siginfo_t* info, void* raw) {
    Worker* worker = current_worker;
    ucontext_t* context = static_cast<ucontext_t*>(raw);
    if (worker == nullptr || !worker->in_kernel.load(std::memory_order_relaxed)) {
        if (signal != interruption) {
            chain(signal, info, raw);
        }
        return;
    }
    uint64_t at = stopped_at(context);
    if (signal == interruption && !worker->job->launch.module->runs(at)) {
        return;  // in a library or in the runtime, perhaps with a lock; asked again soon
    }
    worker->signal = signal;
    worker->signal_at = at;
    worker->signal_address = reinterpret_cast<uint64_t>(info->si_addr);
    go_on_at_landing(context, worker->rescue + Worker::rescue_bytes);
}
}  // namespace

void install_signal_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        interruption = SIGRTMAX - 3;
        struct sigaction action;
        for (int signal : handled) {
            sigaction(signal, nullptr, &earlier[signal]);
            action = earlier[signal];
            action.sa_sigaction = handle;
            action.sa_flags |= SA_SIGINFO | SA_ONSTACK;
            action.sa_flags &= ~SA_RESETHAND;
            sigaction(signal, &action, nullptr);
        }
        memset(&action, 0, sizeof action);
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        sigaction(interruption, &action, nullptr);
    });
}

// A stack for handlers, since a fibre's may be too small or the very fault; and no signal but those that the thread itself causes.
void prepare_for_signals(const Worker& worker) {
    stack_t stack{};
    stack.ss_sp = worker.signal_stack;
    stack.ss_size = Worker::rescue_bytes;
    sigaltstack(&stack, nullptr);
    sigset_t blocked;
    sigfillset(&blocked);
    for (int signal : handled) {
        sigdelset(&blocked, signal);
    }
    sigdelset(&blocked, SIGTRAP);
    sigdelset(&blocked, interruption);
    pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

void interrupt(Worker& worker) { pthread_kill(worker.handle, interruption); }
