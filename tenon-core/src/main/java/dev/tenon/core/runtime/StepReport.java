package dev.tenon.core.runtime;

import java.util.List;

/**
 * One step of a program.
 *
 * @param op the operation's mnemonic
 * @param node the name the model gave it
 * @param types inputs and outputs in short: {@code f32[2,3] f32[3,4] -> f32[2,4]}
 * @param tier which implementation runs it
 * @param passedOver each tier before it in the ladder, with the reason it was not taken
 */
public record StepReport(String op, String node, String types, String tier, List<String> passedOver) {
    public StepReport {
        passedOver = List.copyOf(passedOver);
    }
}
