internal import Hemiola

/// What Home Assistant finds without being configured: a device with the values of a stream.
///
/// Each entity is a retained message `homeassistant/COMPONENT/NODE/ENTITY/config`, as in
/// <https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery>.
struct HomeAssistant {
    private enum Source {
        /// `ANALYZER.FEATURE`.
        case feature(String, String)
        /// A record, which the analyzer of the same name makes.
        case record(String)
    }

    private struct Entity {
        var component: String
        var id: String
        var source: Source
        /// The template of its state, in which `VALUE` is the value of the source.
        var template: String
        var members: KeyValuePairs<String, String>
    }

    /// A beat is a trigger and no sensor: Home Assistant stores each state of a sensor, and a trigger has none.
    private static let entities = [
        Entity(
            component: "sensor", id: "level", source: .feature("levels", "rms_db"), template: "{{ VALUE }}",
            members: ["name": "Level", "unit_of_measurement": "dB", "state_class": "measurement", "icon": "mdi:volume-high"]),
        Entity(
            component: "sensor", id: "tempo", source: .feature("beat", "bpm"), template: "{{ VALUE }}",
            members: ["name": "Tempo", "unit_of_measurement": "BPM", "state_class": "measurement", "icon": "mdi:metronome"]),
        Entity(
            component: "binary_sensor", id: "sound", source: .feature("silence", "silent"), template: "{{ 'OFF' if VALUE else 'ON' }}",
            members: ["name": "Sound", "device_class": "sound"]),
        Entity(
            component: "sensor", id: "key", source: .record("musical_key"), template: "{{ VALUE.label }}",
            members: ["name": "Key", "icon": "mdi:music-clef-treble"]),
        Entity(
            component: "device_automation", id: "beat", source: .record("beat"), template: "{{ VALUE.type }}",
            members: ["automation_type": "trigger", "type": "beat", "subtype": "every", "payload": "beat"]),
        Entity(
            component: "device_automation", id: "downbeat", source: .record("beat"), template: "{{ VALUE.position }}",
            members: ["automation_type": "trigger", "type": "beat", "subtype": "first", "payload": "1"]),
    ]

    private let settings: MQTTSettings
    /// The name of the device in topics, which have letters, digits, `-` and `_` only.
    private let node: String

    init(_ settings: MQTTSettings) {
        self.settings = settings
        node = settings.prefix.utf8.map { byte in
            let scalar = UnicodeScalar(byte)
            let isPlain = scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-"
            return isPlain ? String(scalar) : "_" + String(byte, radix: 16)
        }.joined()
    }

    /// The messages for what is published of a stream; nil: there are none.
    func messages(for stream: StreamHeader, _ selection: Selection) -> MessageGroup? {
        let messages: [MessageGroup.Message] = Self.entities.compactMap { entity in
            guard let (topic, value) = place(of: entity.source, in: stream, selection) else { return nil }
            let template = entity.template.replacing("VALUE", with: value)
            var members = entity.members.map { JSONValue.Member($0.key, .text($0.value)) }
            members.append(.init("value_template", .text(template)))
            if entity.component == "device_automation" {
                members.append(.init("topic", .text(topic)))
            } else {
                members += [
                    .init("unique_id", .text("hemiola-\(node)-\(entity.id)")), .init("state_topic", .text(topic)),
                    .init("availability_topic", .text(settings.topic("status"))),
                ]
            }
            let device = [
                JSONValue.Member("identifiers", .list([.text("hemiola-\(node)")])), .init("name", .text(settings.prefix)),
                .init("manufacturer", .text("Hemiola")), .init("sw_version", .text(HemiolaVersion.current)),
            ]
            let origin = [JSONValue.Member("name", .text("Hemiola")), .init("sw_version", .text(HemiolaVersion.current))]
            members += [.init("device", .object(device)), .init("origin", .object(origin))]
            return MessageGroup.Message(
                topic: "homeassistant/\(entity.component)/\(node)/\(entity.id)/config",
                payload: Array(JSONValue.object(members).line.utf8.dropLast()), isRetained: true)
        }
        return messages.isEmpty ? nil : MessageGroup(messages)
    }

    /// The topic of a value, and the value in templates; nil: it is not published.
    private func place(of source: Source, in stream: StreamHeader, _ selection: Selection) -> (topic: String, value: String)? {
        switch source {
        case .feature(let analyzer, let feature):
            let features = stream.layout.sections.first { $0.analyzer == analyzer }?.features ?? []
            guard selection.contains("batch"), selection.contains(analyzer, feature),
                features.contains(where: { $0.feature.name == feature })
            else { return nil }
            return switch settings.batches {
            case .fields: (settings.topic("\(analyzer)/\(feature)"), "value_json")
            case .record: (settings.topic("batch"), "value_json.\(analyzer).\(feature)")
            case .none: nil
            }
        case .record(let type):
            guard selection.contains(type), stream.layout.sections.contains(where: { $0.analyzer == type }) else { return nil }
            return (settings.topic(type), "value_json")
        }
    }
}
