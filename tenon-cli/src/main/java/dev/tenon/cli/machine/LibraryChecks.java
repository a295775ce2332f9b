package dev.tenon.cli.machine;

import dev.tenon.cuda.driver.CudaLibraryReport;
import dev.tenon.nativelib.LibrarySearch;
import dev.tenon.nativelib.LibrarySearch.Attempt;
import dev.tenon.nativelib.LibrarySearch.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The searches for CUDA's libraries, as text and as objects. */
final class LibraryChecks {
    private LibraryChecks() {}

    /** {@code 13.0 at /usr/lib/…}, or what is lost. */
    static String found(CudaLibraryReport report) {
        LibrarySearch search = report.search();
        return search.opened()
                .map(library -> (report.version().isEmpty() ? "" : report.version() + " at ") + library.name())
                .orElse("not there; lost: " + search.library().lost());
    }

    /** Every name and place, and what happened where more happened than nothing. */
    static List<String> lines(LibrarySearch search) {
        List<String> lines = new ArrayList<>();
        if (search.attempts().isEmpty()) {
            return lines;
        }
        lines.add("names: " + String.join(", ", search.files()));
        lines.add("places: " + String.join(", ", search.places()));
        search.attempts().stream()
                .filter(attempt -> attempt.outcome() == Outcome.REFUSED)
                .map(attempt -> "refused: " + attempt.detail())
                .distinct()
                .forEach(lines::add);
        return lines;
    }

    static Map<String, Object> object(CudaLibraryReport report) {
        LibrarySearch search = report.search();
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("check", search.library().name());
        object.put("ok", search.found() != null);
        object.put("found", found(report));
        object.put("version", report.version().isEmpty() ? null : report.version());
        object.put("lost", search.library().lost());
        object.put("fix", search.found() != null ? null : search.library().fix());
        object.put(
                "tried", search.attempts().stream().map(LibraryChecks::object).toList());
        return object;
    }

    private static Map<String, Object> object(Attempt attempt) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("file", attempt.file());
        object.put("place", attempt.place());
        object.put(
                "outcome",
                attempt.outcome().name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
        object.put("detail", attempt.detail().isEmpty() ? null : attempt.detail());
        return object;
    }
}
