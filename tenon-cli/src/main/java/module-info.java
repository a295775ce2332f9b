/** The {@code tenon} command. */
module dev.tenon.cli {
    requires dev.tenon.collective;
    requires dev.tenon.core;
    requires dev.tenon.cuda;
    requires dev.tenon.cuda.check;
    requires dev.tenon.formats;
    requires dev.tenon.image;
    requires dev.tenon.models;
    requires dev.tenon.nativelib;
    requires info.picocli;
    requires com.fasterxml.jackson.core;
    requires java.management;
    requires jdk.management;
    requires static org.jspecify;

    opens dev.tenon.cli to
            info.picocli;
    opens dev.tenon.cli.bench to
            info.picocli;
    opens dev.tenon.cli.compare to
            info.picocli;
    opens dev.tenon.cli.console to
            info.picocli;
    opens dev.tenon.cli.kernels to
            info.picocli;
    opens dev.tenon.cli.machine to
            info.picocli;
    opens dev.tenon.cli.model to
            info.picocli;
    opens dev.tenon.cli.profile to
            info.picocli;
    opens dev.tenon.cli.ranks to
            info.picocli;
    opens dev.tenon.cli.soak to
            info.picocli;
    opens dev.tenon.cli.vision to
            info.picocli;
}
