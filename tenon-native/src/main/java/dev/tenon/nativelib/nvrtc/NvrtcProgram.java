package dev.tenon.nativelib.nvrtc;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;

/** A source that NVRTC compiles. Of one thread. */
public final class NvrtcProgram implements AutoCloseable {
    private static final int COMPILATION = 6;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);

    /**
     * @param name the file's name in messages
     * @param headers what {@code #include} finds, by name
     * @throws dev.tenon.core.error.UnsupportedException where there is no NVRTC
     * @throws dev.tenon.core.error.NativeException when NVRTC refuses
     */
    public NvrtcProgram(String name, String source, Map<String, String> headers) {
        try {
            List<String> names = List.copyOf(headers.keySet());
            NvrtcLibrary.CHECK.check(
                    Nvrtc.nvrtcCreateProgram(
                            handle.address(),
                            arena.allocateFrom(source).address(),
                            arena.allocateFrom(name).address(),
                            names.size(),
                            strings(names.stream().map(headers::get).toList()),
                            strings(names)),
                    "nvrtcCreateProgram(%s)",
                    name);
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    /**
     * @return false when the source does not compile: {@link #log()} says why
     * @throws dev.tenon.core.error.NativeException for any other fault, an unknown option for one
     */
    public boolean compile(List<String> options) {
        int status = Nvrtc.nvrtcCompileProgram(program(), options.size(), strings(options));
        if (status == COMPILATION) {
            return false;
        }
        if (status != 0) {
            NvrtcLibrary.CHECK.check(status, "nvrtcCompileProgram(%s): %s", String.join(" ", options), log().strip());
        }
        return true;
    }

    /** What the compiler said; may be empty. */
    public String log() {
        MemorySegment bytes = arena.allocate(ValueLayout.JAVA_LONG);
        NvrtcLibrary.CHECK.check(Nvrtc.nvrtcGetProgramLogSize(program(), bytes.address()), "nvrtcGetProgramLogSize()");
        MemorySegment text = arena.allocate(Math.max(1, bytes.get(ValueLayout.JAVA_LONG, 0)));
        NvrtcLibrary.CHECK.check(Nvrtc.nvrtcGetProgramLog(program(), text.address()), "nvrtcGetProgramLog()");
        return text.getString(0);
    }

    /** Machine code, when compiled for {@code sm_…}, into managed memory. */
    public MemorySegment cubin() {
        MemorySegment bytes = arena.allocate(ValueLayout.JAVA_LONG);
        NvrtcLibrary.CHECK.check(Nvrtc.nvrtcGetCUBINSize(program(), bytes.address()), "nvrtcGetCUBINSize()");
        MemorySegment code = Arena.ofAuto().allocate(bytes.get(ValueLayout.JAVA_LONG, 0), 16);
        NvrtcLibrary.CHECK.check(Nvrtc.nvrtcGetCUBIN(program(), code.address()), "nvrtcGetCUBIN()");
        return code;
    }

    /** PTX with its closing zero, into managed memory. */
    public MemorySegment ptx() {
        MemorySegment bytes = arena.allocate(ValueLayout.JAVA_LONG);
        NvrtcLibrary.CHECK.check(Nvrtc.nvrtcGetPTXSize(program(), bytes.address()), "nvrtcGetPTXSize()");
        MemorySegment code = Arena.ofAuto().allocate(bytes.get(ValueLayout.JAVA_LONG, 0), 16);
        NvrtcLibrary.CHECK.check(Nvrtc.nvrtcGetPTX(program(), code.address()), "nvrtcGetPTX()");
        return code;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            Nvrtc.nvrtcDestroyProgram(handle.address());
            arena.close();
        }
    }

    private long program() {
        return handle.get(ValueLayout.JAVA_LONG, 0);
    }

    private long strings(List<String> texts) {
        MemorySegment array = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, texts.size()));
        for (int i = 0; i < texts.size(); i++) {
            array.setAtIndex(
                    ValueLayout.JAVA_LONG, i, arena.allocateFrom(texts.get(i)).address());
        }
        return array.address();
    }
}
