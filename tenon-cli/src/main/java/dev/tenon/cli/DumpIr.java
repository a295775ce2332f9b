package dev.tenon.cli;

import dev.tenon.core.compiler.CompilerOptions;
import java.io.PrintWriter;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code --dump-ir=after:PASS}. */
final class DumpIr {
    static final String AFTER = "after:";
    static final String ALL = "all";

    private DumpIr() {}

    static CompilerOptions options(@Nullable String argument, PrintWriter err) {
        if (argument == null) {
            return CompilerOptions.defaults();
        }
        String pass = argument.substring(AFTER.length());
        return CompilerOptions.defaults()
                .withDump(Set.of(pass), (name, text) -> err.println("// after " + name + "\n" + text));
    }
}
