package dev.tenon.core.ir.op.control;

import dev.tenon.core.ir.rule.Rules;

/**
 * Along which axis, counted from the front, a {@link Scan} takes a value apart or puts one together, and from which
 * end.
 */
public record ScanAxis(int axis, boolean reverse) {
    public ScanAxis {
        Rules.fromFront("scan", axis);
    }
}
