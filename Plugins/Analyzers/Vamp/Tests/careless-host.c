// A host that calls the functions of a Vamp library in orders and with arguments that the interface forbids. Prints "survived" at the end.
//
//     careless-host LIBRARY
#include <CVamp.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The features of a call.
static unsigned int total(const CVampDescriptor *plugin, CVampHandle handle, CVampFeatureList *lists) {
    unsigned int sum = 0;
    if (!lists) return 0;
    for (unsigned int index = 0; index < plugin->getOutputCount(handle); index++) sum += lists[index].featureCount;
    plugin->releaseFeatureSet(lists);
    return sum;
}

int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return printf("%s\n", dlerror()), 1;
    CVampGetDescriptor get = (CVampGetDescriptor)dlsym(library, "vampGetPluginDescriptor");
    if (get(1, 0) || get(2, 4) || get(2, 0xFFFFFFFF)) return 2;
    static float samples[2][1024], loud[2][1024];
    for (int index = 0; index < 2048; index++) {
        loud[index / 1024][index % 1024] = index % 3 == 0 ? NAN : index % 3 == 1 ? INFINITY : 1e30f;
        samples[index / 1024][index % 1024] = (rand() % 2001 - 1000) / 1000.0f;
    }
    const float *good[] = {samples[0], samples[1]}, *bad[] = {loud[0], loud[1]}, *none[] = {NULL, NULL};
    for (unsigned int place = 0; place < 4; place++) {
        const CVampDescriptor *plugin = get(2, place);
        if (plugin->instantiate(plugin, 44100.5f) || plugin->instantiate(plugin, 0) || plugin->instantiate(plugin, NAN)) return 3;
        CVampHandle one = plugin->instantiate(plugin, 44100), other = plugin->instantiate(plugin, 48000);
        // Before initialise.
        if (total(plugin, one, plugin->process(one, good, 0, 0)) || total(plugin, one, plugin->getRemainingFeatures(one))) return 4;
        plugin->reset(one);
        plugin->setParameter(one, -1, 5);
        plugin->setParameter(one, 1000, 5);
        for (unsigned int index = 0; index < plugin->parameterCount; index++) plugin->setParameter(one, index, NAN);
        if (plugin->getOutputDescriptor(one, 1000)) return 5;
        // Forms that no host should choose.
        unsigned int bound = 0xFFFFFFFF;
        if (plugin->initialise(one, 0, 1024, 1024) || plugin->initialise(one, 3, 1024, 1024)) return 6;
        if (plugin->initialise(one, 1, 0, 1024) || plugin->initialise(one, 1, 1024, 0) || plugin->initialise(one, 1, bound, bound)) return 7;
        if (plugin->initialise(one, 1, 1024, 512)) return 8;
        // Two instances of different forms, in turn.
        if (!plugin->initialise(one, 2, 1024, 1024) || !plugin->initialise(other, 1, 300, 1024)) return 9;
        unsigned int features = 0;
        for (int block = 0; block < 200; block++) {
            features += total(plugin, one, plugin->process(one, block % 7 == 0 ? bad : block % 7 == 1 ? none : good, 0, 0));
            features += total(plugin, other, plugin->process(other, good, -1, -5));
            if (plugin->process(one, NULL, 0, 0)) return 10;
        }
        // The key needs more music than that.
        if (place < 3 && features < 200) return 11;
        plugin->getRemainingFeatures(one);
        if (total(plugin, one, plugin->getRemainingFeatures(one))) return 12;
        // After the end, without reset; then another form.
        total(plugin, one, plugin->process(one, good, 0, 0));
        if (!plugin->initialise(one, 1, 512, 4096)) return 13;
        total(plugin, one, plugin->process(one, good, 0, 0));
        plugin->reset(one);
        plugin->cleanup(one);
        plugin->cleanup(other);
        plugin->cleanup(NULL);
        plugin->reset(NULL);
        plugin->releaseOutputDescriptor(NULL);
        if (plugin->process(NULL, good, 0, 0) || plugin->getOutputCount(NULL) || plugin->initialise(NULL, 1, 1024, 1024)) return 14;
    }
    dlclose(library);
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    get = (CVampGetDescriptor)dlsym(library, "vampGetPluginDescriptor");
    const CVampDescriptor *plugin = get(2, 0);
    plugin->cleanup(plugin->instantiate(plugin, 44100));
    dlclose(library);
    printf("survived\n");
}
