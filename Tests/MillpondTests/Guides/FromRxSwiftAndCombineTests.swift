import Foundation
import Millpond
import MillpondTesting
import Observation
import Testing

/// The code of the page "Coming from RxSwift or Combine".
@MainActor
@Suite(.timeLimit(.minutes(3))) struct FromRxSwiftAndCombineTests {
  struct Rate: Sendable, Equatable {
    var value: Double
  }

  // snippet
  struct Rates: Sendable {
    let rates: AnyCache<String, Rate>

    init(_ api: some Source<String, Rate>, clock: any Clock<Duration> = ContinuousClock()) {
      let memory = MemoryCache<String, Rate>(
        countLimit: 200, timeToLive: .hours(1), clock: clock)
      rates = AnyCache(api.retrying(.immediate(attempts: 3)).replayed(in: memory))
    }

    func conversion(from: String, to: String) -> Signal<Double> {
      combineLatest(rates.get(from), rates.get(to)).map { $0.value / $1.value }
    }
  }
  // end

  static func show(_ rates: Rates, in label: Label, _ bag: DisposableBag) {
    // snippet
    rates.conversion(from: "EUR", to: "CHF")
      .subscribeOnMain(onNext: { label.text = "\($0)" }, onFailed: { label.text = "\($0)" })
      .disposed(by: bag)
    // end
  }

  static func bridged(
    _ stream: @escaping @Sendable (String) -> Stream
  ) -> FunctionSource<String, Rate> {
    // snippet
    let api = FunctionSource<String, Rate>.signal { currency in
      .create { observer, lifetime in
        let subscription = stream(currency).subscribe { event in
          switch event {
          case .next(let rate): observer.next(rate)
          case .error(let error): observer.failed(error)
          case .completed: observer.completed()
          }
        }
        lifetime.onEnd { subscription.dispose() }
      }
    }
    // end
    return api
  }

  @MainActor @Observable final class Label {
    var text = ""
  }

  /// An observable of another library.
  struct Stream: Sendable {
    enum Event {
      case next(Rate)
      case error(any Error)
      case completed
    }

    let source: TestSource<Rate>

    func subscribe(_ receive: @escaping @Sendable (Event) -> Void) -> Disposable {
      source.signal.subscribe(
        onNext: { receive(.next($0)) }, onFailed: { receive(.error($0)) },
        onCompleted: { receive(.completed) })
    }
  }

  private let clock = ManualClock()
  private let origin = TestOrigin<String, Rate>()

  private func answer(_ currency: String, _ value: Double) {
    origin[currency].next(Rate(value: value))
    origin[currency].completed()
  }

  @Test func `two labels share the rates, which are kept for an hour`() async {
    let rates = Rates(origin, clock: clock)
    let (labels, bag) = ([Label(), Label()], DisposableBag())
    for label in labels { Self.show(rates, in: label, bag) }

    answer("EUR", 3)
    answer("CHF", 2)
    await observed { labels.allSatisfy { $0.text == "1.5" } }
    #expect(origin["EUR"].subscriptions == 1)

    clock.advance(by: .seconds(3_601))
    Self.show(rates, in: labels[0], bag)
    #expect(origin["EUR"].subscriptions == 2)
    bag.dispose()
    #expect(origin.activeRuns == 0)
  }

  @Test func `a failure is retried, shown, and not kept`() async {
    let rates = Rates(origin, clock: clock)
    let (label, bag) = (Label(), DisposableBag())
    Self.show(rates, in: label, bag)

    for _ in 0..<3 { origin["EUR"].failed(URLError(.timedOut)) }
    await observed { !label.text.isEmpty }

    let again = Recorder<Rate>().subscribe(to: rates.rates.get("EUR"))
    answer("EUR", 3)
    #expect(again.values == [Rate(value: 3)])
    #expect(origin["EUR"].subscriptions == 4)
  }

  @Test func `a stream of another library is a source, and is left by its last subscriber`() {
    let source = TestSource<Rate>()
    let rates = Self.bridged { _ in Stream(source: source) }
    let seen = Recorder<Rate>().subscribe(to: rates.get("EUR"))

    source.next(Rate(value: 1))
    seen.dispose()

    #expect(seen.values == [Rate(value: 1)])
    #expect(source.disposals == 1)
  }
}
