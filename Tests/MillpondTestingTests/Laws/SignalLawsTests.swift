import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Operators that are broken on purpose, each in one way.
@Suite(.heavy) struct SignalLawsTests {
  /// Returns laws with a short timeLimit, since a wait in vain is the fault under test.
  func laws<Output>(
    _ operation: @escaping @Sendable (Signal<Int>) -> Signal<Output>
  ) -> SignalLaws<Output> {
    SignalLaws(timeLimit: .milliseconds(200), operation)
  }

  @Test func `an operator that keeps them breaks none`() async {
    let breaches = await SignalLaws { $0.map { $0 + 1 } }.breaches()

    #expect(breaches.isEmpty)
  }

  @Test(arguments: [Event<Int>.completed, .next(1)])
  func `grammar: one that sends something after the end`(late: Event<Int>) async {
    let breaches = await laws { source in
      Signal<Int> { observer, lifetime in
        source.run(
          observer.replacingOther {
            observer.other($0)
            if $0.isTerminal { observer.send(late) }
          }, lifetime)
      }
    }.breaches(of: [.grammar])

    #expect(!breaches.isEmpty)
  }

  @Test func `grammar: one that swallows failures`() async {
    let breaches = await laws { source in
      Signal<Int> { observer, lifetime in
        source.run(
          observer.replacingOther { if case .failed = $0 {} else { observer.other($0) } }, lifetime)
      }
    }.breaches(of: [.grammar])

    #expect(!breaches.isEmpty)
  }

  @Test func `progress: one that swallows it`() async {
    let breaches = await laws { source in
      Signal<Int> { observer, lifetime in
        source.run(observer.replacingOther { if $0.isTerminal { observer.other($0) } }, lifetime)
      }
    }.breaches()

    #expect(Set(breaches.map(\.law)) == [.progress])
  }

  @Test(arguments: [SignalLaw.silence, .teardown, .containment])
  func `silence, teardown and containment: one that does not stop its source`(law: SignalLaw) async
  {
    let breaches = await laws { source in
      Signal<Int> { observer, _ in source.run(observer, Lifetime()) }
    }.breaches(of: [law])

    #expect(breaches.map(\.law).contains(law))
  }

  @Test func `silence: one whose timer goes on after disposal`() async {
    let clock = ManualClock()
    let laws = SignalLaws(
      timeLimit: .milliseconds(200), passTime: { clock.advance(by: .seconds(1)) }
    ) { source in
      Signal<Int> { observer, lifetime in
        source.run(
          observer.replacingNext { (value: Int) in
            clock.schedule(after: .seconds(1)) { observer.next(value) }
          }, lifetime)
      }
    }

    let breaches = await laws.breaches(of: [.silence])

    #expect(!breaches.isEmpty)
  }

  @Test func `release: one that keeps its observer`() async {
    final class Ring: Sendable {
      let observer: Observer<Int>
      let itself = Locked<Ring?>(nil)

      init(_ observer: Observer<Int>) {
        self.observer = observer
        itself.withLock { $0 = self }
      }
    }
    let breaches = await laws { source in
      Signal<Int> { observer, lifetime in source.run(Ring(observer).observer, lifetime) }
    }.breaches()

    #expect(Set(breaches.map(\.law)) == [.release])
  }

  @Test func `serial: one that merges without a queue`() async {
    let breaches = await laws { source in
      Signal<Int> { observer, lifetime in
        let left = Locked(2)
        let half = observer.replacingOther { event in
          if !event.isTerminal { return observer.other(event) }
          let isLast = left.withLock {
            $0 -= 1
            return $0 == 0
          }
          if isLast { observer.other(event) }
        }
        source.run(half, lifetime)
        source.run(half, lifetime)
      }
    }.breaches(of: [.serial])

    #expect(!breaches.isEmpty)
  }

  @Test func `noLock: one that calls out under its lock`() async {
    let breaches = await laws { source in
      Signal<Int> { observer, lifetime in
        let lock = Locked(0)
        let locked = Observer<Int>(
          next: { value in lock.withLock { _ in observer.next(value) } },
          other: { event in lock.withLock { _ in observer.other(event) } })
        // Two runs, so that two threads get to the lock.
        Signal.of(0, 1).flatMap(.merge) { _ in source }.run(locked, lifetime)
        source.run(Observer(next: locked.next, other: { _ in }), lifetime)
      }
    }.breaches(of: [.noLock])

    #expect(!breaches.isEmpty)
  }
}
