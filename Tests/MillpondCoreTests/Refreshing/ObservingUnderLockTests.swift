import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Observing under a lock of the user's, which the observers take.
@Suite(.heavy) struct ObservingUnderLockTests {
  let scene = RememberedScene(.ten(), age: .seconds(1))
  let pulls = PublishSubject<Void>()
  let lock = DispatchSemaphore(value: 1)
  let states = Watched<[Int?]>([])

  /// Calls `act` under the lock while another thread sends a state and waits for the lock.
  private func whileAStateWaits(_ act: @escaping @Sendable () -> Void) async throws {
    let isDelivering = DispatchSemaphore(value: 0)
    let waits = Watched(false)
    scene.users.observe("a", refreshingOn: pulls.signal).subscribe(onNext: { [states, lock] in
      if waits.state { isDelivering.signal() }
      lock.wait()
      states.change { [value = $0.value] in $0.append(value) }
      lock.signal()
    })
    waits.change { $0 = true }
    let done = Watched(0)
    lock.wait()
    DispatchQueue(label: "setting").async { [scene] in
      scene.users.set(2, for: "a")
      done.change { $0 += 1 }
    }
    DispatchQueue(label: "holding").async { [lock] in
      isDelivering.wait()
      act()
      lock.signal()
      done.change { $0 += 1 }
    }
    try await done.wait(for: "both threads") { $0 == 2 }
  }

  @Test func `a trigger sent under a lock does not wait for an observer that takes it`()
    async throws
  {
    try await whileAStateWaits { [pulls] in pulls.next(()) }
    #expect(scene.fetches.count == 2)
    scene.answer(3)
    try await states.wait(for: "the fetched value") { $0.last == 3 }
  }

  @Test func `a set under a lock does not wait for an observer that takes it`() async throws {
    try await whileAStateWaits { [scene] in scene.users.set(4, for: "a") }
    try await states.wait(for: "the later value") { $0.last == 4 }
  }

  @Test func `an observation that begins and ends under a lock waits for no other`() async throws {
    try await whileAStateWaits { [scene] in
      scene.users.observe("a").subscribe(onNext: { _ in }).dispose()
    }
    try await states.wait(for: "the set value") { $0.last == 2 }
  }
}
