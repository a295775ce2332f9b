package dev.tenon.cuda.compile;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A folder among the system's temporary files that is one process's, for as long as the process lives: it holds a lock
 * on a file in it. The next process to make such a folder deletes those that no process holds any more, as a killed one
 * leaves them. Locks, unlike process numbers, tell the living from the dead across containers too.
 */
final class ProcessFolder {
    private static final String PREFIX = "tenon-work-";
    private static final String LOCK = "lock";

    /**
     * This process's folders and their channels. The channels are kept reachable, for the collector would close them
     * and with them end the locks; and the folders are passed over by the sweep, for closing any channel of a file ends
     * every lock that the process holds on it.
     */
    private static final Map<Path, FileChannel> OWN = new ConcurrentHashMap<>();

    private ProcessFolder() {}

    /**
     * Makes this process's folder and deletes abandoned ones.
     *
     * @param among the folder of temporary files
     * @throws IOException when no folder can be made
     */
    static Path make(Path among) throws IOException {
        sweep(among);
        Path made = Files.createTempDirectory(among, PREFIX);
        FileChannel channel =
                FileChannel.open(made.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        OWN.put(made, channel); // open until the process ends
        try {
            channel.lock();
        } catch (IOException e) {
            // a file system without locks: the folder is deleted at the process's end, and not after a kill
            Files.deleteIfExists(made.resolve(LOCK));
        }
        return made;
    }

    private static void sweep(Path among) {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(among, PREFIX + "*")) {
            for (Path folder : folders) {
                if (!OWN.containsKey(folder)
                        && Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                        && abandoned(folder.resolve(LOCK))) {
                    Workshop.delete(folder);
                }
            }
        } catch (IOException | DirectoryIteratorException _) {
            // what others left is no reason to fail
        }
    }

    /**
     * Whether the lock is there and free. One that is not there yet belongs to a process that is making its folder at
     * this moment; another user's cannot be opened.
     */
    private static boolean abandoned(Path lock) {
        if (!Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            return channel.tryLock() != null;
        } catch (IOException _) {
            return false;
        }
    }
}
