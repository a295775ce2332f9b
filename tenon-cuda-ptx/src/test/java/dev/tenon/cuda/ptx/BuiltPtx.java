package dev.tenon.cuda.ptx;

import dev.tenon.cuda.compile.PtxBundle;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What tests find in the artifact's place: the artifact's own files where the build was asked for them, else the few
 * that it makes for tests.
 */
public final class BuiltPtx implements PtxBundle {
    private final PtxBundle own = new PtxFiles();

    public BuiltPtx() {}

    /** Of the artifact itself. */
    static List<String> index() {
        try (InputStream in = new PtxFiles().open("index")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean whole() {
        return index().size() > 1;
    }

    /** Which kernels there are. */
    static Pattern built() {
        return Pattern.compile(whole() ? ".*" : System.getProperty("tenon.ptx.tests"));
    }

    @Override
    public InputStream open(String name) throws IOException {
        InputStream file = whole() ? own.open(name) : BuiltPtx.class.getResourceAsStream("files-for-tests/" + name);
        if (file == null) {
            throw new NoSuchFileException(name);
        }
        return file;
    }
}
