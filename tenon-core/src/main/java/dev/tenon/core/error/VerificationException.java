package dev.tenon.core.error;

import java.util.List;

/** A graph that breaks the rules of the IR; carries every finding, not just the first. */
public final class VerificationException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> findings;

    public VerificationException(String graph, List<String> findings) {
        this(
                "graph \"" + graph + "\" has " + findings.size() + " fault(s): " + String.join("; ", findings),
                findings,
                0);
    }

    private VerificationException(String message, List<String> findings, int unused) {
        super(message);
        this.findings = List.copyOf(findings);
    }

    /** All that was found, one line each. */
    public List<String> findings() {
        return findings;
    }

    @Override
    TenonException located(String message) {
        return new VerificationException(message, findings, 0);
    }
}
