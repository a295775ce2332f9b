package dev.tenon.cuda.ptx;

import dev.tenon.cuda.compile.PtxBundle;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;

/** The files of this artifact. Thread-safe. */
public final class PtxFiles implements PtxBundle {
    /** Opens nothing. */
    public PtxFiles() {}

    @Override
    public InputStream open(String name) throws IOException {
        InputStream file = PtxFiles.class.getResourceAsStream("files/" + name);
        if (file == null) {
            throw new NoSuchFileException("files/" + name + " in tenon-cuda-ptx");
        }
        return file;
    }
}
