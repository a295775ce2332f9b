package dev.tenon.cli.console;

import dev.tenon.core.error.InputException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Lines from standard input, which is UTF-8 whatever the locale says. */
public final class StandardInput {
    private StandardInput() {}

    /** Whether a person types it. */
    @SuppressWarnings("SystemConsoleNull") // null still where -Djdk.console=java.base asks for the old console
    public static boolean isTerminal() {
        return System.console() != null && System.console().isTerminal();
    }

    /** @throws InputException naming the line that is not UTF-8 */
    public static List<String> lines(InputStream in) throws IOException {
        return text("standard input", in.readAllBytes()).lines().toList();
    }

    /** Bytes as UTF-8. @throws InputException naming {@code what} and the line that is not */
    static String text(String what, byte[] bytes) {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        CharBuffer to = CharBuffer.allocate(bytes.length);
        CoderResult result = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT)
                .decode(from, to, true);
        if (result.isError()) {
            long line = 1;
            for (int i = 0; i < from.position(); i++) {
                line += bytes[i] == '\n' ? 1 : 0;
            }
            throw new InputException(what + " is not UTF-8: line " + line + " has the byte "
                    + String.format("0x%02x", bytes[from.position()])
                    + ", which is no part of a character; convert it to UTF-8");
        }
        return to.flip().toString();
    }
}
