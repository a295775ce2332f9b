package dev.tenon.cli.model;

import dev.tenon.cli.console.Values;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import java.io.PrintWriter;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;

/** {@code --dump-ir=after:PASS}. */
final class DumpIr {
    private static final String AFTER = "after:";
    private static final String ALL = "all";

    private DumpIr() {}

    /** {@code after:PASS}. */
    static final class Word implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            if (value.equals(AFTER + ALL)
                    || value.startsWith(AFTER) && Compiler.passNames().contains(value.substring(AFTER.length()))) {
                return value;
            }
            throw Values.wrong(
                    value, "after:PASS, PASS being all or one of " + String.join(", ", Compiler.passNames()));
        }
    }

    static CompilerOptions options(@Nullable String argument, PrintWriter err) {
        if (argument == null) {
            return CompilerOptions.defaults();
        }
        String pass = argument.substring(AFTER.length());
        return CompilerOptions.defaults()
                .withDump(Set.of(pass), (name, text) -> err.println("// after " + name + "\n" + text));
    }
}
