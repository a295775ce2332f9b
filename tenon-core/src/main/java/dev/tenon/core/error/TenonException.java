package dev.tenon.core.error;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Every fault that Tenon reports. The message is one line that names the operation, the values and what was expected,
 * in the form {@code matmul: inner dimensions differ: lhs [2,3], rhs [4,5]; expected rhs dim 0 = 3 (node
 * "/layer.0/q")}. What it says of names out of files is escaped and cut ({@link Text}).
 *
 * <p>What the message says in words is also there as fields, where it applies: {@link #operation()}, {@link #node()}
 * and {@link #operands()} here, further ones in the subclasses. Fields are set before an exception reaches the caller
 * and do not change after that.
 */
public abstract sealed class TenonException extends RuntimeException
        permits ShapeException,
                DTypeException,
                VerificationException,
                UnsupportedException,
                DataException,
                InputException,
                OutOfMemoryException,
                ClosedException,
                NativeException,
                CollectiveException,
                DeviceLostException,
                CaptureException,
                OverloadException,
                DeadlineException,
                ImportException {
    private static final long serialVersionUID = 1L;
    private static final String[] NONE = {};

    private @Nullable String operation;
    private @Nullable String node;
    /** An array, because exceptions are serializable. */
    private String[] operands = NONE;

    TenonException(String message) {
        super(Text.message(message));
    }

    TenonException(String message, Throwable cause) {
        super(Text.message(message), cause);
    }

    /** What a message is shown as; with lines of its own where {@code lines}. A cause is set later or never. */
    TenonException(String message, boolean lines) {
        super(lines ? Text.lines(message) : Text.message(message));
    }

    /**
     * Returns the operation that failed, as graphs name it ({@code mat_mul}, {@code layer_norm}); empty where no
     * operation is to blame.
     */
    public final Optional<String> operation() {
        return Optional.ofNullable(operation);
    }

    /** Returns the name of the graph's node that failed; empty where no node is to blame or the node has no name. */
    public final Optional<String> node() {
        return Optional.ofNullable(node);
    }

    /**
     * Returns the types of the operation's inputs, in order, as graphs write them ({@code f32[2,batch]}); empty where
     * they are not known.
     */
    public final List<String> operands() {
        return List.of(operands);
    }

    /**
     * Adds the operation and the types of its inputs, unless an operation is known already: the innermost one is to
     * blame. For those who apply operations; called before the exception is seen by others.
     *
     * @return this exception
     */
    public final TenonException within(String failed, List<String> types) {
        if (operation == null) {
            operation = failed;
        }
        if (operands.length == 0 && operation.equals(failed)) {
            operands = types.toArray(String[]::new);
        }
        return this;
    }

    /**
     * Returns the same fault with the node that it happened at in its message and fields; an exception that names a
     * node already is returned as it is.
     */
    public final TenonException at(String name) {
        String message = getMessage();
        if (name.isEmpty() || message == null || node != null || message.contains("(node \"")) {
            return this;
        }
        TenonException located = located(message + " (node \"" + Text.name(name) + "\")");
        located.operation = operation;
        located.operands = operands;
        located.node = name;
        located.initCause(this);
        return located;
    }

    /** A new exception of the same kind with another message. */
    abstract TenonException located(String message);
}
