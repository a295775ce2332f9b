package dev.tenon.cpu.device;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Device;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.cpu.loops.CpuInfo;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.plan.CpuLowering;
import dev.tenon.cpu.step.HostSupply;
import java.util.List;

/** The CPU, always there: device 0. */
public final class CpuBackend implements Backend {
    private final HostSupply supply;

    /** With memory and threads of the JVM. */
    public CpuBackend() {
        this(HostSupply.JVM);
    }

    /** With memory and threads from elsewhere. */
    CpuBackend(HostSupply supply) {
        this.supply = supply;
    }

    @Override
    public String name() {
        return "cpu";
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(CpuInfo.read(Vectors.presence()));
    }

    @Override
    public String unavailable() {
        return "";
    }

    @Override
    public boolean claims(Node whole) {
        return CpuLowering.claims(whole);
    }

    @Override
    public boolean claimsAny() {
        return true;
    }

    @Override
    public boolean mayClaim(Class<? extends Op> kind) {
        return CpuLowering.mayClaim(kind);
    }

    @Override
    public Device open(int ordinal, EngineOptions options) {
        if (ordinal != 0) {
            throw new UnsupportedException("there is one CPU device, cpu:0; asked for cpu:" + ordinal);
        }
        Vectors.prepare();
        return new CpuDevice(CpuInfo.read(Vectors.width()), options, supply);
    }
}
