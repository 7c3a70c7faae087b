// The binary interface of Vamp plugins, API version 2, for hosts and plugins. Written from the published description of the interface
// (vamp-plugins.org): a library exports vampGetPluginDescriptor; everything else is reached through the structures below.
//
// Declared here so that building Hemiola needs no SDK. Only the host, Plugins/Analyzers/Vamp/Host/VampLibrary.swift and VampInstance.swift, and the
// plugins, HemiolaVamp, import this module.
#ifndef CVAMP_H
#define CVAMP_H

/// The version of the interface that is declared here.
enum { CVAMP_API_VERSION = 2 };

/// A parameter of a plugin.
typedef struct {
    const char *identifier;
    const char *name;
    const char *description;
    const char *unit;
    float minValue;
    float maxValue;
    float defaultValue;
    int isQuantized;
    float quantizeStep;
    /// The names of the values of a quantized parameter, up to NULL; NULL: none.
    const char *const *valueNames;
} CVampParameter;

/// The values of CVampOutput.sampleType.
enum {
    CVAMP_ONE_SAMPLE_PER_STEP = 0,
    CVAMP_FIXED_SAMPLE_RATE = 1,
    CVAMP_VARIABLE_SAMPLE_RATE = 2,
};

/// An output of a plugin instance.
typedef struct {
    const char *identifier;
    const char *name;
    const char *description;
    const char *unit;
    int hasFixedBinCount;
    unsigned int binCount;
    /// binCount names, of which each may be NULL; NULL: none.
    const char *const *binNames;
    int hasKnownExtents;
    float minValue;
    float maxValue;
    int isQuantized;
    float quantizeStep;
    /// An enumeration in the published interface, which has the size of an int.
    int sampleType;
    float sampleRate;
    /// From API version 2 on.
    int hasDuration;
} CVampOutput;

/// A feature: a time, values, and a label.
typedef struct {
    int hasTimestamp;
    int sec;
    int nsec;
    unsigned int valueCount;
    float *values;
    char *label;
} CVampFeatureV1;

/// The part of a feature that API version 2 has added.
typedef struct {
    int hasDuration;
    int durationSec;
    int durationNsec;
} CVampFeatureV2;

typedef union {
    CVampFeatureV1 v1;
    CVampFeatureV2 v2;
} CVampFeature;

/// The features of one output: featureCount elements with v1, then, from API version 2 on, featureCount elements with v2.
typedef struct {
    unsigned int featureCount;
    CVampFeature *features;
} CVampFeatureList;

/// The values of CVampDescriptor.inputDomain.
enum {
    CVAMP_TIME_DOMAIN = 0,
    CVAMP_FREQUENCY_DOMAIN = 1,
};

typedef void *CVampHandle;

/// A plugin of a library.
typedef struct CVampDescriptor {
    unsigned int vampApiVersion;
    const char *identifier;
    const char *name;
    const char *description;
    const char *maker;
    int pluginVersion;
    const char *copyright;
    unsigned int parameterCount;
    const CVampParameter *const *parameters;
    unsigned int programCount;
    const char *const *programs;
    /// An enumeration in the published interface, which has the size of an int.
    int inputDomain;
    CVampHandle (*instantiate)(const struct CVampDescriptor *, float sampleRate);
    void (*cleanup)(CVampHandle);
    int (*initialise)(CVampHandle, unsigned int channels, unsigned int stepSize, unsigned int blockSize);
    void (*reset)(CVampHandle);
    float (*getParameter)(CVampHandle, int index);
    void (*setParameter)(CVampHandle, int index, float value);
    unsigned int (*getCurrentProgram)(CVampHandle);
    void (*selectProgram)(CVampHandle, unsigned int index);
    unsigned int (*getPreferredStepSize)(CVampHandle);
    unsigned int (*getPreferredBlockSize)(CVampHandle);
    unsigned int (*getMinChannelCount)(CVampHandle);
    unsigned int (*getMaxChannelCount)(CVampHandle);
    unsigned int (*getOutputCount)(CVampHandle);
    CVampOutput *(*getOutputDescriptor)(CVampHandle, unsigned int index);
    void (*releaseOutputDescriptor)(CVampOutput *);
    /// Returns one list per output.
    CVampFeatureList *(*process)(CVampHandle, const float *const *buffers, int sec, int nsec);
    CVampFeatureList *(*getRemainingFeatures)(CVampHandle);
    void (*releaseFeatureSet)(CVampFeatureList *);
} CVampDescriptor;

/// The type of vampGetPluginDescriptor. NULL: there is no plugin with that index.
typedef const CVampDescriptor *(*CVampGetDescriptor)(unsigned int hostApiVersion, unsigned int index);

#endif
