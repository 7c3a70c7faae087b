import Foundation

while let line = readLine() {
    guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { continue }
    switch record["type"] as? String {
    case "batch":
        let levels = record["levels"] as? [String: Any]
        if let level = levels?["rms_db"] as? Double { print(String(repeating: "#", count: Int(max(0, 60 + level)))) }
    case "beat": print("beat", record["position"] as? Int ?? 0, "at", record["t"] as? Double ?? 0, "s")
    default: break
    }
}
