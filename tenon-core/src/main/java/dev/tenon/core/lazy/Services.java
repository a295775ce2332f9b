package dev.tenon.core.lazy;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Reads all providers of a service. */
public final class Services {
    private Services() {}

    /**
     * Returns the loader's providers in its order.
     *
     * @param loader made by the caller, whose module declares the use
     * @throws ServiceConfigurationError when a provider is broken
     * @throws OutOfMemoryError when the heap was exhausted meanwhile; the loader itself would hide it in an error of
     *     its own
     */
    public static <S> List<S> all(ServiceLoader<S> loader) {
        List<S> found = new ArrayList<>();
        try {
            loader.forEach(found::add);
        } catch (ServiceConfigurationError e) {
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
                if (cause instanceof OutOfMemoryError exhausted) {
                    throw exhausted;
                }
            }
            throw e;
        }
        return found;
    }
}
