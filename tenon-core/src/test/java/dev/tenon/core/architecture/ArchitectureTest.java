package dev.tenon.core.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The house is laid out in the order that data flows, and no room reaches back up. */
final class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.tenon.core");

    @Test
    void roomsDependDownwardsOnly() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("error")
                .definedBy("dev.tenon.core.error..")
                .layer("ir")
                .definedBy("dev.tenon.core.ir..")
                .layer("compiler")
                .definedBy("dev.tenon.core.compiler..")
                .layer("runtime")
                .definedBy("dev.tenon.core.runtime..")
                .layer("collective")
                .definedBy("dev.tenon.core.collective", "dev.tenon.core.collective.reduce")
                .layer("ranks in one process")
                .definedBy("dev.tenon.core.collective.inprocess")
                .whereLayer("ranks in one process")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("collective")
                .mayOnlyBeAccessedByLayers("ranks in one process")
                .whereLayer("runtime")
                .mayOnlyBeAccessedByLayers("collective")
                .whereLayer("compiler")
                .mayOnlyBeAccessedByLayers("runtime")
                .whereLayer("ir")
                .mayOnlyBeAccessedByLayers("compiler", "runtime", "collective", "ranks in one process")
                .check(CLASSES);
    }

    @Test
    void coreNeedsTheJdkAlone() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages("dev.tenon.core..", "java..", "org.jspecify.annotations..")
                .check(CLASSES);
    }
}
