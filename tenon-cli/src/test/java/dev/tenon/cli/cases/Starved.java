package dev.tenon.cli.cases;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * The child of {@link StarvedTest}: threads open, compile and run while another thread takes the heap and gives parts
 * of it back. Then the heap is given back whole, and everything must work again.
 *
 * <p>While it starves, a thread may meet an {@link OutOfMemoryError} or a {@link TenonException}, nothing else, and no
 * wrong result.
 *
 * <p>Arguments: the device, the seconds to starve, how many threads, and the size in KiB of the pieces in which the
 * heap is taken: small ones leave nothing, not even for the JDK's own first uses.
 */
final class Starved {
    private static final int KINDS = 8;
    private static final int RECOVERY_RUNS = 40;

    private final Target target;
    private final long seed;
    private final int piece;
    private volatile boolean starving = true;
    private volatile long starvingUntil;
    private final AtomicInteger good = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Map<String, Integer> faults = new TreeMap<>();

    private Starved(Target target, long seed, int pieceKiB) {
        this.target = target;
        this.seed = seed;
        this.piece = pieceKiB << 10;
        faults.merge("first uses of the JDK's own", 1, Integer::sum); // so that what fails later is ours
        faults.clear();
        // the JDK drops an entry of the class path for good when the heap is exhausted while it opens that entry; every
        // application has opened all of them by the first look-up that finds nothing
        Starved.class.getClassLoader().getResource("none");
    }

    public static void main(String[] args) throws InterruptedException {
        long seed = Long.getLong("tenon.seed", 1);
        new Starved(Target.parse(args[0]), seed, Integer.parseInt(args[3]))
                .run(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    }

    private void run(int seconds, int threads) throws InterruptedException {
        starvingUntil = System.nanoTime() + seconds * 1_000_000_000L;
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            workers.add(new Thread(() -> starve(number), "worker-" + i));
        }
        Thread hog = new Thread(this::hog, "hog");
        hog.start();
        workers.forEach(Thread::start);
        hog.join();
        starving = false;
        for (Thread worker : workers) {
            worker.join(60_000);
            if (worker.isAlive()) {
                hung(worker);
                return;
            }
        }
        System.out.println("starved: " + good + " right, " + refused + " refused, faults " + faults);
        good.set(0);
        faults.clear();
        for (int i = 0; i < RECOVERY_RUNS; i++) {
            recovered(i);
        }
        System.out.println("recovered: " + good + " right of " + RECOVERY_RUNS + ", faults " + faults);
    }

    private static void hung(Thread worker) {
        System.out.println("hung: " + worker.getName());
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            System.out.println("  " + thread.getName() + " " + thread.getState());
            for (StackTraceElement element : stack) {
                System.out.println("    " + element);
            }
        });
        java.lang.Runtime.getRuntime().halt(3);
    }

    /** Takes the heap in small pieces until there is no more, lets go of some or all of them, waits, and again. */
    private void hog() {
        RandomGenerator random = random(-1);
        byte[][] pieces = new byte[4096][];
        int count = 0;
        while (System.nanoTime() < starvingUntil) {
            try {
                while (count < pieces.length) {
                    pieces[count] = new byte[piece + random.nextInt(piece)];
                    count++;
                }
            } catch (OutOfMemoryError _) {
                // full
            }
            LockSupport.parkNanos(random.nextInt(5_000_000));
            int keep = random.nextBoolean() ? 0 : count - random.nextInt(Math.max(1, count / (1 + random.nextInt(32))));
            while (count > keep) {
                pieces[--count] = null;
            }
            LockSupport.parkNanos(keep == 0 ? random.nextLong(800_000_000) : random.nextLong(20_000_000));
        }
    }

    private RandomGenerator random(int thread) {
        return RandomGeneratorFactory.of("L64X128MixRandom").create(seed * 1000 + thread);
    }

    private void starve(int number) {
        RandomGenerator random = random(number);
        while (starving) {
            attempt(random.nextInt(KINDS), 1 + random.nextInt(40), true);
        }
    }

    private void recovered(int i) {
        attempt(i % KINDS, 1 + i, false);
    }

    /**
     * One runtime from opening to closing, with a few runs.
     *
     * @param full whether the heap was full when it began, so that a refusal is right
     */
    private void attempt(int kind, int rows, boolean full) {
        try {
            use(kind, rows);
            good.incrementAndGet();
        } catch (TenonException e) {
            refused.incrementAndGet();
            if (!full) {
                fault(e);
            }
        } catch (OutOfMemoryError e) {
            refused.incrementAndGet();
            if (!full) {
                fault(e);
            }
        } catch (IllegalArgumentException e) {
            // the JVM throws one and the same error when it has no memory for another: a body and its close() may meet
            // it
            if (!full || !"Self-suppression not permitted".equals(e.getMessage())) {
                fault(e);
            }
        } catch (Throwable e) {
            fault(e);
        }
    }

    private void fault(Throwable e) {
        try {
            synchronized (faults) {
                String word = e + (e.getStackTrace().length > 0 ? " at " + e.getStackTrace()[0] : "");
                if (faults.merge(word, 1, Integer::sum) == 1) {
                    e.printStackTrace(System.out);
                }
            }
        } catch (OutOfMemoryError _) {
            System.exit(4);
        }
    }

    private void use(int kind, int rows) {
        try (Engine runtime = Engine.open(target);
                CompiledModel model = runtime.compile(graph(kind))) {
            for (int turn = 0; turn < 2; turn++) {
                try (Session session = model.newSession()) {
                    for (int run = 0; run < 3; run++) {
                        check(kind, rows + run, session);
                    }
                }
            }
        }
    }

    private static Graph graph(int kind) {
        return GraphBuilder.build("kind" + kind, g -> {
            Value x = g.input("x", DType.F32, Dim.named("rows"), Dim.of(8));
            Value ones = g.constant(ones());
            Value y = switch (kind) {
                case 0 -> g.softmax(x, -1);
                case 1 -> g.mul(g.unary(UnaryFn.EXP, x), ones);
                case 2 -> g.matmul(x, g.reshape(g.concat(List.of(ones, ones), 0), 8, 2));
                case 3 -> g.reduce(ReduceFn.SUM, x, false, 1);
                case 4 -> g.transpose(x, 1, 0);
                case 5 -> g.unary(UnaryFn.GELU, x);
                case 6 -> g.add(g.unary(UnaryFn.SIGMOID, x), g.unary(UnaryFn.TANH, x));
                default -> g.layerNorm(x, ones, g.sub(ones, ones), 1e-5);
            };
            g.output("y", y);
        });
    }

    private static ConstantData ones() {
        Tensor ones = Tensor.of(new float[] {1, 1, 1, 1, 1, 1, 1, 1}, 8);
        return new ConstantData.Dense(ones.type(), ones.segment());
    }

    private static void check(int kind, int rows, Session session) {
        float[] values = new float[rows * 8];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i * 7 % 11) / 8f - 0.5f;
        }
        float[] y =
                session.run(Map.of("x", Tensor.of(values, rows, 8))).get("y").toFloats();
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < width(kind); column++) {
                double want = expected(kind, values, row, column);
                int at = kind == 4 ? column * rows + row : row * width(kind) + column;
                if (!(Math.abs(y[at] - want) <= 1e-4 * Math.max(1, Math.abs(want)))) {
                    throw new IllegalStateException("wrong: kind " + kind + ", " + rows + " rows, element " + at
                            + " is " + y[at] + ", expected " + want);
                }
            }
        }
    }

    private static int width(int kind) {
        return switch (kind) {
            case 2 -> 2;
            case 3 -> 1;
            default -> 8;
        };
    }

    private static double expected(int kind, float[] x, int row, int column) {
        double sum = 0;
        double exps = 0;
        double squares = 0;
        for (int i = 0; i < 8; i++) {
            double value = x[row * 8 + i];
            sum += value;
            exps += Math.exp(value);
            squares += value * value;
        }
        double own = x[row * 8 + Math.min(column, 7)];
        double mean = sum / 8;
        return switch (kind) {
            case 0 -> Math.exp(own) / exps;
            case 1 -> Math.exp(own);
            case 2, 3 -> sum;
            case 4 -> own;
            case 5 -> own * 0.5 * (1 + erf(own / Math.sqrt(2)));
            case 6 -> 1 / (1 + Math.exp(-own)) + Math.tanh(own);
            default -> (own - mean) / Math.sqrt(squares / 8 - mean * mean + 1e-5);
        };
    }

    /** By its series, for small arguments. */
    private static double erf(double x) {
        double term = x;
        double sum = x;
        for (int n = 1; n < 40; n++) {
            term *= -x * x / n;
            sum += term / (2 * n + 1);
        }
        return sum * 2 / Math.sqrt(Math.PI);
    }
}
