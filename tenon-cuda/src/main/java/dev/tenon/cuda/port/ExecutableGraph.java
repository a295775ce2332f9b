package dev.tenon.cuda.port;

/** A graph ready to be launched. Launches of one follow one another. */
public interface ExecutableGraph extends AutoCloseable {
    /**
     * Takes over the parameters of a newer capture of the same work.
     *
     * @return false when the work differs too much: then instantiate anew
     */
    boolean update(CapturedGraph newer);

    @Override
    void close();
}
