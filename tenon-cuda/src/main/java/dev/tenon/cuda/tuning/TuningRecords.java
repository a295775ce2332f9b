package dev.tenon.cuda.tuning;

import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The fastest algorithms that were found, by class of problem, for one kind of device and one version of the library.
 * Kept in one text file, a line a class; another process that writes at the same time may cost a line, which is
 * measured again. Thread-safe.
 */
public final class TuningRecords {
    private static final System.Logger LOG = System.getLogger(TuningRecords.class.getName());
    private static final String FORMAT = "tenon tuning 2";

    private final Store store;
    private final String name;
    private final String header;
    private final Map<String, Choice> choices = new HashMap<>();
    private boolean read;

    /**
     * @param library its name and version
     * @param device its name
     */
    public TuningRecords(Store store, String library, String device) {
        this.store = store;
        this.header = FORMAT + ", " + library + ", " + device;
        this.name = "tuning-" + Integer.toHexString(header.hashCode());
    }

    /** What was found for a class of problems; null for nothing. */
    public synchronized @Nullable Choice get(String problemClass) {
        readOnce();
        return choices.get(problemClass);
    }

    synchronized void put(String problemClass, Choice choice) {
        readOnce();
        choices.put(problemClass, choice);
    }

    private void readOnce() {
        if (!read) {
            read = true;
            merge();
        }
    }

    /** Takes what is on disk and not known here. A file that is not what it should be counts as none. */
    private void merge() {
        try {
            String[] lines = Files.readString(store.path(name)).split("\n", -1);
            if (!lines[0].equals(header)) {
                return; // of another version, or another device whose name has the same hash
            }
            for (int i = 1; i < lines.length; i++) {
                String[] parts = lines[i].split("\t");
                if (parts.length == 3) {
                    choices.putIfAbsent(parts[0], new Choice(parts[1], Integer.parseInt(parts[2])));
                }
            }
        } catch (NoSuchFileException _) {
            // nothing was measured yet
        } catch (IOException | NumberFormatException | OutOfMemoryError e) {
            LOG.log(Level.DEBUG, "tuning records " + store.path(name) + " are passed over: " + e);
        }
    }

    /** Keeps what is known, with what other processes found meanwhile. */
    synchronized void save() {
        merge();
        StringBuilder text = new StringBuilder(header).append('\n');
        new TreeMap<>(choices)
                .forEach((problem, choice) -> text.append(problem)
                        .append('\t')
                        .append(choice.algorithm())
                        .append('\t')
                        .append(choice.timed())
                        .append('\n'));
        store.write(name, "measured algorithms", ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8)));
    }
}
