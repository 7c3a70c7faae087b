// libyaml. Only HemiolaCommandLine/YAMLEventReader.swift uses these names.
#include <yaml.h>
