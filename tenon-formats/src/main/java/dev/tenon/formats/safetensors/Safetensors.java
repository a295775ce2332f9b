package dev.tenon.formats.safetensors;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * A safetensors file: named tensors, little-endian and row-major, behind a JSON header.
 *
 * <p>Files are hostile: every length is checked before anything is allocated, and the tensors must fill the data
 * without gap or overlap, as the reference library demands. Immutable and thread-safe. Source: the format's description
 * in huggingface/safetensors.
 */
public final class Safetensors {
    /**
     * The most bytes that a header may have unless the caller says otherwise: 100 MB, the reference library's limit.
     */
    public static final long MAX_HEADER_BYTES = 100_000_000;

    /** Where a tensor's bytes lie behind the header. */
    record Entry(TensorType type, long begin, long end) {}

    private final String file;
    private final SequencedMap<String, String> metadata;
    private final SequencedMap<String, Entry> entries;
    private final MemorySegment data;

    private Safetensors(String file, SafetensorsHeader header, MemorySegment data) {
        this.file = file;
        this.metadata = header.metadata();
        this.entries = header.entries();
        this.data = data;
    }

    /**
     * Reads a file; it stays mapped as long as its tensors are used, and must not change meanwhile.
     *
     * @throws ImportException when it cannot be read or is not a safetensors file; the message names the tensor
     */
    public static Safetensors read(Path path) {
        return read(path, MAX_HEADER_BYTES);
    }

    /**
     * Reads a file with a header of at most {@code maxHeaderBytes}.
     *
     * @throws ImportException as {@link #read(Path)}
     */
    public static Safetensors read(Path path, long maxHeaderBytes) {
        Require.nonNull(path, "path");
        String file = String.valueOf(path.getFileName());
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            return parse(file, bytes, maxHeaderBytes);
        } catch (IOException e) {
            throw ImportException.unreadable(path, e);
        }
    }

    /**
     * Reads tensors from memory, which they may stay views of.
     *
     * @param file stands for the file name in messages
     * @throws ImportException as {@link #read(Path)}
     */
    public static Safetensors parse(String file, MemorySegment bytes, long maxHeaderBytes) {
        Require.nonNull(file, "file");
        Require.nonNull(bytes, "bytes");
        SafetensorsHeader header = SafetensorsHeader.read(file, bytes, maxHeaderBytes);
        return new Safetensors(file, header, bytes.asSlice(header.dataStart()));
    }

    /** Returns the header's {@code __metadata__}, empty when there is none. */
    public Map<String, String> metadata() {
        return Collections.unmodifiableMap(metadata);
    }

    /** Returns each tensor's type by name, in the header's order. */
    public SequencedMap<String, TensorType> types() {
        SequencedMap<String, TensorType> types = new LinkedHashMap<>();
        entries.forEach((name, entry) -> types.put(name, entry.type()));
        return types;
    }

    /**
     * Returns a tensor: a view of the file, or a copy where its elements do not lie at multiples of their size.
     *
     * @throws InputException when there is no tensor of that name
     */
    public Tensor tensor(String name) {
        Entry entry = entries.get(Require.nonNull(name, "name"));
        if (entry == null) {
            throw InputException.of("name", file + ": there is no tensor \"" + name + "\"; it has " + entries.keySet());
        }
        MemorySegment bytes = data.asSlice(entry.begin(), entry.end() - entry.begin());
        DType dtype = entry.type().dtype();
        if (bytes.address() % dtype.bytes() != 0) {
            Tensor aligned = Tensor.zeros(entry.type());
            aligned.segment().copyFrom(bytes);
            return aligned;
        }
        return Tensor.wrap(entry.type(), bytes);
    }
}
