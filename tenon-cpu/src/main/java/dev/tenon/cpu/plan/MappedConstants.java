package dev.tenon.cpu.plan;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.cpu.machine.Pages;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Forgets the pages of constants of a mapped file that have been made into another form, so that a model does not take
 * its memory twice. Only of mappings that nothing can have written to, as Linux lists them.
 *
 * <p>Thread-safe. Belongs to the constants of one model, which keep their mappings.
 */
final class MappedConstants {
    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    private static final String READ_ONLY_SHARED = "r--s";

    /** Less is not worth a call of the system. */
    private static final long LEAST_BYTES = 64 << 10;

    /** A mapping, and whether it is shared and read-only. */
    private record Range(long from, long to, boolean pure) {
        boolean holds(MemorySegment segment) {
            return from <= segment.address() && segment.address() + segment.byteSize() <= to;
        }
    }

    private volatile @Nullable Range last;

    /** Forgets the pages of data that has been read. */
    void forget(ConstantData data) {
        if (data instanceof ConstantData.Dense dense && isWorth(dense.segment()) && isPure(dense.segment())) {
            Pages.forget(dense.segment());
        }
    }

    private static boolean isWorth(MemorySegment segment) {
        return segment.isMapped() && segment.byteSize() >= LEAST_BYTES;
    }

    private boolean isPure(MemorySegment segment) {
        Range known = last;
        if (known == null || !known.holds(segment)) {
            known = find(segment);
            last = known;
        }
        return known != null && known.pure;
    }

    private static @Nullable Range find(MemorySegment segment) {
        try (BufferedReader lines = Files.newBufferedReader(MAPPINGS)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int dash = line.indexOf('-');
                int space = line.indexOf(' ');
                long from = Long.parseUnsignedLong(line, 0, dash, 16);
                long to = Long.parseUnsignedLong(line, dash + 1, space, 16);
                Range range = new Range(from, to, line.startsWith(READ_ONLY_SHARED, space + 1));
                if (range.holds(segment)) {
                    return range;
                }
            }
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException _) {
            return null; // another system: pages stay
        }
        return null;
    }
}
