import MillpondSockets
public import MillpondCore

/// A page in the browser that shows the inside of a running cache.
///
///     let monitor = CacheMonitor(active: .whileObserved)
///     let pictures = memory.named("memory").layered(over: disk.named("disk")).monitored(by: monitor)
///     let inspector = try Inspector(pictures, allowing: [.removing])
///     print(inspector.address)  // open it in a browser on this machine
///
/// The page shows the composition with the sizes and counters of its layers, the hit ratio over
/// time, the running flights, and the latest gets with the answers of the layers. The gets are
/// shown if a part of the composition is ``/MillpondCore/Source/monitored(by:)``; everything else
/// needs no preparation.
///
/// It is served on 127.0.0.1 only, to callers that know the address, which contains a random token.
/// Keys are shown as text, without the secrets of URLs in them, so the address should be kept as
/// secret as they are. Four pages can be open at a time.
///
/// At the address with `metrics` behind it is the composition's
/// ``/MillpondCore/Source/prometheusText``, for a collector on the same machine.
///
/// Without an open page nothing is collected, and the caches run as without an inspector. While a
/// page is open, the state is read four times a second, and the latest thousand gets are kept.
///
/// - Note: Any thread. The inspector has threads of its own, on which it calls the composition and
///   the descriptions of keys. It ends with ``stop()``, or when it is released.
public final class Inspector: Sendable {
  /// The address of the page: `http://127.0.0.1:`, the port, and the token in the path.
  public var address: String { server.address }

  private let server: InspectorServer

  /// Serves a page about a composition.
  ///
  /// - Parameters:
  ///   - source: The source or cache. It is retained until the inspector stops.
  ///   - title: The title of the page.
  ///   - permissions: The actions that the page offers; by default it only shows.
  /// - Throws: An error that says why the system refuses a socket, a pipe or a thread.
  public convenience init<Key, Value>(
    _ source: some Source<Key, Value>, title: String = "Millpond",
    allowing permissions: Set<InspectorPermission> = []
  ) throws {
    try self.init(InspectedSource(source, title: title, allowing: permissions), ServerTimeouts())
  }

  /// Serves a page about a multiplexer.
  ///
  /// - Parameters:
  ///   - multiplexer: The multiplexer. It is retained until the inspector stops.
  ///   - title: The title of the page.
  ///   - permissions: The actions that the page offers; by default it only shows.
  /// - Throws: An error that says why the system refuses a socket, a pipe or a thread.
  public convenience init<Value>(
    _ multiplexer: Multiplexer<Value>, title: String = "Millpond",
    allowing permissions: Set<InspectorPermission> = []
  ) throws {
    try self.init(multiplexer.inspected, title: title, allowing: permissions)
  }

  init(_ source: InspectedSource, _ times: ServerTimeouts) throws {
    server = try InspectorServer(source, times)
  }

  deinit { stop() }

  /// The number of pages that are open.
  var openPageCount: Int { server.pages.count }

  /// Closes all connections, and waits until the threads of the inspector have ended; idempotent.
  public func stop() { server.stop() }
}
