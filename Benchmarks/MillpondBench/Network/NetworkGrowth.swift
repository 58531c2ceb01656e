import Dispatch
import Foundation
import LoopbackServer
import Millpond

/// Measures the growth of the process while a body passes that is larger than the permitted growth.
func measureGrowth(_ effort: NetworkEffort) throws -> NetworkFigures {
  let origin = try LoopbackServer.streaming(effort.large)
  let url = try origin.url("/")
  let source = HTTPSource(limits: HTTPLimits(byteLimit: effort.large))
  warmUp(source.pieces(of: url))
  let growth = Growth()
  let count = waitForBytes(source.pieces(of: url))
  return NetworkFigures(ours: growth.megabytes, isSumRight: count == effort.large)
}

/// Measures the same for a body that becomes a file.
func measureGrowthOnDisk(_ effort: NetworkEffort) throws -> NetworkFigures {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-bench-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  let origin = try LoopbackServer.streaming(effort.large)
  let url = try origin.url("/")
  let source = HTTPSource(limits: HTTPLimits(byteLimit: effort.large))
  let disk = DiskCache(directory: folder, byteLimit: effort.large * 2)
  let media = MediaCache(disk, over: source, limitedTo: 1, name: \.absoluteString)
  warmUp(media.get(url))
  let growth = Growth()
  let end = DispatchSemaphore(value: 0)
  let size = Kept(0)
  media.get(url).subscribe { event in
    switch event {
    case .progress: break
    case .next(let file): size.value = file.byteCount
    case .failed, .completed: end.signal()
    }
  }
  end.wait()
  return NetworkFigures(ours: growth.megabytes, isSumRight: size.value == effort.large)
}

/// Causes the growth that happens only once: a session, its threads, code, the system's buffers.
private func warmUp<Value>(_ large: Signal<Value>) {
  giveBackFree()
  let enough = DispatchSemaphore(value: 0)
  let warming = large.subscribe { event in
    if case .progress(let progress) = event, progress.completed > 32 << 20 { enough.signal() }
    if event.isTerminal { enough.signal() }
  }
  enough.wait()
  warming.dispose()
}

/// The greatest growth of the process at any moment.
private struct Growth {
  private let first: Int?

  init() {
    forgetPeak()
    first = residentBytes()
  }

  var megabytes: Double? {
    guard let first, let peak = peakBytes() else { return nil }
    return Double(max(0, peak - first)) / 1e6
  }
}
