import Foundation
import Millpond
import MillpondTesting
import Observation
import Testing

/// The code of the page "Coming from ReactiveCocoa or ReactiveSwift".
@MainActor
@Suite(.timeLimit(.minutes(3))) struct FromReactiveSwiftTests {
  struct Departure: Sendable, Equatable {
    var line: Int
  }

  // snippet
  struct Departures<API: Source<String, [Departure]>>: Sendable {
    private let api: Governed<API>
    private let table: MemoryCache<String, [Departure]>

    init(_ api: API, clock: any Clock<Duration> = ContinuousClock()) {
      self.api = api.timingOut(after: .seconds(10), clock: clock)
      table = MemoryCache(countLimit: 200, timeToLive: .minutes(1), clock: clock)
    }

    func departures(from station: String) -> Signal<[Departure]> {
      table.signal(for: station) { api.get(station) }
    }
  }
  // end

  static func show<API>(_ departures: Departures<API>, in view: Board) {
    // snippet
    departures.departures(from: "Basel")
      .subscribeOnMain(onNext: { view.show($0) }, onFailed: { view.show($0) })
      .disposed(by: view.bag)
    // end
  }

  @MainActor @Observable final class Board {
    var lines: [Int] = []
    var error: (any Error)?
    let bag = DisposableBag()

    func show(_ departures: [Departure]) { lines = departures.map(\.line) }
    func show(_ error: any Error) { self.error = error }
  }

  private let clock = ManualClock()
  private let api = TestOrigin<String, [Departure]>()

  private func answer(_ line: Int) {
    api["Basel"].next([Departure(line: line)])
    api["Basel"].completed()
  }

  @Test func `boards of a station share a run, and its value for a minute`() async {
    let departures = Departures(api, clock: clock)
    let boards = [Board(), Board()]
    for board in boards { Self.show(departures, in: board) }

    answer(8)
    await observed { boards.allSatisfy { $0.lines == [8] } }
    #expect(api["Basel"].subscriptions == 1)

    clock.advance(by: .seconds(61))
    Self.show(departures, in: boards[0])
    answer(11)
    await observed { boards[0].lines == [11] }
    #expect(api["Basel"].subscriptions == 2)
  }

  @Test func `the last board to leave cancels, and a late answer is a failure that is not kept`()
    async
  {
    let departures = Departures(api, clock: clock)
    let board = Board()
    Self.show(departures, in: board)
    board.bag.dispose()
    #expect(api["Basel"].disposals == 1)

    let patient = Board()
    Self.show(departures, in: patient)
    clock.advance(by: .seconds(10))
    await observed { patient.error != nil }
    #expect(patient.error is SignalError)

    Self.show(departures, in: patient)
    answer(3)
    await observed { patient.lines == [3] }
  }
}
