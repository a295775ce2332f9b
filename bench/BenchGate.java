import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs commands of two builds in turns and compares them pair by pair: the median of the ratios, so that a machine that
 * slows down for a while slows both.
 *
 * <p>Arguments: the folder of the base, the folder of the head, pairs, the highest ratio, the commands separated by
 * semicolons. A command that prints JSON lines gives a row for each line, and rows for what is told of the process: the
 * first result since the JVM started; of a stream of sizes loading and the first pass, a later pass, a new size. Any
 * other command gives a row for its whole process. A command behind the word {@code scalar} runs without the vector
 * module and without machine code; a later pass of it may take four times that of the same command without the word.
 */
class BenchGate {
    private static final Pattern ROW = Pattern.compile("\"params\":(\\{[^}]*})(.*?)\"median_us\":([0-9.eE+-]+)");
    private static final Pattern VARIANT = Pattern.compile("\"variant\":\"([^\"]*)\"");
    private static final Pattern FIRST_RESULT = Pattern.compile("\"first_result_ms\":([0-9.eE+-]+)");
    private static final Pattern LOAD = Pattern.compile("\"load_us\":([0-9.eE+-]+)");
    private static final Pattern PASSES = Pattern.compile("\"pass_us\":\\[([^\\]]*)]");
    private static final Pattern NEW_SIZE = Pattern.compile("\"plan_median_us\":([0-9.eE+-]+)");

    private static final String SCALAR = "scalar ";
    /** The most that a later pass takes without vectors, beside one with them. */
    private static final double MOST_WITHOUT_VECTORS = 4;

    private record Pair(List<Double> base, List<Double> head) {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Path base = Path.of(args[0]);
        Path head = Path.of(args[1]);
        int pairs = Integer.parseInt(args[2]);
        double limit = Double.parseDouble(args[3]);
        Map<String, Pair> rows = new LinkedHashMap<>();
        for (int pair = 0; pair < pairs; pair++) {
            System.err.println("bench-gate: pair " + (pair + 1) + " of " + pairs);
            for (String command : args[4].split(";")) {
                // the one that goes first changes from pair to pair
                for (boolean first : new boolean[] {true, false}) {
                    boolean isBase = first == (pair % 2 == 0);
                    run(isBase ? base : head, command.strip()).forEach((row, time) -> {
                        Pair both = rows.computeIfAbsent(row, _ -> new Pair(new ArrayList<>(), new ArrayList<>()));
                        (isBase ? both.base : both.head).add(time);
                    });
                }
            }
        }
        System.exit(report(rows, limit) ? 0 : 1);
    }

    private static Map<String, Double> run(Path folder, String asked) throws IOException, InterruptedException {
        boolean scalar = asked.startsWith(SCALAR);
        String command = scalar ? asked.substring(SCALAR.length()) : asked;
        boolean json = command.startsWith("bench ");
        List<String> words = new ArrayList<>(List.of(folder.resolve("tenon").toString()));
        Collections.addAll(words, command.split(" +"));
        if (json) {
            words.add("--json");
        }
        ProcessBuilder builder = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("TENON_NO_BUILD", "1");
        if (scalar) {
            builder.environment().put("TENON_JAVA_OPTS", "-Ddev.tenon.cpu.kernels=scalar");
        }
        Map<String, Double> times = new LinkedHashMap<>();
        String name = (scalar ? SCALAR : "") + command.replaceAll(" --.*", "");
        long start = System.nanoTime();
        Process process = builder.start();
        try (BufferedReader out = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                if (json) {
                    read(line, name, times);
                }
            }
        }
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", words) + " ended with " + process.exitValue());
        }
        if (!json) {
            times.put(name + " (whole process)", (System.nanoTime() - start) / 1e3);
        }
        return times;
    }

    /** Puts down what a line of JSON tells. */
    private static void read(String line, String name, Map<String, Double> times) {
        Matcher row = ROW.matcher(line);
        if (row.find()) {
            Matcher variant = VARIANT.matcher(line);
            String params = row.group(1).replaceAll("[{}\"]", "").replaceAll("model:[^,]*,", "");
            times.put(
                    name + " " + params + (variant.find() ? " " + variant.group(1) : ""),
                    Double.parseDouble(row.group(3)));
        }
        Matcher first = FIRST_RESULT.matcher(line);
        if (first.find()) { // the same in every line of a process
            times.put(name + ", first result since the JVM's start", Double.parseDouble(first.group(1)) * 1e3);
        }
        Matcher passes = PASSES.matcher(line);
        if (passes.find()) {
            List<Double> each = new ArrayList<>();
            for (String pass : passes.group(1).split(",")) {
                each.add(Double.parseDouble(pass));
            }
            Matcher load = LOAD.matcher(line);
            double loading = load.find() ? Double.parseDouble(load.group(1)) : 0;
            times.put(name + ", load and first pass", loading + each.getFirst());
            if (each.size() > 1) {
                times.put(name + ", a later pass", median(each.subList(1, each.size())));
            }
            Matcher plan = NEW_SIZE.matcher(line);
            if (plan.find()) {
                times.put(name + ", a new size", Double.parseDouble(plan.group(1)));
            }
        }
    }

    private static boolean report(Map<String, Pair> rows, double limit) {
        boolean fine = true;
        System.out.printf("%-64s %12s %12s %8s%n", "", "base, us", "head, us", "ratio");
        for (Map.Entry<String, Pair> row : rows.entrySet()) {
            Pair both = row.getValue();
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < Math.min(both.base.size(), both.head.size()); i++) {
                ratios.add(both.head.get(i) / both.base.get(i));
            }
            double ratio = median(ratios);
            boolean over = ratio > limit;
            fine &= !over;
            System.out.printf(
                    "%-64s %12.1f %12.1f %8.3f%s%n",
                    row.getKey(), median(both.base), median(both.head), ratio, over ? "  slower" : "");
        }
        for (Map.Entry<String, Pair> row : rows.entrySet()) {
            Pair vectors = rows.get(row.getKey().replaceFirst("^" + SCALAR, ""));
            if (row.getKey().startsWith(SCALAR) && row.getKey().endsWith("a later pass") && vectors != null) {
                double ratio = median(row.getValue().head) / median(vectors.head);
                fine &= ratio <= MOST_WITHOUT_VECTORS;
                System.out.printf(
                        "%s: %.2f times that with vectors, at most %.0f%n", row.getKey(), ratio, MOST_WITHOUT_VECTORS);
            }
        }
        System.out.println(fine ? "no row above " + limit : "rows above their limit: see \"slower\" and \"times\"");
        return fine;
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.isEmpty()
                ? Double.NaN
                : sorted.size() % 2 == 1
                        ? sorted.get(middle)
                        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
