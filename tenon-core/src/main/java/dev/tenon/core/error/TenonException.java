package dev.tenon.core.error;

/**
 * Every fault that Tenon reports. The message is one line that names the operation, the values and what was expected, in the form {@code matmul: inner dimensions differ: lhs [2,3], rhs [4,5]; expected rhs dim 0 = 3 (node
 * "/layer.0/q")}. What it says of names out of files is escaped and cut ({@link Text}).
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
                ImportException {
    private static final long serialVersionUID = 1L;

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

    /** The same fault with the node that it happened at in its message; an exception that names one already is returned as it is. */
    public final TenonException at(String node) {
        String message = getMessage();
        if (node.isEmpty() || message == null || message.contains("(node \"")) {
            return this;
        }
        TenonException located = located(message + " (node \"" + Text.name(node) + "\")");
        located.initCause(this);
        return located;
    }

    /** A new exception of the same kind with another message. */
    abstract TenonException located(String message);
}
