package dev.tenon.collective.inprocess;

import java.util.function.BooleanSupplier;

/**
 * A wait in the middle of an operation: ends with the condition, or with the exception that the operation fails with.
 */
interface Wait {
    void until(BooleanSupplier condition);
}
