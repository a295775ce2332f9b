package dev.tenon.cuda.backend;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.GraphText;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.StepKernels;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.cuda.store.BuildId;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What plans that were made ahead of time need, kept for the next process: the compiled image of each module. A process
 * that finds a plan here asks no compiler, not even for its version. Plans are refused, with a reason, where something
 * that they depend on has changed. Thread-safe.
 *
 * <p>An entry is a text file in the {@link Store}: a line a fact, then a line a module.
 */
final class SavedPlans {
    private static final String FORMAT = "tenon plan 1";
    private static final String MODULE = "module";
    private static final String CHECK = "check";
    private static final String DAMAGED = "the saved one is damaged";
    /** As the cache names its files: nothing that leads out of its folder. */
    private static final Pattern FILE = Pattern.compile("[\\w-]+");

    private static final System.Logger LOG = System.getLogger(SavedPlans.class.getName());

    private final KernelModules modules;
    private final Store store;
    private final KernelCache images;
    private final DeviceInfo device;

    SavedPlans(KernelModules modules, DeviceInfo device) {
        this.modules = modules;
        this.store = Store.standard();
        this.images = KernelCache.standard();
        this.device = device;
    }

    /**
     * What was found of a plan.
     *
     * @param name of the entry
     * @param facts what it depends on now, by kind
     * @param files the image's file by module; empty where there is no entry that may be used
     * @param refusal why the entry may not be used; empty when it may
     */
    record Saved(String name, Map<String, String> facts, Map<String, String> files, String refusal) {
        boolean found() {
            return refusal.isEmpty();
        }

        /** In words, for reports. */
        String text() {
            return found() ? "loaded: " + files.size() + " modules" : "made: " + refusal;
        }
    }

    /** Looks for the entry of a plan. */
    Saved find(Plan plan, CompileOptions options) {
        Map<String, String> facts = facts(plan, options);
        String name = name(plan, options);
        Map<String, String> files = new LinkedHashMap<>();
        String refusal = BuildId.get().isEmpty()
                ? "builds of Tenon cannot be told apart here"
                : read(name, new LinkedHashMap<>(facts), files);
        return new Saved(name, facts, refusal.isEmpty() ? files : Map.of(), refusal);
    }

    /** Plans with the same inputs and outputs, of the same options, take each other's place. */
    private String name(Plan plan, CompileOptions options) {
        Hash hash = new Hash().add(plan.graph().name()).add(options(options)).add(device.name());
        for (Value input : plan.graph().inputs()) {
            hash.add(input.name()).add(input.type().toString());
        }
        plan.graph().outputs().keySet().forEach(hash::add);
        return "plan-" + hash.hex().substring(0, 32);
    }

    private Map<String, String> facts(Plan plan, CompileOptions options) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("build", BuildId.get());
        facts.put("device", device.name() + ", " + device.detail());
        facts.put("options", options(options));
        facts.put("graph", new Hash().add(GraphText.print(plan.graph())).hex());
        return facts;
    }

    private static String options(CompileOptions options) {
        return options.execution() + ", " + options.numerics() + ", " + options.weightType();
    }

    /** Why the entry does not serve; empty where it does. */
    private String read(String name, Map<String, String> facts, Map<String, String> files) {
        List<String> lines;
        try {
            lines = Files.readAllLines(store.path(name));
        } catch (NoSuchFileException _) {
            return "none was saved";
        } catch (IOException e) {
            return "the saved one cannot be read (" + e + ")";
        }
        if (lines.isEmpty() || !lines.getFirst().equals(FORMAT)) {
            return "the saved one is of another format than \"" + FORMAT + "\"";
        }
        int last = lines.size() - 1;
        if (!lines.get(last).equals(check(lines.subList(0, last)))) {
            return DAMAGED;
        }
        for (String line : lines.subList(1, last)) {
            String[] parts = line.split("\t", -1);
            if (parts.length == 3
                    && parts[0].equals(MODULE)
                    && FILE.matcher(parts[2]).matches()) {
                files.put(parts[1], parts[2]);
                continue;
            }
            String now = parts.length == 2 ? facts.remove(parts[0]) : null;
            if (now == null) {
                return DAMAGED;
            }
            if (!now.equals(parts[1])) {
                return "the saved one is of the " + parts[0] + " \"" + parts[1] + "\"; this is \"" + now + "\"";
            }
        }
        return facts.isEmpty() ? "" : DAMAGED;
    }

    /** Loads the images of a plan that was found, several at a time. What is not there is compiled later. */
    void load(Saved saved) {
        Map<String, ModuleImage> found = new LinkedHashMap<>();
        saved.files.forEach((module, file) -> {
            if (!modules.has(module)) {
                images.read(file, module).ifPresent(image -> found.put(module, image));
            }
        });
        modules.load(found);
    }

    /** Keeps what a plan needs; does nothing where some image has no file. */
    void save(Saved saved, List<StepKernels> kernels) {
        if (BuildId.get().isEmpty()) {
            return;
        }
        Map<String, Path> files = new LinkedHashMap<>();
        try {
            kernels.forEach(step -> step.files(files));
        } catch (TenonException e) {
            LOG.log(Level.DEBUG, "the plan is not saved: " + e);
            return;
        }
        List<String> lines = new ArrayList<>(List.of(FORMAT));
        saved.facts.forEach((kind, fact) -> lines.add(kind + "\t" + fact));
        for (Map.Entry<String, Path> file : files.entrySet()) {
            lines.add(MODULE + "\t" + file.getKey() + "\t" + file.getValue().getFileName());
        }
        lines.add(check(lines));
        byte[] text = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        store.write(saved.name, "plans made ahead of time", ByteBuffer.wrap(text));
    }

    /** The last line of an entry, by those before it. */
    private static String check(List<String> lines) {
        return CHECK + "\t" + new Hash().add(String.join("\n", lines)).hex();
    }
}
