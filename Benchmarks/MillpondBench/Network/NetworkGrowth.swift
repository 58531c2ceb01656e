import Foundation
import LoopbackServer
import Millpond

/// Measures the growth of the process while a body passes that is larger than the permitted growth,
/// in pieces or to a file.
func measureGrowth(_ run: Run, _ sample: inout Sample, toDisk: Bool) throws {
  let byteCount = run.count(1 << 30, quick: 100 << 20)
  let source = HTTPSource(limits: HTTPLimits(byteLimit: byteCount))
  let folder = try run.folder.fresh("media")
  let disk = DiskCache(directory: URL(filePath: folder), byteLimit: byteCount * 2)
  let media = MediaCache(disk, over: source, limitedTo: 1, name: \.absoluteString)
  func count(_ origin: LoopbackServer) throws -> Int {
    defer { origin.stop() }
    let (url, count) = (try origin.url("/"), SignalSum(of: 1))
    if toDisk {
      count.add(media.get(url)) { $0.byteCount }
    } else {
      count.add(source.pieces(of: url)) { $0.count }
    }
    return count.total()
  }
  // Causes the growth that happens only once: a session, its threads, code, the system's buffers.
  _ = try count(.streaming(64 << 20))
  SystemReport.giveBackFree()
  SystemReport.forgetPeak()
  let before = SystemReport.residentBytes
  sample.isSumRight = try count(.streaming(byteCount)) == byteCount
  // The greatest at any moment, in megabytes.
  sample.value = before.flatMap { before in
    SystemReport.peakBytes.map { Double(max(0, $0 - before)) / 1e6 }
  }
  try awaited(disk.close())
  try FileManager.default.removeItem(atPath: folder)
}
