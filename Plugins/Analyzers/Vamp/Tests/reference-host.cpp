// Runs a Vamp plugin with the host library of the Vamp SDK and prints its features with nine digits: the reference for VampAnalyzer.
//
//     reference-host LIBRARY:PLUGIN RATE CHANNELS FILE STEP BLOCK [NAME=VALUE...]
//
// FILE contains interleaved samples, 32-bit floats. STEP and BLOCK are frames; 0: as the plugin prefers. The first line is
// "STEP BLOCK"; each of the others a feature: OUTPUT, time, duration or -, label, values, separated by tabs; the values by spaces.
// A block begins at every multiple of STEP before the end of the input; missing frames are 0.
#include <vamp-hostsdk/PluginHostAdapter.h>
#include <vamp-hostsdk/PluginInputDomainAdapter.h>
#include <vamp-hostsdk/PluginLoader.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

using Vamp::Plugin;
using Vamp::RealTime;
using namespace Vamp::HostExt;

static double seconds(const RealTime &time) { return time.sec + time.nsec / 1e9; }

int main(int count, char **arguments) {
    if (count < 7) return 2;
    const int rate = atoi(arguments[2]), channels = atoi(arguments[3]);
    size_t step = atoi(arguments[5]), block = atoi(arguments[6]);
    std::unique_ptr<Plugin> plugin(PluginLoader::getInstance()->loadPlugin(
        arguments[1], rate, PluginLoader::ADAPT_INPUT_DOMAIN | PluginLoader::ADAPT_CHANNEL_COUNT));
    if (!plugin) return 3;
    for (int index = 7; index < count; index++) {
        char *const equals = strchr(arguments[index], '=');
        plugin->setParameter(std::string(arguments[index], equals - arguments[index]), atof(equals + 1));
    }
    auto *wrapper = dynamic_cast<PluginWrapper *>(plugin.get());
    auto *domain = wrapper ? wrapper->getWrapper<PluginInputDomainAdapter>() : nullptr;
    if (block == 0) block = plugin->getPreferredBlockSize();
    if (block == 0) block = 1024;
    if (step == 0) step = plugin->getPreferredStepSize();
    if (step == 0) step = domain ? block / 2 : block;
    if (!plugin->initialise(channels, step, block)) return 4;

    std::vector<float> samples;
    FILE *file = fopen(arguments[4], "rb");
    float frame;
    while (file && fread(&frame, sizeof frame, 1, file) == 1) samples.push_back(frame);
    const long frames = samples.size() / channels;
    const RealTime shift = domain ? domain->getTimestampAdjustment() : RealTime::zeroTime;
    const Plugin::OutputList outputs = plugin->getOutputDescriptors();
    std::map<int, long> numbers;
    printf("%zu %zu\n", step, block);

    auto print = [&](const Plugin::FeatureSet &set, RealTime now) {
        for (const auto &entry : set) {
            const auto &output = outputs[entry.first];
            for (const auto &feature : entry.second) {
                double time = seconds(now);
                if (output.sampleType == Plugin::OutputDescriptor::VariableSampleRate) {
                    if (feature.hasTimestamp) time = seconds(feature.timestamp);
                } else if (output.sampleType == Plugin::OutputDescriptor::FixedSampleRate) {
                    long &number = numbers[entry.first];
                    if (feature.hasTimestamp) number = std::lround(seconds(feature.timestamp) * output.sampleRate);
                    time = number++ / double(output.sampleRate);
                }
                printf("%s\t%.9f\t", output.identifier.c_str(), time);
                feature.hasDuration ? printf("%.9f", seconds(feature.duration)) : printf("-");
                printf("\t%s\t", feature.label.c_str());
                for (float value : feature.values) printf(" %.9g", value);
                printf("\n");
            }
        }
    };

    std::vector<std::vector<float>> buffers(channels, std::vector<float>(block));
    std::vector<float *> pointers;
    for (auto &buffer : buffers) pointers.push_back(buffer.data());
    long start = 0;
    for (; start < frames; start += step) {
        for (int channel = 0; channel < channels; channel++)
            for (size_t index = 0; index < block; index++) {
                const long place = start + index;
                buffers[channel][index] = place < frames ? samples[place * channels + channel] : 0;
            }
        const RealTime time = RealTime::frame2RealTime(start, rate);
        print(plugin->process(pointers.data(), time), time + shift);
    }
    print(plugin->getRemainingFeatures(), RealTime::frame2RealTime(start, rate) + shift);
}
