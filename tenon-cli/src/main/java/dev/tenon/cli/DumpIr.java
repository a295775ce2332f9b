package dev.tenon.cli;

import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.error.InputException;
import java.io.PrintWriter;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code --dump-ir=after:PASS}. */
final class DumpIr {
    private static final String AFTER = "after:";

    private DumpIr() {}

    static CompilerOptions options(@Nullable String argument, PrintWriter err) {
        if (argument == null) {
            return CompilerOptions.defaults();
        }
        String pass = argument.startsWith(AFTER) ? argument.substring(AFTER.length()) : "";
        if (!pass.equals("all") && !Compiler.passNames().contains(pass)) {
            throw new InputException("--dump-ir takes after:PASS, PASS being all or one of " + Compiler.passNames()
                    + "; got " + argument);
        }
        return CompilerOptions.defaults()
                .withDump(Set.of(pass), (name, text) -> err.println("// after " + name + "\n" + text));
    }
}
