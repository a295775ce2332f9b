package dev.tenon.cpu.plan;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LedgerMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The constants of one model in the forms that its steps read: as they lie, copied, or packed for a kernel. Each form
 * is made once, whatever the number of plans, and lives as long as a plan that reads it.
 *
 * <p>Thread-safe.
 */
public final class CpuWeights implements Device.Constants {
    private static final String DENSE = "dense";

    /** Owns no arena, so what it may read every thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    /**
     * Equal data is the same memory of the same type (or an equal splat), so a weight that two nodes use is packed
     * once.
     */
    private record Key(ConstantData data, String layout) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key && data.equals(key.data) && layout.equals(key.layout);
        }

        @Override
        public int hashCode() {
            return data.hashCode() * 31 + layout.hashCode();
        }
    }

    /** Constants of a mapped file above this size are used where they lie. */
    private static final long MAPPED_BYTES = 4 << 20;

    /** Forms from this size on are made on other threads, while the plan goes on. */
    private static final long ASIDE_BYTES = 64 << 10;

    /** A part that is smaller than this share of the whole is copied alone. */
    private static final long MOST_PARTS = 64;

    /** A constant in one form, and the plans that read it. */
    private static final class Form {
        final Key key;
        final LedgerMemory.Piece piece;
        final MemorySegment segment;
        /** Null where it was made at once. */
        final @Nullable Filling filling;
        /** How often plans have it in their lists. */
        int holds;

        @Nullable
        ForPlan lastUser;

        Form(Key key, LedgerMemory.Piece piece, @Nullable Filling filling) {
            this.key = key;
            this.piece = piece;
            this.filling = filling;
            this.segment = piece.segment().asReadOnly();
        }

        void free() {
            if (filling != null) {
                filling.end();
            }
            piece.close();
        }
    }

    private final LedgerMemory memory;
    private final MappedConstants mapped = new MappedConstants();
    private final Map<Key, Form> made = new HashMap<>();
    /**
     * By address of the data: the longest copy. A plan for a shorter sequence reads the first rows of a table's copy
     * that another plan has.
     */
    private final Map<Long, Form> longest = new HashMap<>();

    /** What lowerings found that holds for all plans. */
    private final Map<Object, Object> lasting = new ConcurrentHashMap<>();

    private boolean closed;

    public CpuWeights(LedgerMemory memory) {
        this.memory = memory;
    }

    /** The constants as one plan sees them. */
    public ForPlan forPlan() {
        return new ForPlan();
    }

    /** What one plan reads, held until it is closed. */
    public final class ForPlan implements AutoCloseable {
        /** Guarded by the weights. */
        private final List<Form> used = new ArrayList<>();

        private ForPlan() {}

        /**
         * All elements of a constant. Large dense data stays where it lies, in the mapped file: a table of embeddings
         * costs the pages of the rows that are looked up. Vector loops take no mapped memory ({@link Segments}), so
         * the smaller constants, which they do read, are copied.
         */
        MemorySegment dense(ConstantData data) {
            return switch (data) {
                case ConstantData.Dense(TensorType _, MemorySegment segment, MemorySegment whole) -> {
                    if (isUsable(segment) || staysMapped(segment)) {
                        yield segment;
                    }
                    boolean ofWhole = whole.byteSize() > segment.byteSize()
                            && segment.isNative()
                            && whole.byteSize() <= MAPPED_BYTES
                            && whole.byteSize() / MOST_PARTS <= segment.byteSize();
                    yield ofWhole ? part(segment, whole) : copied(data, segment);
                }
                case ConstantData.Splat splat ->
                    prepared(
                            data,
                            DENSE,
                            _ -> new CpuLoweringContext.Prepared(splat.type().bytes(), to -> splat.fill(to)));
            };
        }

        /** Of a copy of the whole constant, which serves all its parts. */
        private MemorySegment part(MemorySegment segment, MemorySegment whole) {
            ConstantData all = new ConstantData.Dense(TensorType.of(DType.U8, whole.byteSize()), whole);
            return prepared(
                            all,
                            DENSE,
                            _ -> new CpuLoweringContext.Prepared(whole.byteSize(), to -> to.copyFrom(whole)))
                    .asSlice(segment.address() - whole.address(), segment.byteSize());
        }

        private MemorySegment copied(ConstantData data, MemorySegment segment) {
            synchronized (CpuWeights.this) {
                Form known = longest.get(segment.address());
                if (segment.isNative() && known != null && known.segment.byteSize() >= segment.byteSize()) {
                    return use(known).segment.asSlice(0, segment.byteSize());
                }
                MemorySegment copy = prepared(
                        data,
                        DENSE,
                        _ -> new CpuLoweringContext.Prepared(segment.byteSize(), to -> to.copyFrom(segment)));
                if (segment.isNative()) {
                    longest.put(segment.address(), Objects.requireNonNull(made.get(new Key(data, DENSE))));
                }
                return copy;
            }
        }

        MemorySegment prepared(
                ConstantData data, String layout, Function<ConstantData, CpuLoweringContext.Prepared> make) {
            synchronized (CpuWeights.this) {
                Key key = new Key(data, layout);
                Form form = made.get(key);
                if (form == null) {
                    form = make(key, make);
                }
                return use(form).segment;
            }
        }

        /** What was made for a key first. Two threads may both make it; one is kept. */
        Object lasting(Object key, Supplier<?> make) {
            Object known = lasting.get(key);
            if (known == null) {
                Object made = make.get();
                Object before = lasting.putIfAbsent(key, made);
                known = before == null ? made : before;
            }
            return known;
        }

        /**
         * Returns when all forms that were asked for are made: before that, nothing may read those that were
         * {@link #prepared}.
         */
        void await() {
            List<Form> asked;
            synchronized (CpuWeights.this) {
                asked = List.copyOf(used);
            }
            for (Form form : asked) {
                if (form.filling != null) {
                    form.filling.await();
                }
            }
        }

        private Form use(Form form) {
            if (form.lastUser != this) { // one that two plans take in turn is held more than once
                form.lastUser = this;
                form.holds++;
                used.add(form);
            }
            return form;
        }

        /** Frees the forms that no other plan reads. Idempotent; no step of the plan may run any more. */
        @Override
        public void close() {
            synchronized (CpuWeights.this) {
                while (!used.isEmpty()) {
                    Form form = used.removeLast();
                    form.lastUser = null;
                    if (--form.holds == 0 && made.remove(form.key, form)) {
                        forget(form);
                    }
                }
            }
        }
    }

    private Form make(Key key, Function<ConstantData, CpuLoweringContext.Prepared> make) {
        if (closed) {
            throw new ClosedException("the model is closed");
        }
        CpuLoweringContext.Prepared prepared = make.apply(key.data());
        LedgerMemory.Piece piece = memory.allocate(
                prepared.bytes(),
                MemoryLedger.Use.WEIGHTS,
                "constant " + key.data().type() + " as " + key.layout());
        try {
            Filling filling = null;
            Consumer<MemorySegment> fill = prepared.fill().andThen(_ -> mapped.forget(key.data()));
            if (aside(key, prepared)) {
                filling = Filling.start(fill, piece.segment());
            } else {
                fill.accept(piece.segment());
            }
            Form form = new Form(key, piece, filling);
            made.put(key, form);
            return form;
        } catch (RuntimeException | Error e) {
            piece.close();
            throw e;
        }
    }

    /** Lowerings may look at dense copies. What only this thread may read is read by this thread. */
    private static boolean aside(Key key, CpuLoweringContext.Prepared prepared) {
        return prepared.bytes() >= ASIDE_BYTES
                && !key.layout().equals(DENSE)
                && key.data() instanceof ConstantData.Dense dense
                && dense.segment().isAccessibleBy(ANY_THREAD);
    }

    private void forget(Form form) {
        if (form.key.data() instanceof ConstantData.Dense dense) {
            longest.remove(dense.segment().address(), form);
        }
        form.free();
    }

    private static boolean staysMapped(MemorySegment segment) {
        return segment.isMapped() && segment.isAccessibleBy(ANY_THREAD) && segment.byteSize() > MAPPED_BYTES;
    }

    /**
     * Whether all kernels can read the memory as it is, on any thread: outside the heap, not mapped, not confined.
     * They read at any alignment.
     */
    static boolean isUsable(MemorySegment segment) {
        return segment.isNative() && !segment.isMapped() && segment.isAccessibleBy(ANY_THREAD);
    }

    @Override
    public synchronized long bytes() {
        return made.values().stream().mapToLong(form -> form.segment.byteSize()).sum();
    }

    @Override
    public synchronized void close() {
        closed = true;
        made.values().forEach(Form::free);
        made.clear();
        longest.clear();
    }
}
