package dev.tenon.core.testkit;

import com.sun.source.tree.CaseTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * How long a file, a method, a signature and a line of a comment may be. The formatter breaks all other lines.
 *
 * @param lines of a file
 * @param methodLines of a method, from its modifiers to its closing brace; one that is a single flat switch may be
 *     longer
 * @param parameters of a method or constructor; a record may have more components
 * @param columns of a line of a comment
 */
public record SourceLimits(int lines, int methodLines, int parameters, int columns) {
    /** Lines of a case in a switch that counts as flat. */
    private static final int FLAT = 6;

    private static final Pattern COMMENT = Pattern.compile("\\s*(/\\*\\*|\\*|//)");

    public static SourceLimits usual() {
        return new SourceLimits(400, 60, 8, 120);
    }

    /** For bindings of C functions, whose signatures are as they are. */
    public static SourceLimits bindings() {
        return new SourceLimits(400, 60, Integer.MAX_VALUE, 120);
    }

    /** For loops over memory: the matrix micro-kernel for eight rows is unrolled by hand, 90 lines of one pattern. */
    public static SourceLimits loops() {
        return new SourceLimits(400, 90, 8, 120);
    }

    /** What of the files is longer than its limit. */
    List<String> check(List<Path> files) throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : files) {
            List<String> text = Files.readAllLines(file);
            if (text.size() > lines) {
                found.add(file + ": " + text.size() + " lines; expected at most " + lines);
            }
            for (int i = 0; i < text.size(); i++) {
                if (text.get(i).length() > columns
                        && COMMENT.matcher(text.get(i)).lookingAt()) {
                    found.add(file + ":" + (i + 1) + ": " + text.get(i).length() + " columns; expected at most "
                            + columns);
                }
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, manager, _ -> {}, null, null, manager.getJavaFileObjectsFromPaths(files));
            for (CompilationUnitTree unit : task.parse()) {
                new Methods(unit, Trees.instance(task).getSourcePositions(), found).scan(unit, null);
            }
        }
        return found;
    }

    private final class Methods extends TreeScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final List<String> found;
        private @Nullable ClassTree owner;

        Methods(CompilationUnitTree unit, SourcePositions positions, List<String> found) {
            this.unit = unit;
            this.positions = positions;
            this.found = found;
        }

        private long line(long position) {
            return unit.getLineMap().getLineNumber(position);
        }

        private long length(Tree tree) {
            return line(positions.getEndPosition(unit, tree)) - line(positions.getStartPosition(unit, tree)) + 1;
        }

        @Override
        public Void visitClass(ClassTree one, Void nothing) {
            ClassTree outer = owner;
            owner = one;
            super.visitClass(one, nothing);
            owner = outer;
            return nothing;
        }

        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
            long start = positions.getStartPosition(unit, method);
            if (start >= 0 && method.getBody() != null) { // -1: made by the compiler
                String where = unit.getSourceFile().getName() + ":" + line(start) + " " + method.getName();
                if (length(method) > methodLines && !isFlatSwitch(method)) {
                    found.add(where + ": " + length(method) + " lines; expected at most " + methodLines);
                }
                if (method.getParameters().size() > parameters && !isCanonical(method)) {
                    found.add(where + ": " + method.getParameters().size() + " parameters; expected at most "
                            + parameters);
                }
            }
            return super.visitMethod(method, nothing);
        }

        /** A record's own constructor, which has as many parameters as the record components. */
        private boolean isCanonical(MethodTree method) {
            return method.getName().contentEquals("<init>") && owner != null && owner.getKind() == Tree.Kind.RECORD;
        }

        /** A list of cases, each a few lines: long, and read at a glance. */
        private boolean isFlatSwitch(MethodTree method) {
            List<? extends StatementTree> statements = method.getBody().getStatements();
            List<? extends CaseTree> cases = switch (statements.isEmpty() ? null : statements.getLast()) {
                case SwitchTree one -> one.getCases();
                case ReturnTree value -> cases(value.getExpression());
                case null, default -> List.of();
            };
            return !cases.isEmpty()
                    && statements.size() <= FLAT
                    && cases.stream().allMatch(one -> length(one) <= FLAT);
        }

        private List<? extends CaseTree> cases(ExpressionTree value) {
            return value instanceof SwitchExpressionTree one ? one.getCases() : List.of();
        }
    }
}
