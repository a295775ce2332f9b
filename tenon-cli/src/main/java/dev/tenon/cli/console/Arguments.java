package dev.tenon.cli.console;

import dev.tenon.core.error.InputException;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The arguments as UTF-8, whatever the locale says. Java decodes them by the locale, and puts a replacement character
 * for each byte that is not in it: with none, as in containers, "模型" becomes six of them, and another text would be
 * embedded without a word.
 */
public final class Arguments {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final char REPLACEMENT = '\uFFFD';

    private Arguments() {}

    /**
     * The arguments again, from the bytes that the system keeps of them where Java may have lost some.
     *
     * @throws InputException when an argument is not UTF-8, or the bytes cannot be had
     */
    public static String[] utf8(String... decoded) {
        boolean lost = false;
        for (String argument : decoded) {
            lost |= argument.indexOf(REPLACEMENT) >= 0;
        }
        return lost || !localeIsUtf8() ? again(decoded) : decoded;
    }

    /** Whether Java decodes arguments and file names as UTF-8. */
    static boolean localeIsUtf8() {
        return Charset.forName(locale(), StandardCharsets.US_ASCII).equals(StandardCharsets.UTF_8);
    }

    /** The name of the encoding of the locale, as Java takes it. */
    static String locale() {
        return System.getProperty("sun.jnu.encoding", "UTF-8");
    }

    private static String[] again(String[] decoded) {
        byte[] line;
        try {
            line = Files.readAllBytes(COMMAND_LINE);
        } catch (IOException e) {
            return checked(decoded);
        }
        return last(line, decoded.length);
    }

    /** Without the bytes: what holds no replacement character is right, and anything else may not be. */
    private static String[] checked(String[] decoded) {
        for (String argument : decoded) {
            if (argument.indexOf(REPLACEMENT) >= 0) {
                throw new InputException("an argument has characters that the locale's encoding, " + locale()
                        + ", does not have; set LC_ALL=C.UTF-8, or another locale with UTF-8");
            }
        }
        return decoded;
    }

    /** The last {@code count} of the arguments, each of which ends with a zero byte. */
    static String[] last(byte[] line, int count) {
        List<String> all = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < line.length; i++) {
            if (line[i] == 0) {
                byte[] argument = Arrays.copyOfRange(line, start, i);
                all.add(new String(argument, StandardCharsets.ISO_8859_1));
                start = i + 1;
            }
        }
        String[] arguments = new String[count];
        for (int i = 0; i < count; i++) {
            byte[] bytes = all.get(all.size() - count + i).getBytes(StandardCharsets.ISO_8859_1);
            arguments[i] = StandardInput.text("argument " + (i + 1), bytes);
        }
        return arguments;
    }
}
