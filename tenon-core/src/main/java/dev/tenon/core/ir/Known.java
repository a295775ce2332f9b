package dev.tenon.core.ir;

import dev.tenon.core.error.DataException;
import java.util.List;

/** The values of a {@link Deferred} operation's needed inputs. */
public interface Known {
    /** The value of an input, by its index. */
    NdArray value(int input);

    /** The value as longs, for shapes, axes and counts. */
    default long[] longs(int input) {
        return value(input).toLongs();
    }

    /** The only element of an input's value. @throws DataException where it has more or none */
    default long single(int input) {
        NdArray value = value(input);
        if (value.size() != 1) {
            throw new DataException("input " + input + " has shape " + value.shape() + "; expected one element");
        }
        return value.getLong(0);
    }

    static Known of(List<NdArray> values) {
        return values::get;
    }
}
