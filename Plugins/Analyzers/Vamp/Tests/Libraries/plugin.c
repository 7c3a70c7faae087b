// A Vamp library for tests, with one plugin: "probe" returns what the host passes to it. Compiled with -DFAULT=NAME it has a fault.
#include <CVamp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The faults.
#define none 0
#define no_function 1
#define version 2
#define refuses 3
#define not_finite 4
#define crashes 5
#define missing_symbol 6
#define hangs 7
#define no_instance 8
#define no_plugin 9
#define misfit 10
// In the block number 20.
#define crashes_later 11
#define hangs_later 12
// Prints on standard output.
#define prints 13
// Ends the process, when it is loaded, when it is made, and in the block number 20.
#define exits 14
#define exits_early 15
#define exits_later 16
// Declares a million.
#define million_channels 17
#define million_outputs 18
#define million_bins 19
#define million_parameters 20
#define million_programs 21
#define million_frames 22
#ifndef FAULT
#define FAULT none
#endif

enum { MILLION = 1000000 };
enum { PARAMETERS = 2, OUTPUTS = 4, VALUES = 6 };
enum { STEPS, BEATS, FRAMES, NOTES };

typedef struct {
    float parameters[PARAMETERS];
    unsigned int channels, step, block, count;
    CVampFeatureList lists[OUTPUTS];
    CVampFeature features[OUTPUTS][2];
    float values[OUTPUTS][VALUES];
} Probe;

static const char *const scales[] = {"linear", "squared", "cubed", NULL};
static const CVampParameter gain = {"gain", "Gain", "The factor", "dB", 0, 10, 1, 0, 0, NULL};
static const CVampParameter scale = {"scale", "Scale", "", "", 0, 2, 0, 1, 1, scales};
static const CVampParameter *const parameters[] = {&gain, &scale};
static const char *const programs[] = {"quiet", "loud"};

static CVampHandle instantiate(const struct CVampDescriptor *descriptor, float rate) {
    if (FAULT == no_instance) return NULL;
    if (FAULT == exits_early) exit(0);
    Probe *probe = calloc(1, sizeof *probe);
    probe->parameters[0] = 1;
    return probe;
}
static void cleanup(CVampHandle handle) { free(handle); }
static int initialise(CVampHandle handle, unsigned int channels, unsigned int step, unsigned int block) {
    Probe *probe = handle;
    probe->channels = channels;
    probe->step = step;
    probe->block = block;
    return FAULT != refuses;
}
static void reset(CVampHandle handle) { ((Probe *)handle)->count = 0; }
static float get_parameter(CVampHandle handle, int index) { return ((Probe *)handle)->parameters[index]; }
static void set_parameter(CVampHandle handle, int index, float value) { ((Probe *)handle)->parameters[index] = value; }
static unsigned int get_program(CVampHandle handle) { return 0; }
static void select_program(CVampHandle handle, unsigned int index) { ((Probe *)handle)->parameters[0] = index == 1 ? 10 : 0.5f; }
static unsigned int preferred_step(CVampHandle handle) { return FAULT == million_frames; }
static unsigned int preferred_block(CVampHandle handle) { return FAULT == million_frames ? MILLION : 0; }
static unsigned int least_channels(CVampHandle handle) { return FAULT == million_channels ? MILLION : 1; }
static unsigned int most_channels(CVampHandle handle) { return FAULT == million_channels ? MILLION : 2; }
static unsigned int output_count(CVampHandle handle) { return FAULT == million_outputs ? MILLION : OUTPUTS; }

static CVampOutput *output_descriptor(CVampHandle handle, unsigned int index) {
    static const CVampOutput outputs[OUTPUTS] = {
        {"Steps-1", "Steps", "Channels, gain, scale, seconds, nanoseconds, last sample", "", 1, VALUES, NULL, 0, 0, 0, 0, 0,
         CVAMP_ONE_SAMPLE_PER_STEP, 0, 0},
        {"beats", "Beats", "", "s", 1, 0, NULL, 0, 0, 0, 0, 0, CVAMP_VARIABLE_SAMPLE_RATE, 0, 1},
        {"frames", "Frames", "At 10 Hz", "", 1, 1, NULL, 0, 0, 0, 0, 0, CVAMP_FIXED_SAMPLE_RATE, 10, 0},
        {"notes", "Notes", "Any number of values", "Hz", 0, 0, NULL, 0, 0, 0, 0, 0, CVAMP_ONE_SAMPLE_PER_STEP, 0, 0},
    };
    CVampOutput *output = malloc(sizeof *output);
    *output = outputs[index % OUTPUTS];
    if (FAULT == million_bins) output->binCount = MILLION;
    return output;
}
static void release_output(CVampOutput *output) { free(output); }

static void add(Probe *probe, int output, unsigned int count) {
    probe->lists[output].featureCount = 1;
    probe->lists[output].features = probe->features[output];
    probe->features[output][0].v1.valueCount = count;
    probe->features[output][0].v1.values = probe->values[output];
}

static CVampFeatureList *process(CVampHandle handle, const float *const *buffers, int sec, int nsec) {
    Probe *probe = handle;
    if (FAULT == crashes_later && probe->count == 20) *(volatile int *)8 = 0;
    if (FAULT == exits_later && probe->count == 20) exit(0);
    while (FAULT == hangs_later && probe->count == 20) pause();
    if (FAULT == prints && probe->count == 1) {
        printf("a line of the plugin\n");
        fflush(stdout);
    }
    memset(probe->lists, 0, sizeof probe->lists);
    memset(probe->features, 0, sizeof probe->features);
    float *values = probe->values[STEPS];
    values[0] = probe->channels;
    values[1] = probe->parameters[0];
    values[2] = probe->parameters[1];
    values[3] = sec;
    values[4] = nsec;
    values[5] = buffers[probe->channels - 1][probe->block - 1];
    if (FAULT == not_finite) {
        values[0] = NAN;
        values[1] = INFINITY;
    }
    add(probe, STEPS, FAULT == misfit ? VALUES - 1 : VALUES);
    if (probe->count % 4 == 0) {
        // A beat a quarter of a second after the step, for half a second.
        add(probe, BEATS, 0);
        CVampFeatureV1 *beat = &probe->features[BEATS][0].v1;
        beat->hasTimestamp = 1;
        beat->sec = sec + (nsec + 250000000) / 1000000000;
        beat->nsec = (nsec + 250000000) % 1000000000;
        beat->label = probe->count == 0 ? "first" : "later";
        probe->features[BEATS][1].v2.hasDuration = 1;
        probe->features[BEATS][1].v2.durationNsec = 500000000;
    }
    if (probe->count < 3) {
        add(probe, FRAMES, 1);
        probe->values[FRAMES][0] = probe->count;
        // The second frame has a time: the first two have the numbers 0 and 7, the third 8.
        probe->features[FRAMES][0].v1.hasTimestamp = probe->count == 1;
        probe->features[FRAMES][0].v1.nsec = 710000000;
    }
    if (probe->count < 2) {
        add(probe, NOTES, probe->count + 1);
        probe->values[NOTES][0] = FAULT == not_finite ? -INFINITY : 440;
        probe->values[NOTES][1] = 880;
    }
    probe->count++;
    return probe->lists;
}

static CVampFeatureList *remaining(CVampHandle handle) {
    Probe *probe = handle;
    memset(probe->lists, 0, sizeof probe->lists);
    memset(probe->features, 0, sizeof probe->features);
    add(probe, NOTES, 1);
    probe->values[NOTES][0] = probe->count;
    probe->features[NOTES][0].v1.label = "end";
    return probe->lists;
}
static void release_features(CVampFeatureList *lists) {}

static const CVampDescriptor descriptor = {
    FAULT == version ? 3 : CVAMP_API_VERSION, "probe", "Probe", "Returns what it gets", "Hemiola", 1, "none",
    FAULT == million_parameters ? MILLION : PARAMETERS, parameters, FAULT == million_programs ? MILLION : 2, programs,
#ifdef SPECTRAL
    CVAMP_FREQUENCY_DOMAIN,
#else
    CVAMP_TIME_DOMAIN,
#endif
    instantiate, cleanup, initialise, reset, get_parameter, set_parameter, get_program, select_program, preferred_step, preferred_block,
    least_channels, most_channels, output_count, output_descriptor, release_output, process, remaining, release_features,
};

#if FAULT == missing_symbol
extern void function_that_no_library_has(void);
void *reference = function_that_no_library_has;
#endif

#if FAULT != no_function
const CVampDescriptor *vampGetPluginDescriptor(unsigned int host, unsigned int index) {
    return index == 0 && FAULT != no_plugin ? &descriptor : NULL;
}
#endif

#if FAULT == crashes || FAULT == hangs || FAULT == exits
__attribute__((constructor)) static void begin(void) {
    if (FAULT == exits) exit(0);
    if (FAULT == crashes) abort();
    for (;;) pause();
}
#endif
