import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondInspector

@Suite struct SnapshotTests {
  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()
  let memory = MemoryCache<String, Int>(costLimit: 100, countLimit: 5) { $0 }
  let log = ActivityLog()
  let bag = DisposableBag()

  struct Trouble: Error, CustomStringConvertible { let description: String }

  /// Memory over an origin, whose flights are shared.
  func composition() -> some Cache<String, Int> {
    memory.named("memory").layered(over: origin.limited(to: 2).named("network"))
      .reusingInFlight(clock: clock).monitored(
        by: CacheMonitor(active: .whileObserved, clock: clock))
  }

  func snapshot(
    of source: some Source<String, Int>, allowing: Set<InspectorPermission> = [.trimming]
  ) -> Snapshot {
    let inspected = InspectedSource(source, title: "Numbers", allowing: allowing)
    return Snapshot(
      of: inspected, inspected.topology(), log.news(limit: 10), isMonitored: true, at: .now)
  }

  func observe(_ source: some Source<String, Int>) {
    for monitor in source.topology(for: nil).observedMonitors { log.observe(monitor, until: bag) }
  }

  @Test func `the composition has the names, sizes, limits and counters of its layers`() throws {
    let cache = composition()
    memory.set(30, for: "a")
    cache.get("a").subscribe()

    let root = snapshot(of: cache).part

    #expect(root.role == "layers")
    #expect(root.parts.map(\.label) == ["memory", "network"])
    #expect(root.parts.map(\.id) == ["0.0", "0.1"])
    let first = root.parts[0]
    #expect(first.role == "store" && first.titles == ["MemoryCache"])
    #expect(first.count == 1 && first.cost == 30)
    let counters = try #require(first.counters)
    #expect(counters.hits == 1 && counters.misses == 0 && counters.insertions == 1)
    #expect(counters.countLimit == 5 && counters.costLimit == 100 && !counters.isInBytes)
    #expect(first.canTrim)
    #expect(root.parts[1].role == "origin" && !root.parts[1].canTrim)
    #expect(root.parts[1].titles.first == "limited to 2")
  }

  @Test func `a cache without limits states none`() throws {
    let counters = try #require(
      snapshot(of: MemoryCache<String, Int>(countLimit: .max)).part.counters)
    #expect(counters.countLimit == nil && counters.costLimit == nil)
  }

  @Test func `a layer before a server says in one line how that is`() {
    let remote = Remote(client: bag, line: "down: http://a.example/?token=secret")

    #expect(
      snapshot(of: memory.layered(over: remote)).part.parts.map(\.server) == [
        nil, "down: http://a.example/?token=",
      ])
    let long = Remote(client: bag, line: String(repeating: "x", count: 1_000))
    #expect(snapshot(of: long).part.server?.count == 501)
  }

  /// A store on a server, of which it tells one line.
  private struct Remote: Source {
    let client: DisposableBag
    let line: String

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { .empty }

    func topology(for key: String?) -> Topology {
      Topology(.store, "Remote").reporting { [client, line] in
        ServerReport(of: client, at: "a.example", line, [])
      }
    }
  }

  @Test func `trimming is offered only with permission`() {
    #expect(!snapshot(of: memory, allowing: []).part.canTrim)
    #expect(snapshot(of: memory, allowing: [.removing]).permissions == ["removing"])
  }

  @Test func `a flight has its key, age, callers and priority`() {
    let cache = composition()
    let one = cache.get("slow", priority: .low).subscribe()
    let other = cache.get("slow", priority: .high).subscribe()
    defer {
      one.dispose()
      other.dispose()
    }
    clock.advance(by: .seconds(3))

    let state = snapshot(of: cache)

    #expect(state.flightCount == 1)
    #expect(state.flights.map(\.key) == ["slow"])
    #expect(state.flights.map(\.callers) == [2])
    #expect(state.flights.map(\.priority) == ["high"])
    #expect(state.flights.map(\.layer) == ["reusing in flight"])
    #expect(state.flights.map(\.age) == ["3.0 s"])
    #expect(state.part.flightCount == 1)
  }

  @Test func `a get is described in words`() {
    let cache = composition()
    observe(cache)
    cache.get("a").subscribe()
    origin["a"].next(7)
    origin["a"].completed()
    cache.get("a").subscribe()

    let gets = snapshot(of: cache).gets

    #expect(gets.map(\.key) == ["a", "a"])
    #expect(
      gets.first?.steps.map { "\($0.layer): \($0.words)" } == [
        "in flight: started a flight", "memory: miss in 0 ns", "network: hit in 0 ns",
      ])
    #expect(gets.first?.end == "value after 0 ns")
    #expect(gets.last?.steps.map { "\($0.layer): \($0.words)" } == ["memory: hit"])
    #expect(gets.last?.end == "")
    let network = snapshot(of: cache).part.parts[1].answers
    #expect(network?.hits == 1 && network?.misses == 0)
  }

  @Test func `misses, failures and callers that leave are distinguished`() {
    let cache = composition()
    observe(cache)
    cache.get("a").subscribe()
    origin["a"].completed()
    cache.get("b").subscribe()
    origin["b"].failed(Trouble(description: "down"))
    cache.get("c").subscribe().dispose()

    let gets = snapshot(of: cache).gets

    #expect(gets.map(\.tone) == ["miss", "failure", "flight"])
    #expect(
      gets.map(\.end) == ["no value after 0 ns", "failed after 0 ns: down", "left after 0 ns"])
  }

  @Test func `an answer that many gets share is one answer of its layer`() {
    let monitor = CacheMonitor(active: .whileObserved, clock: clock)
    let part = origin.named("network").monitored(by: CacheMonitor())
    let cache = memory.named("memory").layered(over: part).reusingInFlight().monitored(by: monitor)
      .monitored(by: monitor)
    observe(cache)
    for _ in 0..<5 { cache.get("a").subscribe() }
    origin["a"].next(7)
    origin["a"].completed()

    let state = snapshot(of: cache)

    #expect(state.getCount == 5)
    #expect(state.part.parts[1].answers?.hits == 1)
    #expect(state.part.parts[0].answers?.misses == 1)
  }

  @Test func `a reload is a get under way, and no miss of the memory`() {
    let cache = composition()
    observe(cache)
    memory.set(1, for: "a")
    cache.get("a", freshness: .reload).subscribe()
    #expect(snapshot(of: cache).flights.map(\.key) == ["a"])

    origin["a"].next(2)
    origin["a"].completed()

    let state = snapshot(of: cache)
    #expect(state.flightCount == 0 && state.part.parts[0].answers == nil)
    #expect(state.gets.first?.steps.map(\.layer) == ["network"])
  }

  @Test func `keys and errors are shown without the secrets of URLs, and not as whole keys`() throws
  {
    let cache = composition()
    observe(cache)
    let key = "https://ada:pw@example.com/photo?token=SECRET"
    let waiting = cache.get(key).subscribe()
    let flight = try #require(snapshot(of: cache).flights.first)
    #expect(flight.key == "https://example.com/photo?token=" && !flight.isWhole)
    origin[key].failed(Trouble(description: "no answer of \(key)"))
    waiting.dispose()

    let json = String(decoding: try JSONEncoder().encode(snapshot(of: cache)), as: UTF8.self)

    #expect(!json.contains("SECRET") && !json.contains("ada"))
  }

  @Test func `a multiplexer can be inspected`() throws {
    let multiplexer = Multiplexer<Int> { 7 }
    let inspector = try Inspector(multiplexer, title: "Seven")
    defer { inspector.stop() }
    let state = snapshot(of: multiplexer.inspected)
    #expect(!state.part.parts.isEmpty)
    #expect(inspector.address.hasPrefix("http://127.0.0.1:"))
  }

  @Test func `keys and errors of any length and content become short text`() throws {
    let cache = composition()
    observe(cache)
    let key = "</script>\u{202e}\"\n\u{0}" + String(repeating: "é", count: 1_000)
    cache.get(key).subscribe()
    origin[key].failed(Trouble(description: String(repeating: "x", count: 1_000)))

    let state = snapshot(of: cache)
    let get = try #require(state.gets.first)

    #expect(get.key?.utf8.count ?? 0 < KeyText.limit + 10)
    #expect(!get.isWhole)
    #expect(get.end.utf8.count < 400)
    let json = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
    #expect(!json.contains("\n") && !json.contains("\r"))
  }

  @Test func `a long title is shortened`() {
    let long = InspectedSource(memory, title: String(repeating: "t", count: 1_000), allowing: [])

    let state = Snapshot(
      of: long, long.topology(), log.news(limit: 10), isMonitored: false, at: .now)

    #expect(state.title.utf8.count < 210)
  }

  @Test func `ten thousand flights make fifty rows, the oldest`() throws {
    let cache = composition()
    var gets: [Disposable] = []
    for key in 0..<10_000 {
      gets.append(cache.get("\(key)").subscribe())
      if key == 49 { clock.advance(by: .seconds(1)) }
    }

    let state = snapshot(of: cache)

    #expect(state.flightCount == 10_000)
    #expect(Set(state.flights.map(\.key)) == Set((0..<50).map(String.init)))
    for get in gets { get.dispose() }
  }

  @Test(arguments: ["", "1", "0.2", "0.0.0", "0.x", "0.-1", "0..0", "x", "0.99999999999999999999"])
  func `there is no part with another number`(id: String) {
    #expect(composition().topology(for: nil).part(id) == nil || id == "0..0")
  }
}
