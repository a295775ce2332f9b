package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.HEUR_MODE_A;
import static dev.tenon.nativelib.cudnn.CudnnConstants.HEUR_MODE_FALLBACK;

import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.tuning.Choice;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Siblings;
import dev.tenon.cuda.tuning.TuningRecords;
import dev.tenon.nativelib.cudnn.Cudnn;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes plans by a handle of its own, on which nothing is enqueued. The context is current in every call. Used by one
 * thread at a time.
 *
 * @param mostWorkspaceBytes what one operation may work in
 * @param found the fastest engines of classes of problems; null where nothing is timed
 * @param siblings engines of other sizes
 * @param rehearsed kinds for which a kernel of ours is loaded
 * @param workspaces of kinds: the most that an engine of theirs has worked in
 */
record DnnMaker(
        long handle,
        long mostWorkspaceBytes,
        @Nullable TuningRecords found,
        Siblings<DnnProblem> siblings,
        Set<DnnProblem> rehearsed,
        Map<DnnProblem, Long> workspaces) {
    /**
     * A question to the library's heuristics.
     *
     * @param most configurations that are asked for, its favourites
     * @param tried how many of them an earlier question has had
     */
    private record Question(int mode, int most, int tried) {}

    /** What came of a question. */
    sealed interface Made {}

    /**
     * A plan, destroyed by the code that takes it.
     *
     * @param plan its descriptor; 0 for one that is made once the fastest engine is known
     * @param timed of how many it was the fastest
     * @param mayBeTimed whether nothing was timed for its class yet
     */
    record Plan(long plan, long workspaceBytes, int timed, boolean mayBeTimed) implements Made {
        /**
         * Of a problem whose engines are timed before any runs.
         *
         * @param workspaceBytes what the fastest may work in then
         */
        static Plan later(long workspaceBytes) {
            return new Plan(0, workspaceBytes, 1, true);
        }

        /** For a plan that nothing runs by. */
        void destroy() {
            destroy(plan);
        }

        /** The same of a descriptor; of 0 nothing. */
        static void destroy(long plan) {
            if (plan != 0) {
                Cudnn.cudnnBackendDestroyDescriptor(plan);
            }
        }
    }

    /** No plan, and why. */
    record None(DnnAnswer answer) implements Made {}

    /** The favourite alone first: nine tenths of the time of a plan go into ranking the others. */
    private static final List<Question> QUESTIONS = List.of(
            new Question(HEUR_MODE_A, 1, 0), new Question(HEUR_MODE_A, 16, 1), new Question(HEUR_MODE_FALLBACK, 16, 0));

    /** Engines that are asked for to be timed. */
    private static final int MOST_TRIALS = 16;

    /**
     * A plan by the engine that was fastest for problems like it. Else, where a plan was made for another size: a later
     * one if a kernel of ours may run until then, which spares loading the engine's, or the engine of a size near it,
     * which is known to be exact. Else the one that the library's heuristics rank first among those that are exact
     * enough and fit into the workspace. Where nothing is timed, no plan depends on those before it.
     */
    Made ask(DnnAsked asked) {
        if (found == null || !(asked.problem() instanceof DnnProblem problem)) {
            return favourite(asked.problem());
        }
        Made known = known(problem, asked.rivalled(), found);
        if (known == null) {
            DnnProblem kind = problem.kind();
            boolean later = asked.rivalled() && rehearsed.contains(kind);
            if (later && siblings.isLater(kind, problem.positions())) {
                return Plan.later(workspaces.getOrDefault(kind, 0L));
            }
            known = by(problem, siblings.near(kind, problem.positions()), 1, true);
        }
        return known == null ? favourite(problem) : known;
    }

    private Made favourite(DnnOperation problem) {
        try (DnnDescriptors graph = DnnDescriptors.of(problem, handle)) {
            long operations = graph.build();
            int seen = 0;
            for (Question question : QUESTIONS) {
                List<Long> ranked = graph.configurations(operations, question.mode, question.most);
                for (long configuration : ranked.subList(Math.min(question.tried, ranked.size()), ranked.size())) {
                    seen++;
                    long plan = graph.isExact(configuration) ? graph.plan(configuration, mostWorkspaceBytes) : 0;
                    if (plan != 0) {
                        if (found != null && problem instanceof DnnProblem convolution) {
                            note(convolution, graph.engine(configuration));
                        }
                        return new Plan(plan, workspaceBytes(problem, plan), 1, true);
                    }
                }
            }
            return new None(new DnnAnswer.Refusal("cuDNN has no plan for it that is exact and fits into a workspace of "
                    + mostWorkspaceBytes + " bytes, of " + seen));
        } catch (TenonException e) {
            return new None(new DnnAnswer.Refusal(String.valueOf(e.getMessage())));
        }
    }

    private void note(DnnProblem problem, @Nullable DnnEngine engine) {
        if (engine != null) {
            siblings.put(problem.kind(), problem.positions(), engine.words());
        }
    }

    /** By what was found for problems like it; null for nothing that works here. */
    private @Nullable Made known(DnnProblem problem, boolean rivalled, TuningRecords records) {
        Choice choice = records.get(classOf(problem, rivalled, mostWorkspaceBytes));
        if (choice == null) {
            return null;
        }
        if (choice.algorithm().equals(Rival.ALGORITHM)) {
            return rivalled ? new None(new DnnAnswer.Slower(Rival.faster(choice.timed()))) : null;
        }
        Made made = by(problem, choice.algorithm(), choice.timed(), false);
        if (made != null) {
            siblings.put(problem.kind(), problem.positions(), choice.algorithm());
        }
        return made;
    }

    /** By an engine in words; null where there is none, or it does not work here. */
    private @Nullable Made by(DnnProblem problem, @Nullable String words, int timed, boolean mayBeTimed) {
        DnnEngine engine = words == null ? null : DnnEngine.parse(words);
        long plan = engine == null ? 0 : plan(problem, engine);
        return plan == 0 ? null : new Plan(plan, workspaceBytes(problem, plan), timed, mayBeTimed);
    }

    private long workspaceBytes(DnnOperation problem, long plan) {
        long bytes = DnnDescriptors.workspaceBytes(plan);
        if (problem instanceof DnnProblem convolution) {
            workspaces.merge(convolution.kind(), bytes, Math::max);
        }
        return bytes;
    }

    /** What problems share a fastest engine, in words. */
    static String classOf(DnnProblem problem, boolean rivalled, long mostWorkspaceBytes) {
        return problem.problemClass() + " in " + mostWorkspaceBytes + Rival.besides(rivalled);
    }

    /**
     * The engines that may be timed, the library's favourite first: those of its fallback where the others are not
     * exact enough, or compiled when they are asked for.
     */
    List<DnnEngine> engines(DnnOperation problem) {
        try (DnnDescriptors graph = DnnDescriptors.of(problem, handle)) {
            long operations = graph.build();
            List<DnnEngine> usual = engines(graph, operations, HEUR_MODE_A);
            return usual.isEmpty() ? engines(graph, operations, HEUR_MODE_FALLBACK) : usual;
        }
    }

    private static List<DnnEngine> engines(DnnDescriptors graph, long operations, int mode) {
        return graph.configurations(operations, mode, MOST_TRIALS).stream()
                .filter(one -> graph.isExact(one) && !graph.isCompiled(one))
                .map(graph::engine)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    /** A plan by an engine, which the caller destroys; 0 where the library has none. */
    long plan(DnnOperation problem, DnnEngine engine) {
        try (DnnDescriptors graph = DnnDescriptors.of(problem, handle)) {
            long configuration = graph.configuration(graph.build(), engine);
            return configuration != 0 && graph.isExact(configuration)
                    ? graph.plan(configuration, mostWorkspaceBytes)
                    : 0;
        } catch (TenonException e) {
            return 0; // the engine is one for other graphs
        }
    }
}
