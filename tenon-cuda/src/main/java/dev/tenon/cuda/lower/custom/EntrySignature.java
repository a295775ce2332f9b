package dev.tenon.cuda.lower.custom;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.op.custom.DeviceArgument;
import dev.tenon.core.ir.op.custom.DeviceLaunch;
import dev.tenon.core.ir.op.custom.DeviceSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares the parameters that a kernel declares with the arguments of its launch, by the source's text: drivers copy
 * as many bytes as the kernel says, whatever they are given. A parameter of a type that the text does not tell (a
 * macro, a typedef) fits every number.
 */
final class EntrySignature {
    private static final Pattern COMMENT = Pattern.compile("//[^\n]*|/\\*.*?\\*/", Pattern.DOTALL);
    private static final Set<String> WORDS = Set.of("const", "__restrict__", "__grid_constant__", "volatile");

    private EntrySignature() {}

    /** @throws InputException naming operation, source, line, entry and parameter that do not fit */
    static void check(String op, DeviceSource source, DeviceLaunch launch) {
        String text =
                COMMENT.matcher(source.text()).replaceAll(match -> match.group().replaceAll("[^\n]", " "));
        String entry = Pattern.quote(launch.entry());
        Matcher found = Pattern.compile("TENON_NAME\\(\\s*" + entry + "\\s*\\)\\s*\\(([^)]*)\\)")
                .matcher(text);
        boolean announced = Pattern.compile("TENON_ENTRY\\(\\s*" + entry + "\\s*\\)")
                .matcher(text)
                .find();
        if (!found.find() || !announced) {
            throw new InputException(op + ": " + source.name() + " has no entry " + launch.entry() + "; expected "
                    + "extern \"C\" __global__ void TENON_NAME(%s)(…) { … } and below it TENON_ENTRY(%s)"
                            .formatted(launch.entry(), launch.entry()));
        }
        long line = 1
                + text.substring(0, found.start()).lines().count()
                - (text.lastIndexOf('\n', found.start()) + 1 == found.start() ? 0 : 1);
        String place = op + ": " + source.name() + " line " + Math.max(1, line) + ": ";
        List<String> declared = declared(found.group(1));
        List<String> given = launch.arguments().stream()
                .flatMap(argument -> kinds(argument).stream())
                .toList();
        if (declared.size() != given.size()) {
            throw new InputException(place + launch.entry() + " has " + declared.size()
                    + " parameters; the launch gives " + given.size() + ", expected as many");
        }
        for (int i = 0; i < given.size(); i++) {
            String kind = kindOf(declared.get(i));
            boolean fits = kind.isEmpty() ? !given.get(i).equals("pointer") : kind.equals(given.get(i));
            if (!fits) {
                throw new InputException(place + launch.entry() + " declares \"" + declared.get(i) + "\" as parameter "
                        + i + "; the launch gives " + given.get(i));
            }
        }
    }

    private static List<String> declared(String list) {
        List<String> all = new ArrayList<>();
        for (String one : list.strip().split(",")) {
            all.add(one.strip().replaceAll("\\s+", " "));
        }
        return all.equals(List.of("")) ? List.of() : all;
    }

    private static List<String> kinds(DeviceArgument argument) {
        return switch (argument) {
            case DeviceArgument.Input _, DeviceArgument.Result _, DeviceArgument.Workspace _ -> List.of("pointer");
            case DeviceArgument.I32 _ -> List.of("i32");
            case DeviceArgument.I64 _ -> List.of("i64");
            case DeviceArgument.F32 _ -> List.of("f32");
            case DeviceArgument.F64 _ -> List.of("f64");
            case DeviceArgument.Faults _ -> List.of("pointer", "i32");
        };
    }

    /** Empty where the text does not tell. */
    private static String kindOf(String parameter) {
        if (parameter.contains("*")) {
            return "pointer";
        }
        List<String> words = new ArrayList<>(List.of(parameter.split(" ")));
        words.removeAll(WORDS);
        if (words.size() > 1) {
            words.removeLast();
        }
        return switch (String.join(" ", words)) {
            case "int", "i32", "u32", "unsigned", "unsigned int" -> "i32";
            case "long long", "i64", "u64", "unsigned long long" -> "i64";
            case "float" -> "f32";
            case "double" -> "f64";
            default -> "";
        };
    }
}
