import Foundation
import LoopbackServer
import Millpond

/// Measures the growth of the process while a body passes that is larger than the permitted growth.
func measureGrowth(_ run: Run, _ sample: inout Sample) throws {
  let byteCount = run.count(1 << 30, quick: 100 << 20)
  let origin = try LoopbackServer.streaming(byteCount)
  let url = try origin.url("/")
  let source = HTTPSource(limits: HTTPLimits(byteLimit: byteCount))
  sample.measureGrowth(source.pieces(of: url), expecting: byteCount) { $0.count }
}

/// Measures the same for a body that becomes a file.
func measureGrowthOnDisk(_ run: Run, _ sample: inout Sample) throws {
  let byteCount = run.count(1 << 30, quick: 100 << 20)
  let origin = try LoopbackServer.streaming(byteCount)
  let url = try origin.url("/")
  let source = HTTPSource(limits: HTTPLimits(byteLimit: byteCount))
  let folder = try run.folder.fresh("media")
  let disk = DiskCache(directory: URL(filePath: folder), byteLimit: byteCount * 2)
  let media = MediaCache(disk, over: source, limitedTo: 1, name: \.absoluteString)
  sample.measureGrowth(media.get(url), expecting: byteCount) { $0.byteCount }
  try awaited(disk.close())
  try FileManager.default.removeItem(atPath: folder)
}

extension Sample {
  /// Measures the greatest growth of the process at any moment of a signal, in megabytes.
  fileprivate mutating func measureGrowth<Value>(
    _ large: Signal<Value>, expecting byteCount: Int, _ count: @escaping @Sendable (Value) -> Int
  ) {
    SystemReport.giveBackFree()
    warmUp(large)
    SystemReport.forgetPeak()
    let first = SystemReport.residentBytes
    let sum = SignalSum(of: 1)
    sum.add(large, count)
    isSumRight = sum.total() == byteCount
    value = first.flatMap { first in
      SystemReport.peakBytes.map { Double(max(0, $0 - first)) / 1e6 }
    }
  }
}

/// Causes the growth that happens only once: a session, its threads, code, the system's buffers.
private func warmUp<Value>(_ large: Signal<Value>) {
  let enough = DispatchSemaphore(value: 0)
  let warming = large.subscribe { event in
    if case .progress(let progress) = event, progress.completed > 32 << 20 { enough.signal() }
    if event.isTerminal { enough.signal() }
  }
  enough.wait()
  warming.dispose()
}
