package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.nativelib.emulated.EntryPoint;

/** A kernel of a loaded object. Thread-safe. */
final class EmulatedFunction implements GpuFunction {
    private final EmulatedModule module;
    private final EntryPoint entry;
    private int allowed = Limits.SHARED;

    EmulatedFunction(EmulatedModule module, EntryPoint entry) {
        this.module = module;
        this.entry = entry;
        allowed -= module.object().sharedBytes();
    }

    @Override
    public String name() {
        return entry.name();
    }

    /** The host has no registers to speak of: 0. */
    @Override
    public Resources resources() {
        return new Resources(0, 0, module.object().sharedBytes(), Limits.THREADS_PER_BLOCK);
    }

    @Override
    public synchronized void allowSharedBytes(int bytes) {
        int most = Limits.SHARED_OPT_IN - module.object().sharedBytes();
        if (bytes > most) {
            throw new NativeException("emulator: " + name() + " may have at most " + most
                    + " bytes of dynamic shared memory beside its "
                    + module.object().sharedBytes() + "; asked for "
                    + bytes);
        }
        allowed = Math.max(allowed, bytes);
    }

    @Override
    public int blocksPerMultiprocessor(int blockThreads, int sharedBytes) {
        return Limits.blocksPerMultiprocessor(blockThreads, module.object().sharedBytes(), sharedBytes);
    }

    synchronized int allowedSharedBytes() {
        return allowed;
    }

    EmulatedModule module() {
        return module;
    }

    EntryPoint entry() {
        return entry;
    }
}
