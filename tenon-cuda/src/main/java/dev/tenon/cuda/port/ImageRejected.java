package dev.tenon.cuda.port;

/**
 * The driver does not take an image, but might take another one of the same source: PTX newer than it, machine code of
 * another architecture. Never leaves the backend.
 */
public final class ImageRejected extends Exception {
    private static final long serialVersionUID = 1L;

    public ImageRejected(String message) {
        super(message);
    }
}
