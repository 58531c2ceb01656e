import Millpond
import Synchronization
import Testing

/// The code of the article "The signal contract", with what it prints.
@Suite struct SignalContractPageTests {
  /// A stand-in for the standard library's function that keeps its lines.
  final class Printer: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func callAsFunction(_ item: Any) {
      let line = "\(item)"
      kept.withLock { $0.append(line) }
    }
  }

  let print = Printer()

  @Test func `nothing follows the end`() {
    let print = print
    // snippet
    let signal = Signal<Int>.create { observer, _ in
      observer.next(1)
      observer.completed()
      observer.next(2)  // dropped
    }
    signal.subscribe { print($0) }  // next(1), completed
    // end

    #expect(print.lines == ["next(1)", "completed"])
  }

  @Test func `each subscription runs a cold signal`() {
    let print = print
    // snippet
    let roll = Signal<Int>.deferred { .just(Int.random(in: 1...6)) }
    roll.subscribe(onNext: { print($0) })
    roll.subscribe(onNext: { print($0) })  // another number
    // end

    #expect(print.lines.count == 2)
  }

  @Test func `disposal is silence`() {
    let print = print
    // snippet
    let numbers = PublishSubject<Int>()
    let subscription = numbers.signal.subscribe(onNext: { print($0) })
    subscription.dispose()
    numbers.next(1)  // prints nothing
    // end

    #expect(print.lines.isEmpty)
  }

  @Test func `a bag and a scoped handle dispose`() {
    let print = print
    // snippet
    let bag = DisposableBag()
    Signal.of(1, 2).subscribe(onNext: { print($0) }).disposed(by: bag)
    let scoped = Signal<Int>.never.subscribe().scoped()
    _ = scoped  // disposes when it is released
    // end

    #expect(print.lines == ["1", "2"])
  }

  @Test func `events are received on the main actor`() {
    let print = print
    // snippet
    let numbers = PublishSubject<Int>()
    numbers.signal.receive(on: MainActor.shared).subscribe(onNext: { print($0) })
    // end

    #expect(print.lines.isEmpty)
  }

  @Test func `what is sent inside a callback comes after it`() {
    let print = print
    // snippet
    let numbers = PublishSubject<Int>()
    numbers.signal.subscribe(onNext: { if $0 == 1 { numbers.next(2) } })
    numbers.signal.subscribe(onNext: { print($0) })
    numbers.next(1)  // prints 1, then 2
    // end

    #expect(print.lines == ["1", "2"])
  }

  @Test func `progress passes operators`() {
    let print = print
    // snippet
    let download = Signal<String>.create { observer, _ in
      observer.progress(SignalProgress(completed: 50, total: 100))
      observer.next("text")
      observer.completed()
    }
    download.map(\.count).subscribe(onProgress: { print($0.fraction ?? 0) })  // 0.5
    // end

    #expect(print.lines == ["0.5"])
  }

  @Test func `an observer that is released fails its signal`() {
    let print = print
    // snippet
    let forgetful = Signal<Int>.create { observer, _ in
      observer.next(1)
    }
    forgetful.subscribe(onFailed: { print($0) })  // … never ended: its observer was released
    // end

    #expect(print.lines.count == 1)
    #expect(print.lines.first?.contains("never ended: its observer was released") == true)
  }

  @Test func `the end of a lifetime cancels`() {
    // snippet
    let ticks = Signal<Int>.create { observer, lifetime in
      let task = Task {
        try await Task.sleep(for: .seconds(1))
        observer.next(1)
        observer.completed()
      }
      lifetime.onEnd { task.cancel() }
    }
    ticks.subscribe().dispose()  // cancels the task
    // end
  }

  @Test func `an operator stops what is above it`() {
    let print = print
    // snippet
    Signal.from(1...1_000_000).take(1).subscribe(onNext: { print($0) })  // stops after one
    // end

    #expect(print.lines == ["1"])
  }

  @Test func `many elements take no stack`() {
    // snippet
    Signal.from(0..<100_000).flatMap(.concat) { .just($0) }.subscribe()
    // end
  }

  // snippet
  func pages(from number: Int) -> Signal<Int> {
    Signal.just(number).concat(.deferred { pages(from: number + 1) })
  }
  // end

  @Test func `a recursion by deferred parts is a loop`() {
    // snippet
    pages(from: 1).take(100_000).subscribe()
    // end
  }

  @Test func `a replayed run is one run, and a started one does not wait`() {
    let print = print
    // snippet
    let run = Signal<Int>.deferred {
      print("runs")
      return .just(1)
    }
    let shared = run.replayLast()
    shared.subscribe(onNext: { print($0) })  // runs, 1
    shared.subscribe(onNext: { print($0) })  // 1
    // end

    // snippet
    let settings = run.started()  // runs
    settings.subscribe(onNext: { print($0) })  // 1
    // end

    #expect(print.lines == ["runs", "1", "1", "runs", "1"])
  }

  @Test func `a ready answer arrives inside the subscription`() {
    let print = print
    // snippet
    let handle = Signal.just(1).subscribe(onNext: { print($0) })
    print(handle.isDisposed)  // true: the signal has ended already
    // end

    #expect(print.lines == ["1", "true"])
  }

  @Test func `one value is awaited`() async throws {
    // snippet
    let one = try await Signal.of(1, 2).value  // 1
    let none = try await Signal<Int>.empty.valueIfAny  // nil
    // end

    #expect(one == 1 && none == nil)
  }
}
