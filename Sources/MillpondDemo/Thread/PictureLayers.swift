import Foundation
import Millpond

/// The composition that the demo is about, and the answers of its layers.
struct PictureLayers: Sendable {
  static let names = ["memory", "disk", "network"]

  let pictures: AnyCache<URL, Data>
  let disk: DiskCache
  let answers = AnswerLog()

  /// Composes memory over disk over HTTP: four downloads at a time, one for each picture.
  ///
  /// The origin's port differs in each run, so only the path names a picture on disk.
  init(folder: URL) {
    disk = DiskCache(directory: folder, byteLimit: .mebibytes(64))
    let memory = MemoryCache<URL, Data>(costLimit: .mebibytes(16), cost: \.count)
    pictures = AnyCache(
      LoggedLayer(memory.named("memory"), "memory", answers)
        .layered(
          over: LoggedLayer(disk.mapKeys(\.path).named("disk"), "disk", answers)
            .layered(
              over: LoggedLayer(HTTPSource().limited(to: 4).named("network"), "network", answers))
        )
        .reusingInFlight()
        .monitored(by: CacheMonitor(active: .whileObserved)))
  }
}
