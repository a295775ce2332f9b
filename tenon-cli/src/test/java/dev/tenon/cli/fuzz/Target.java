package dev.tenon.cli.fuzz;

import java.util.SplittableRandom;

/** A kind of file: how to make a changed one, and what to do with it. */
interface Target {
    /** What figures call it. */
    String name();

    /** A changed file, the same for the same state of the random numbers. */
    byte[] next(SplittableRandom random);

    /**
     * Uses a file as a user would.
     *
     * @return what became of it, in a word
     * @throws dev.tenon.core.error.TenonException when it is refused, which is right
     * @throws Throwable when something is wrong
     */
    String use(byte[] file) throws Throwable;
}
