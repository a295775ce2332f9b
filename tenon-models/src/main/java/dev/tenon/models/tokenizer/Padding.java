package dev.tenon.models.tokenizer;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;

/**
 * How encodings are brought to one length.
 *
 * @param fixedLength the length to pad to, or 0 to pad to the longest of a batch; longer encodings keep their length
 * @param multipleOf the padded length is rounded up to a multiple of this; 1 or less leaves it alone
 * @param direction the end at which padding is put
 * @param id the id of the padding token
 * @param typeId the type id of padding
 * @param token the text of the padding token
 */
public record Padding(int fixedLength, int multipleOf, Direction direction, int id, int typeId, String token) {
    /** The most that {@code fixedLength} and {@code multipleOf} may be: far beyond any model, far below any memory. */
    static final int MAX_LENGTH = 1 << 20;

    public Padding {
        if (fixedLength < 0 || fixedLength > MAX_LENGTH) {
            throw InputException.of(
                    "fixedLength",
                    "argument \"fixedLength\" is " + fixedLength + "; expected 0, for the longest of the batch, to "
                            + MAX_LENGTH);
        }
        if (multipleOf < 0 || multipleOf > MAX_LENGTH) {
            throw InputException.of(
                    "multipleOf", "argument \"multipleOf\" is " + multipleOf + "; expected 0 to " + MAX_LENGTH);
        }
        if (id < 0) {
            throw InputException.of("id", "argument \"id\" is " + id + "; expected 0 or more");
        }
        if (typeId < 0) {
            throw InputException.of("typeId", "argument \"typeId\" is " + typeId + "; expected 0 or more");
        }
        Require.nonNull(direction, "direction");
        Require.nonNull(token, "token");
    }

    /** The same padding token, to the longest encoding of a batch. */
    public Padding toLongest() {
        return new Padding(0, multipleOf, direction, id, typeId, token);
    }

    /** The same padding token, to a fixed length in tokens. */
    public Padding toLength(int length) {
        return new Padding(length, multipleOf, direction, id, typeId, token);
    }

    /** The same padding token, with lengths rounded up to a multiple of {@code multiple}. */
    public Padding toMultipleOf(int multiple) {
        return new Padding(fixedLength, multiple, direction, id, typeId, token);
    }

    /** The length in tokens that encodings are padded to, the longest of which has {@code longest} tokens. */
    int target(int longest) {
        int length = fixedLength > 0 ? fixedLength : longest;
        int over = multipleOf > 1 ? length % multipleOf : 0;
        return over == 0 ? length : Math.addExact(length, multipleOf - over);
    }
}
