import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "In-flight reuse and cancellation".
@Suite struct SharingAndCancellationTests {
  typealias Memory = MemoryCache<String, Data>
  typealias Network = TestOrigin<String, Data>

  static func pictures(_ memory: Memory, _ network: Network) -> some Cache<String, Data> {
    // snippet
    let pictures = memory.layered(over: network).reusingInFlight()
    // end
    return pictures
  }

  static func load(
    _ pictures: some Cache<String, Data>, _ show: @escaping @Sendable (Data) -> Void
  ) {
    // snippet
    let loading = pictures.get("a").subscribe(onNext: show)
    loading.dispose()  // from here on nothing is delivered
    // end
  }

  static func value(_ pictures: some Cache<String, Data>) async throws -> Data {
    // snippet
    let loading = pictures.get("a")
    let progress = loading.subscribe(onProgress: { print($0.completed) })
    let picture = try await loading.value
    progress.dispose()
    // end
    return picture
  }

  static func prefetch(_ keys: [String], from pictures: some Cache<String, Data>) -> Disposable {
    // snippet
    let ahead = pictures.prefetch(keys).subscribe()
    // end
    return ahead
  }

  static func soon(_ pictures: some Cache<String, Data>) -> Signal<Data> {
    // snippet
    let soon = pictures.get("a", deadline: .after(.seconds(2)))  // for this caller only
    // end
    return soon
  }

  private let network = Network()
  private let shown = Recorder<Data>()

  private func pictures() -> some Cache<String, Data> {
    Self.pictures(Memory(countLimit: 10), network)
  }

  private func answer(_ key: String) {
    network[key].next(Data([1]))
    network[key].completed()
  }

  @Test func `callers share a flight, and the last one to leave cancels it`() {
    let pictures = pictures()
    let seen = Watched(0)
    shown.subscribe(to: pictures.get("a"))

    Self.load(pictures) { _ in seen.change { $0 += 1 } }
    #expect(network["a"].activeRuns == 1)
    shown.dispose()

    #expect(network["a"].disposals == 1)
    #expect(seen.state == 0)
  }

  @Test func `a value fetched ahead serves a later caller, and the other fetches are cancelled`() {
    let pictures = pictures()
    let ahead = Self.prefetch(["a", "b"], from: pictures)
    shown.subscribe(to: Self.soon(pictures))

    ahead.dispose()
    answer("a")

    #expect(shown.values == [Data([1])])
    #expect(network["b"].disposals == 1)
    #expect(network["a"].subscriptions == 1)
  }
}
