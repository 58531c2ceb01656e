import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Memory, and its limits".
@Suite struct MemoryAndItsLimitsTests {
  static func caches() -> (MemoryCache<Int, String>, MemoryCache<String, Data>) {
    // snippet
    let names = MemoryCache<Int, String>(countLimit: 1_000)
    let pictures = MemoryCache<String, Data>(costLimit: .mebibytes(32), cost: \.count)
    // end
    return (names, pictures)
  }

  static func lower(_ pictures: MemoryCache<String, Data>) {
    // snippet
    pictures.costLimit = .mebibytes(8)
    pictures.trim(to: 0.5)  // half of what is stored is left at most
    // end
  }

  static func sessions(_ clock: some Clock<Duration>) -> MemoryCache<String, String> {
    // snippet
    let sessions = MemoryCache<String, String>(
      countLimit: 500, timeToLive: .hours(1), timeToIdle: .minutes(10),
      jitter: 0.1, clock: clock)
    sessions.set("Ada", for: "a", timeToLive: .minutes(1))  // its own time
    sessions.setTimeToLive(.forever, for: "a")
    // end
    return sessions
  }

  static func relieve(_ pictures: MemoryCache<String, Data>, _ pressure: Signal<MemoryPressure>) {
    // snippet
    pictures.onMemoryPressure(.ofSystem())  // half of it on a warning, all when it is critical
    // end
    // snippet
    pictures.onMemoryPressure(pressure) { cache, level in
      cache.trim(to: level == .critical ? 0.1 : 0.5)
    }
    // end
  }

  static func watch(
    _ pictures: MemoryCache<String, Data>, _ bag: DisposableBag,
    _ log: @escaping @Sendable (String) -> Void
  ) {
    // snippet
    pictures.removals
      .filter { $0.cause == .evicted || $0.cause == .pressure }
      .subscribe(onNext: { log("\($0.key) had to go") }).disposed(by: bag)
    log("\(pictures.count) values, \(pictures.totalCost) bytes")
    log("hit ratio \(pictures.statistics.hitRatio)")
    // end
  }

  private let pictures = Self.caches().1
  private let lines = Watched<[String]>([])

  private func fill() {
    for number in 0..<32 { pictures.set(Data(count: 1 << 20), for: "\(number)") }
  }

  @Test func `a lowered limit and a trim take effect at once, and are watched`() {
    let bag = DisposableBag()
    fill()
    Self.watch(pictures, bag) { [lines] line in lines.change { $0.append(line) } }
    #expect(lines.state == ["32 values, 33554432 bytes", "hit ratio 0.0"])

    Self.lower(pictures)

    #expect(pictures.count == 4)
    #expect(lines.state.count == 2 + 28)
    bag.dispose()
  }

  @Test func `pressure leaves the share that the closure says`() {
    let pressure = PublishSubject<MemoryPressure>()
    Self.relieve(pictures, pressure.signal)
    fill()

    pressure.next(.warning)
    #expect(pictures.count == 16)
    pressure.next(.critical)
    #expect(pictures.count <= 3)
  }

  @Test func `a session without a time to live of its own ends when it is idle`() {
    let clock = ManualClock()
    let sessions = Self.sessions(clock)
    sessions.set("Bob", for: "b")
    #expect(sessions.peek("a") == "Ada")

    clock.advance(by: .seconds(601))

    #expect(sessions.peek("b") == nil)
  }
}
