// Faults of the host inside a kernel (an access that was not checked, an integer division that traps, an endless loop that the watchdog
// interrupts) become faults of the launch. All other signals go on to whoever handled them before: the JVM uses the same ones.
#pragma once
#include "memory.h"
#include "worker.h"

void install_signal_handlers();
// Of the calling thread, which is the worker's.
void prepare_for_signals(const Worker& worker);
// Makes the worker give up the thread that it runs, once it is seen in the kernel's own code.
void interrupt(Worker& worker);
