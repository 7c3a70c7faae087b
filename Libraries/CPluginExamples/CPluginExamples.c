#include "CPluginExamples.h"

// `#embed` is standard since C23; clang has it in earlier versions of the language too.
#pragma clang diagnostic ignored "-Wc23-extensions"

// A test compares the files with the folders.
static const unsigned char analyzer_ignored[] = {
#embed "../../examples/custom-plugin/my-meter/.gitignore"
};
static const unsigned char analyzer_package[] = {
#embed "../../examples/custom-plugin/my-meter/Package.swift"
};
static const unsigned char analyzer_readme[] = {
#embed "../../examples/custom-plugin/my-meter/README.md"
};
static const unsigned char analyzer[] = {
#embed "../../examples/custom-plugin/my-meter/Sources/MyMeter/MyMeter.swift"
};
static const unsigned char analyzer_main[] = {
#embed "../../examples/custom-plugin/my-meter/Sources/my-meter/main.swift"
};
static const unsigned char analyzer_tests[] = {
#embed "../../examples/custom-plugin/my-meter/Tests/MyMeterTests/MyMeterTests.swift"
};
static const unsigned char sink_ignored[] = {
#embed "../../examples/custom-plugin/my-printer/.gitignore"
};
static const unsigned char sink_package[] = {
#embed "../../examples/custom-plugin/my-printer/Package.swift"
};
static const unsigned char sink_readme[] = {
#embed "../../examples/custom-plugin/my-printer/README.md"
};
static const unsigned char sink_main[] = {
#embed "../../examples/custom-plugin/my-printer/Sources/main.swift"
};

static const cpluginexamples_file files[] = {
    {"my-meter/.gitignore", analyzer_ignored, sizeof analyzer_ignored},
    {"my-meter/Package.swift", analyzer_package, sizeof analyzer_package},
    {"my-meter/README.md", analyzer_readme, sizeof analyzer_readme},
    {"my-meter/Sources/MyMeter/MyMeter.swift", analyzer, sizeof analyzer},
    {"my-meter/Sources/my-meter/main.swift", analyzer_main, sizeof analyzer_main},
    {"my-meter/Tests/MyMeterTests/MyMeterTests.swift", analyzer_tests, sizeof analyzer_tests},
    {"my-printer/.gitignore", sink_ignored, sizeof sink_ignored},
    {"my-printer/Package.swift", sink_package, sizeof sink_package},
    {"my-printer/README.md", sink_readme, sizeof sink_readme},
    {"my-printer/Sources/main.swift", sink_main, sizeof sink_main},
};

cpluginexamples_file cpluginexamples_file_at(unsigned number) {
    if (number < sizeof files / sizeof *files) return files[number];
    return (cpluginexamples_file){NULL, NULL, 0};
}
