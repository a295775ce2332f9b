package dev.tenon.core.runtime;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.core.lazy.Services;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** The backends on the module or class path, the preferred one first. Looked for once. */
final class Backends {
    private static final Lazy<List<Backend>> ALL = new Lazy<>() {
        @Override
        protected List<Backend> make() {
            return find();
        }
    };

    private Backends() {}

    private static List<Backend> find() {
        List<Backend> found = Services.all(ServiceLoader.load(Backend.class, Backend.class.getClassLoader()));
        if (found.isEmpty()) { // an application server gives libraries and applications loaders of their own
            found = Services.all(ServiceLoader.load(Backend.class));
        }
        found.sort(Comparator.comparingInt(Backend::preference).reversed());
        return List.copyOf(found);
    }

    static List<Backend> all() {
        return ALL.get();
    }

    static Backend named(String name) {
        return all().stream()
                .filter(backend -> backend.name().equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new UnsupportedException("no backend \"" + name + "\" is on the class or module path; there: "
                                + all().stream().map(Backend::name).toList()
                                + (all().isEmpty() ? " (add dev.tenon:tenon-cpu)" : "")));
    }
}
