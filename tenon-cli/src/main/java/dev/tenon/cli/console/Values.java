package dev.tenon.cli.console;

import dev.tenon.collective.inprocess.InProcessGroup;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.Target;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.models.embedding.Pooling;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What options take where their types say too little. Anything else is wrong usage, told before any work begins. */
public final class Values {
    private Values() {}

    /** A whole number in a range. */
    public abstract static class Whole implements ITypeConverter<Integer> {
        private final long least;
        private final long most;

        public Whole(long least, long most) {
            this.least = least;
            this.most = most;
        }

        @Override
        public Integer convert(String value) {
            return (int) whole(value, least, most);
        }
    }

    private static long whole(String value, long least, long most) {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException _) {
            // said below
        }
        boolean open = most == Integer.MAX_VALUE || most == Long.MAX_VALUE;
        throw wrong(value, "a whole number, " + least + (open ? " or more" : " to " + most));
    }

    /** Wrong usage, in one form. */
    public static TypeConversionException wrong(String value, String expected) {
        return new TypeConversionException("'" + value + "' is not possible; expected " + expected);
    }

    /** 1 or more. */
    public static final class Positive extends Whole {
        Positive() {
            super(1, Integer.MAX_VALUE);
        }
    }

    /** Worker threads; 0 stands for one a core. */
    static final class Threads extends Whole {
        Threads() {
            super(0, EngineOptions.MOST_THREADS);
        }
    }

    /** Worker threads, counted. */
    public static final class ThreadCount extends Whole {
        ThreadCount() {
            super(1, EngineOptions.MOST_THREADS);
        }
    }

    /** Tokens of a text, with the two special ones. */
    public static final class Tokens extends Whole {
        Tokens() {
            super(3, 1 << 24);
        }
    }

    /** A path that this system and this JVM's locale have. */
    public static final class FilePath implements ITypeConverter<Path> {
        @Override
        public Path convert(String value) {
            try {
                return Path.of(value);
            } catch (InvalidPathException e) {
                throw new TypeConversionException(words(e));
            }
        }

        /** What is wrong, and the fix: under a locale without UTF-8, Java has no path that is not ASCII. */
        static String words(InvalidPathException e) {
            return "'" + e.getInput() + "' is no path here: "
                    + (Arguments.localeIsUtf8()
                            ? e.getReason()
                            : "the locale's encoding is " + Arguments.locale()
                                    + ", which does not have it; set LC_ALL=C.UTF-8, or another locale with UTF-8");
        }
    }

    /** How token vectors become one. */
    public static final class PoolingRule implements ITypeConverter<Pooling> {
        @Override
        public Pooling convert(String value) {
            for (Pooling pooling : Pooling.values()) {
                if (pooling.word().equalsIgnoreCase(value)) {
                    return pooling;
                }
            }
            throw wrong(
                    value,
                    "one of " + Stream.of(Pooling.values()).map(Pooling::word).toList());
        }
    }

    /** An execution: stream, graph, multi:N or graph:N. */
    public static final class Mode implements ITypeConverter<Execution> {
        @Override
        public Execution convert(String value) {
            try {
                return Execution.parse(value.toLowerCase(Locale.ROOT));
            } catch (InputException _) {
                throw wrong(value, "stream, graph, multi:N or graph:N with N from 1 to " + Execution.MOST_STREAMS);
            }
        }
    }

    /** Ranks that are processes. */
    public static final class Ranks extends Whole {
        Ranks() {
            super(1, 1024);
        }
    }

    /** A TCP port, or 0. */
    public static final class Port extends Whole {
        Port() {
            super(0, 65535);
        }
    }

    /** A size or bytes, 0 or more. */
    public static final class Size implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return whole(value, 0, Long.MAX_VALUE);
        }
    }

    /** Bytes of a vector of f32. */
    public static final class FloatBytes implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            long bytes = whole(value, 4, Long.MAX_VALUE);
            if (bytes % 4 != 0) {
                throw wrong(value, "bytes of f32 elements, a multiple of 4");
            }
            return bytes;
        }
    }

    /** The names of a map's values. */
    public static final class Name implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return value;
        }
    }

    /** A duration. */
    public static final class Seconds implements ITypeConverter<Double> {
        @Override
        public Double convert(String value) {
            try {
                double seconds = Double.parseDouble(value);
                if (seconds >= 0 && Double.isFinite(seconds)) {
                    return seconds;
                }
            } catch (NumberFormatException _) {
                // said below
            }
            throw wrong(value, "a number, 0 or more");
        }
    }

    /** {@code best}, or a backend that is there, with or without a number. */
    public static final class Device implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return value.equals("best") ? value : device(value, Target.backends(), "best, or one of ");
        }
    }

    /** A GPU platform that is there, with or without a number. */
    static final class GpuDevice implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return device(
                    value, GpuPlatforms.all().stream().map(GpuPlatform::name).toList(), "one of ");
        }
    }

    private static String device(String value, List<String> names, String before) {
        try {
            if (!value.equals("best") && names.contains(Target.parse(value).backend())) {
                return value;
            }
        } catch (InputException _) {
            // said below
        }
        throw wrong(value, before + String.join(", ", names) + ", with or without a number: cuda:1");
    }

    /** {@code sm_90}. */
    public static final class Sm implements ITypeConverter<Architecture> {
        @Override
        public Architecture convert(String value) {
            try {
                return Architecture.parse(value);
            } catch (InputException _) {
                throw wrong(value, "the form sm_80 or sm_90a");
            }
        }
    }

    /** A type that the row kernels take. */
    public static final class RowType implements ITypeConverter<DType> {
        private static final List<DType> ALL = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

        @Override
        public DType convert(String value) {
            return ALL.stream()
                    .filter(type -> type.toString().equals(value.toLowerCase(Locale.ROOT)))
                    .findFirst()
                    .orElseThrow(() -> wrong(value, "one of f32, f16, bf16, f64"));
        }
    }

    /** Sizes of dims. */
    public static final class Shape implements ITypeConverter<Sizes> {
        @Override
        public Sizes convert(String value) {
            if (!Sizes.isOne(value)) {
                throw wrong(value, "sizes with an x between them, such as 1x128");
            }
            return Sizes.of(value);
        }
    }

    /** Rows and columns. */
    public static final class Rows implements ITypeConverter<Sizes> {
        @Override
        public Sizes convert(String value) {
            return pair(value, Long.MAX_VALUE, 1, Long.MAX_VALUE, "ROWSxCOLS, such as 1024x1024");
        }
    }

    /** Ranks and elements. */
    public static final class WorldAndLength implements ITypeConverter<Sizes> {
        @Override
        public Sizes convert(String value) {
            return pair(
                    value,
                    InProcessGroup.LARGEST_WORLD,
                    0,
                    Integer.MAX_VALUE,
                    "WORLDxLENGTH, such as 4x1024, with 1 to " + InProcessGroup.LARGEST_WORLD + " ranks");
        }
    }

    private static Sizes pair(String value, long mostFirst, long leastSecond, long mostSecond, String expected) {
        if (Sizes.isOne(value)) {
            Sizes sizes = Sizes.of(value);
            if (sizes.count() == 2
                    && sizes.at(0) >= 1
                    && sizes.at(0) <= mostFirst
                    && sizes.at(1) >= leastSecond
                    && sizes.at(1) <= mostSecond) {
                return sizes;
            }
        }
        throw wrong(value, expected);
    }
}
