package dev.tenon.cpu.device;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.InputException;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.loops.WarmUp;
import dev.tenon.cpu.plan.CpuContext;
import dev.tenon.cpu.plan.CpuPlanner;
import dev.tenon.cpu.plan.CpuWeights;
import dev.tenon.cpu.step.HostSupply;
import dev.tenon.cpu.step.LedgerMemory;
import dev.tenon.cpu.step.WorkerPool;

/** The CPU, open: its workers and its books. Thread-safe. */
public final class CpuDevice implements Device {
    private final DeviceInfo info;
    private final MemoryLedger ledger;
    private final LedgerMemory memory;
    private final WorkerPool pool;

    /**
     * With memory and threads of the JVM.
     *
     * @throws dev.tenon.core.error.OutOfMemoryException when there are not as many threads
     */
    public CpuDevice(DeviceInfo info, EngineOptions options) {
        this(info, options, HostSupply.JVM);
    }

    CpuDevice(DeviceInfo info, EngineOptions options, HostSupply supply) {
        this.info = info;
        this.ledger = new MemoryLedger("cpu", options.memoryLimit());
        this.memory = new LedgerMemory(ledger, supply);
        this.pool = new WorkerPool(
                options.threads() > 0 ? options.threads() : Runtime.getRuntime().availableProcessors(), supply);
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public Constants newConstants() {
        return new CpuWeights(memory);
    }

    @Override
    public Program compile(Plan plan, Constants weights, CompileOptions options) {
        if (!(weights instanceof CpuWeights own)) {
            throw new InputException("the weights were made by another device");
        }
        return CpuPlanner.program(plan, own, pool.threads(), options.precision());
    }

    @Override
    public State newState() {
        return new CpuContext(memory, pool);
    }

    @Override
    public boolean settled() {
        return !Vectors.available() || WarmUp.pending() == 0;
    }

    @Override
    public MemoryReport memory() {
        return ledger.report();
    }

    @Override
    public void close() {
        pool.close();
    }
}
