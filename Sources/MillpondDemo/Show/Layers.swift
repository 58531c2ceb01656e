import Foundation
import Millpond

/// The composition that the whole demo is about, and what its layers answered.
struct Layers: Sendable {
  let pictures: AnyCache<URL, Data>
  let disk: DiskCache
  let answers = AnswerLog()

  /// Memory over disk over HTTP, four downloads at once, one for each picture however many wait.
  ///
  /// - Parameter diskKey: Under which name a picture is kept from one process to the next.
  init(folder: URL, diskKey: @escaping @Sendable (URL) -> String) {
    disk = DiskCache(directory: folder, byteLimit: .mebibytes(64))
    let memory = MemoryCache<URL, Data>(costLimit: .mebibytes(16), cost: \.count)
    pictures = AnyCache(
      Reporting(memory, "memory", answers)
        .layered(
          over: Reporting(disk.mapKeys(diskKey), "disk", answers)
            .layered(over: Reporting(HTTPSource().limited(to: 4), "network", answers))
        )
        .reusingInFlight())
  }

  /// Says so if the folder can't be used: the other layers go on without it.
  func reportTrouble(on screen: Screen) async {
    do {
      _ = try await disk.count.value
    } catch {
      screen.write(lines: ["The disk layer is out of order: \(error)", ""])
    }
  }

  static let names = ["memory", "disk", "network"]
}
