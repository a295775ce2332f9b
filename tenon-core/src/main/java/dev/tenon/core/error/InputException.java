package dev.tenon.core.error;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reports an argument of a call, or an input of a run, that is not as expected: missing, null, out of range, of another
 * element type or shape. The message says what was expected.
 */
public final class InputException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String argument;

    public InputException(String message) {
        super(message);
        this.argument = null;
    }

    public InputException(String message, Throwable cause) {
        super(message, cause);
        this.argument = null;
    }

    private InputException(String message, @Nullable String argument) {
        super(message);
        this.argument = argument;
    }

    /**
     * Returns a fault of one argument.
     *
     * @param argument the parameter's name, or that of the model's input
     * @param message the whole message, which names the argument
     */
    public static InputException of(String argument, String message) {
        return new InputException(message, argument);
    }

    /** Returns the name of the parameter or of the model's input that is at fault; empty where no single one is. */
    public Optional<String> argument() {
        return Optional.ofNullable(argument);
    }

    @Override
    TenonException located(String message) {
        return new InputException(message, argument);
    }
}
