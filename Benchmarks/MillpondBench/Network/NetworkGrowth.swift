import Dispatch
import Foundation
import LoopbackServer
import Millpond

/// How much the process grows while a body passes that is larger than what it may take.
func measureGrowth(_ effort: NetworkEffort) throws -> NetworkFigures {
  let origin = try LoopbackServer.streaming(effort.large)
  let url = try origin.url("/")
  let source = HTTPSource(limits: HTTPLimits(byteLimit: effort.large))
  warmUp(source, url)
  let growth = Growth()
  let count = waitForBytes(source.pieces(of: url).onNext { growth.add($0.count) })
  return NetworkFigures(ours: growth.megabytes, isSumRight: count == effort.large)
}

/// The same, of a body that becomes a file.
func measureGrowthOnDisk(_ effort: NetworkEffort) throws -> NetworkFigures {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-bench-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  let origin = try LoopbackServer.streaming(effort.large)
  let url = try origin.url("/")
  let source = HTTPSource(limits: HTTPLimits(byteLimit: effort.large))
  let disk = DiskCache(directory: folder, byteLimit: effort.large * 2)
  let media = MediaCache(disk, over: source, limitedTo: 1, name: \.absoluteString)
  warmUp(source, url)
  let growth = Growth()
  let end = DispatchSemaphore(value: 0)
  let size = Kept(0)
  media.get(url).subscribe { event in
    switch event {
    case .progress(let progress): growth.reach(progress.completed)
    case .next(let file): size.value = file.byteCount
    case .failed, .completed: end.signal()
    }
  }
  end.wait()
  return NetworkFigures(ours: growth.megabytes, isSumRight: size.value == effort.large)
}

/// What is there once is not growth: a session, its threads, and the system's buffers.
private func warmUp(_ source: HTTPSource<URL>, _ url: URL) {
  let enough = DispatchSemaphore(value: 0)
  let warming = source.pieces(of: url).subscribe { event in
    if case .progress(let progress) = event, progress.completed > 8 << 20 { enough.signal() }
    if event.isTerminal { enough.signal() }
  }
  enough.wait()
  warming.dispose()
}

/// How much larger the process has been than at first, looked at every few megabytes.
///
/// Sendable because events come one after the other, and the end before it is read.
private final class Growth: @unchecked Sendable {
  private let first = residentBytes()
  private var highest = 0
  private var passed = 0
  private var lookedAt = 0

  func add(_ byteCount: Int) {
    reach(passed + byteCount)
  }

  func reach(_ byteCount: Int) {
    passed = byteCount
    guard passed - lookedAt >= 4 << 20 else { return }
    lookedAt = passed
    highest = max(highest, residentBytes() ?? 0)
  }

  var megabytes: Double? {
    first.map { Double(max(0, highest - $0)) / 1e6 }
  }
}
