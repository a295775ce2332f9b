package dev.tenon.cuda.lower.convolution;

/**
 * What the blocks of a kernel take by a model: they go in rounds of as many as are resident; a round takes a fixed time
 * and one for each step, which grows with the blocks that share a multiprocessor.
 *
 * @param resident blocks of a multiprocessor
 * @param fixed microseconds of a round
 * @param alone microseconds of a step, one block per multiprocessor
 * @param together microseconds of a step, all resident blocks
 */
record BlockTimes(int resident, double fixed, double alone, double together) {
    /** @param steps of a block */
    double microseconds(double blocks, long steps, int multiprocessors) {
        double rounds = Math.ceil(blocks / ((double) multiprocessors * resident));
        double sharing = Math.min(resident, Math.ceil(blocks / multiprocessors));
        double step = resident == 1 ? alone : alone + (together - alone) * (sharing - 1) / (resident - 1);
        return rounds * (fixed + steps * step);
    }
}
