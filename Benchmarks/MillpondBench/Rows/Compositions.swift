import Foundation
import Millpond

/// Returns the cost of introspection of a composition, with and without a listener, beside the same
/// composition without it.
func compositionRows() -> [Row] {
  [
    Row(
      name: "named-hit", summary: "a hit in memory over disk over HTTP, every layer named",
      ratioTarget: 2, baseline: .stringTable, body: .named { $0 }),
    Row(
      name: "named-erased-hit", summary: "the same, behind AnyCache", ratioTarget: 2.8,
      baseline: .stringTable, body: .named { AnyCache($0) }),
    Row(
      name: "scoped-hit", summary: "the same, in a scope", baseline: .stringTable,
      body: .named { $0.scoped(to: CacheScope()) }),
    Row(
      name: "monitored-hit", summary: "the same, counted by a monitor", isCounted: false,
      baseline: .stringTable, body: .named { $0.monitored(by: CacheMonitor()) }),
    Row(
      name: "unwatched-hit", summary: "the same, under a monitor that nobody observes",
      isCounted: false, baseline: .stringTable,
      body: .named { $0.monitored(by: CacheMonitor(active: .whileObserved)) }),
    Row(
      name: "replayed-hit", summary: "a hit in a dictionary of replayed signals",
      baseline: .stringTable,
      body: .hits { EmptyCache().replayed(in: $0) }),
    Row(
      name: "named-miss", summary: "a miss in two named layers, compared with unnamed ones",
      baseline: .misses,
      body: .misses { $0.named("one").layered(over: $1.named("two").layered(over: EmptyCache())) }),
    Row(
      name: "monitored-miss", summary: "the same, counted by a monitor", isCounted: false,
      baseline: .misses,
      body: .misses {
        $0.named("one").layered(over: $1.named("two").layered(over: EmptyCache()))
          .monitored(by: CacheMonitor())
      }),
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
