package dev.tenon.cuda.compile;

import java.io.IOException;
import java.io.InputStream;

/** The files of an artifact with PTX; a service that {@link PrebuiltPtx} looks for. */
public interface PtxBundle {
    /** @throws IOException when there is no such file */
    InputStream open(String name) throws IOException;
}
