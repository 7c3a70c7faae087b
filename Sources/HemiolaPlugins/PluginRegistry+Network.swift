internal import Hemiola

#if Network
    internal import FilmSink
    internal import LightsSink
    internal import LinkControlSource
    internal import LinkSink
    internal import MQTTSink
    internal import OS2LSink
    internal import OSCControlSource
    internal import OSCSink
    internal import SocketSink
    internal import WLEDSink
    internal import WebSink

    extension PluginRegistry {
        /// The plugins of the trait `Network`: those that require SwiftNIO.
        static let network = PluginRegistry(
            sinks: [.film, .lights, .link, .mqtt, .os2l, .osc, .socket, .web, .wled], controls: [.link, .osc])
    }
#else
    extension PluginRegistry {
        /// None: the program is built without the trait `Network`.
        static let network = PluginRegistry()
    }
#endif
