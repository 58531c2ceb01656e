import Foundation
import Millpond

/// The composition that the demo is about, and the answers of its layers.
struct PictureLayers: Sendable {
  let pictures: AnyCache<URL, Data>
  let disk: DiskCache
  let answers = AnswerLog()

  /// Composes memory over disk over HTTP: four downloads at a time, one for each picture.
  ///
  /// - Parameters:
  ///   - folder: The folder of the disk layer.
  ///   - diskKey: Returns the name of a picture on disk, the same in every process.
  init(folder: URL, diskKey: @escaping @Sendable (URL) -> String) {
    disk = DiskCache(directory: folder, byteLimit: .mebibytes(64))
    let memory = MemoryCache<URL, Data>(costLimit: .mebibytes(16), cost: \.count)
    pictures = AnyCache(
      LoggedLayer(memory.named("memory"), "memory", answers)
        .layered(
          over: LoggedLayer(disk.mapKeys(diskKey).named("disk"), "disk", answers)
            .layered(
              over: LoggedLayer(HTTPSource().limited(to: 4).named("network"), "network", answers))
        )
        .reusingInFlight()
        .monitored(by: CacheMonitor(active: .whileObserved)))
  }

  /// Reports an unusable folder; the other layers work without it.
  func reportTrouble(on screen: Screen) async {
    do {
      _ = try await disk.count.value
    } catch {
      screen.write(lines: ["The disk layer does not work: \(error)", ""])
    }
  }

  static let names = ["memory", "disk", "network"]
}
