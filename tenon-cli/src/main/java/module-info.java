/** The {@code tenon} command. */
module dev.tenon.cli {
    requires dev.tenon.core;
    requires dev.tenon.cuda;
    requires dev.tenon.formats;
    requires dev.tenon.models;
    requires info.picocli;
    requires com.fasterxml.jackson.core;
    requires java.management;
    requires jdk.management;
    requires static org.jspecify;

    opens dev.tenon.cli to
            info.picocli;
}
