import Foundation
import Millpond

/// Returns the cost of introspection of a composition, with and without a listener, beside the same
/// composition without it.
func compositionRows() -> [Row] {
  [
    Row(
      "named-hit", "a hit in memory over disk over HTTP, every layer named",
      times: 2, beside: .stringTable, body: .named { $0 }),
    Row(
      "named-erased-hit", "the same, behind AnyCache", times: 2.8,
      beside: .stringTable, body: .named { AnyCache($0) }),
    Row(
      "monitored-hit", "the same, counted by a monitor",
      beside: .stringTable, body: .named { $0.monitored(by: CacheMonitor()) }),
  ]
}

extension Work {
  /// Returns hits in memory over disk over HTTP, all of them named, in the wrapper that `wrap`
  /// makes.
  fileprivate static func named<Composition: Cache<String, Int>>(
    _ wrap: @escaping @Sendable (ThreeTiers) -> Composition
  ) -> Work {
    .hits { wrap(threeTiers($0)) }
  }
}

private typealias Network = Named<
  TransformedValues<MappedKeys<Governed<HTTPSource<URL>>, String>, Int>
>
private typealias ThreeTiers = InFlightReuse<
  Layered<
    Named<MemoryCache<String, Int>>, Layered<Named<MappedValues<DiskCache, Int>>, Network>
  >
>

private func threeTiers(_ memory: MemoryCache<String, Int>) -> ThreeTiers {
  let decimal = Codec<Data, Int>(encode: { Data("\($0)".utf8) }, decode: number)
  return memory.named("memory")
    .layered(over: idleDisk.mapValues(decimal).named("disk").layered(over: idleNetwork))
    .reusingInFlight()
}

/// A network that receives no request, made once.
///
/// Foundation does not tolerate counted allocations.
private let idleNetwork = HTTPSource().limited(to: 6)
  .mapKeys { (path: String) in URL(fileURLWithPath: path) }
  .mapValues(number)
  .named("network")

/// An open disk cache that is neither read nor written; its folder has been removed again.
private let idleDisk: DiskCache = {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-bench-\(UUID().uuidString)")
  let disk = DiskCache(directory: folder, byteLimit: .mebibytes(1))
  let isOpen = DispatchSemaphore(value: 0)
  disk.count.subscribe(onFailed: { _ in isOpen.signal() }, onCompleted: { isOpen.signal() })
  isOpen.wait()
  try? FileManager.default.removeItem(at: folder)
  return disk
}()

@Sendable private func number(_ data: Data) throws -> Int {
  try Int(String(decoding: data, as: UTF8.self), format: .number)
}
