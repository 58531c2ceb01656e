import Foundation
import Millpond

/// The composition that the demo is about.
struct PictureLayers: Sendable {
  static let names = ["memory", "disk", "network"]

  let pictures: AnyCache<URL, Data>
  let disk: DiskCache

  /// Composes memory over disk over HTTP: four downloads at a time, one for each picture.
  ///
  /// The origin's port differs in each run, so only the path names a picture on disk.
  init(folder: URL) {
    disk = DiskCache(directory: folder, byteLimit: .mebibytes(64))
    let memory = MemoryCache<URL, Data>(costLimit: .mebibytes(16), cost: \.count)
    pictures = AnyCache(
      memory.named("memory")
        .layered(
          over: disk.mapKeys(\.path).named("disk")
            .layered(over: HTTPSource().limited(to: 4).named("network"))
        )
        .reusingInFlight()
        .monitored(by: CacheMonitor(active: .whileObserved)))
  }
}
