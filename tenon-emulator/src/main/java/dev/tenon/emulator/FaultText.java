package dev.tenon.emulator;

import dev.tenon.cuda.compile.HostCommand;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.nativelib.emulated.KernelFault;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A kernel's fault in words, with the source line where that can be found. */
final class FaultText {
    private FaultText() {}

    static String of(EmulatedFunction function, LaunchShape shape, KernelFault fault) {
        String place = fault.line() > 0
                ? fault.file() + ":" + fault.line()
                : fault.offset() > 0 ? line(function.module().file(), fault.offset()) : "";
        return "emulator: kernel " + function.name() + ": " + fault.text() + "; block " + fault.block() + ", thread "
                + fault.thread() + (place.isEmpty() ? "" : ", " + place) + "; launched with " + shape;
    }

    /** By binutils' or LLVM's tool; empty without either. */
    private static String line(Path object, long returnOffset) {
        String address = "0x" + Long.toHexString(returnOffset - 1); // within the call, not behind it
        for (String tool : List.of("addr2line", "llvm-addr2line")) {
            try {
                HostCommand answer = HostCommand.run(
                        Path.of("."), List.of(tool, "-e", object.toString(), address), CxxCompiler.LIMIT);
                String line = answer.output().strip();
                if (answer.status() == 0 && !line.startsWith("?") && !line.endsWith(":?") && !line.endsWith(":0")) {
                    return trimmed(line);
                }
            } catch (IOException _) {
                // the next one, else no line
            }
        }
        return "";
    }

    /** Without the folder that the source was compiled in, and without the discriminator. */
    private static String trimmed(String line) {
        String first = line.lines().findFirst().orElse("").replaceFirst(" \\(discriminator.*", "");
        return first.replaceFirst("^.*/tenon-emulator-[^/]+/[^/]+/(\\./)?", "");
    }
}
