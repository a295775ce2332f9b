package dev.tenon.cpu.step;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.Precision;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** What a lowering may ask while it makes a step. */
public interface CpuLoweringContext {
    /** The slot of a value in the frame. Views have a slot of their own over the same memory. */
    int slot(Value value);

    /** Workers that a run will have. */
    int threads();

    /** Whether sums of products may be regrouped, at the price of some digits. */
    Precision precision();

    /**
     * A form of a constant that was made once for the model (packed for the matrix kernel, say), whatever the number of
     * plans. {@code layout} names the form; {@code make} is called at most once for each pair and gives memory that the
     * weights own. It may be filled on another thread, and has its contents when steps run: no lowering reads it.
     */
    MemorySegment prepared(ConstantData data, String layout, Function<ConstantData, Prepared> make);

    /** What was made for a key first, whatever the number of plans of the model. */
    <T> T lasting(Object key, Class<T> type, Supplier<T> make);

    /** Memory to be had, and what fills it. */
    record Prepared(long bytes, Consumer<MemorySegment> fill) {}
}
