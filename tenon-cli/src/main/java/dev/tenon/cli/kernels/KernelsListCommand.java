package dev.tenon.cli.kernels;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Table;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.KernelFile;
import dev.tenon.cuda.kernel.KernelSpec;
import dev.tenon.cuda.kernel.KernelVariant;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Every kernel entry. */
@Command(
        name = "list",
        mixinStandardHelpOptions = true,
        description = "Every kernel entry, its file, variants and parameters.")
final class KernelsListCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--json", description = "One object an entry.")
    boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        Table table = new Table("entry", "file", "variants", "parameters");
        for (KernelFile file : KernelCatalog.all()) {
            List<String> variants = file.variants().stream()
                    .map(KernelVariant::suffix)
                    .map(s -> s.substring(1))
                    .toList();
            for (KernelSpec entry : file.entries()) {
                List<String> parameters = entry.parameters().stream()
                        .map(p -> p.name().toLowerCase(java.util.Locale.ROOT))
                        .toList();
                if (json) {
                    Map<String, Object> object = new LinkedHashMap<>();
                    object.put("entry", entry.entry());
                    object.put("file", file.path());
                    object.put("variants", variants);
                    object.put("parameters", parameters);
                    Json.print(out, object);
                }
                table.row(entry.entry(), file.path(), String.join(" ", variants), String.join(" ", parameters));
            }
        }
        if (!json) {
            table.print(out);
        }
        return 0;
    }
}
