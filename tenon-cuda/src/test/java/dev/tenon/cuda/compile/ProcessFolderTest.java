package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class ProcessFolderTest {
    @TempDir
    private Path among;

    /** Makes a folder with something in it, says which, and waits to be killed. */
    static final class Child {
        public static void main(String[] args) throws IOException, InterruptedException {
            Path made = ProcessFolder.make(Path.of(args[0]));
            Files.createDirectories(made.resolve("1-build/include"));
            Files.writeString(made.resolve("1-build/include/a.cu"), "text");
            System.gc(); // a lock that only a dropped channel held would end here
            Thread.sleep(200); // time for a cleaner to close such a channel: there must be none to wait for
            System.out.println(made);
            System.out.flush();
            Thread.sleep(60_000);
        }
    }

    @Test
    void folderOfAKilledProcessGoesAndThoseOfLivingOnesStay() throws Exception {
        Process first = child();
        Path killed = said(first);
        Process second = child();
        Path living = said(second);
        try {
            assertThat(killed).isDirectory(); // its process lived when the second began
            first.destroyForcibly().waitFor();
            Path notOurs = Files.createDirectory(among.resolve("tenon-work-without-a-lock"));
            Path mine = ProcessFolder.make(among);
            assertThat(killed).doesNotExist();
            assertThat(living.resolve("1-build/include/a.cu")).exists();
            assertThat(notOurs).isDirectory();
            Path again = ProcessFolder.make(among);
            assertThat(mine).isDirectory().isNotEqualTo(again); // this process's own
            Process third = child();
            said(third);
            third.destroyForcibly().waitFor();
            assertThat(mine)
                    .as("another process has swept, and this one's locks stand")
                    .isDirectory();
            assertThat(again).isDirectory();
        } finally {
            first.destroyForcibly();
            second.destroyForcibly();
        }
    }

    private Process child() throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        among.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static Path said(Process child) throws IOException {
        BufferedReader out = child.inputReader(StandardCharsets.UTF_8);
        return Path.of(out.readLine());
    }
}
