public import MillpondSignals
import Synchronization

/// A few slots, and those who wait for one.
@usableFromInline
final class Slots: Sendable {
  private let count: Int
  private let queue: Locked<SlotQueue>

  @usableFromInline
  init(_ count: Int) {
    self.count = max(1, count)
    queue = Locked(SlotQueue(count: max(1, count)))
  }

  /// What the limit is, for those who look.
  var title: String {
    "limited to \(count)"
  }

  /// Makes one more, while a holder waits for others.
  func lend() {
    if let next = passOn() { run(next) }
  }

  /// Takes back what was lent: if it is in use, the next that comes free is not passed on.
  func takeBack() {
    queue.withLock { $0.takeBack() }
  }

  /// Calls `work` when a slot is free, with the lifetime that gives it back when it ends; not at
  /// all if `lifetime` ends before.
  ///
  /// Who holds a slot already, and waits for this work, lends it meanwhile.
  @usableFromInline
  func take(
    _ priority: Priority, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) {
    let asker = WorkContext.current
    asker?.wait(for: self, until: lifetime)
    let context = WorkContext.work(in: self, within: asker)
    let waiter = SlotWaiter(lifetime.child()) { slot in
      WorkContext.run(in: context) { work(slot) }
    }
    waiter.lifetime.onEnd { self.leave(waiter) }
    if let first = queue.withLock({ $0.enter(waiter, priority) }) { run(first) }
  }

  /// Starts waiters in a loop, for as long as their work ends inside its start.
  private func run(_ first: SlotWaiter) {
    var next: SlotWaiter? = first
    while let waiter = next {
      waiter.start()
      next = waiter.isSecond() ? passOn() : nil
    }
  }

  private func leave(_ waiter: SlotWaiter) {
    let hadSlot = queue.withLock { $0.leave(waiter) }
    waiter.forget()
    guard hadSlot, waiter.isSecond() else { return }
    if let next = passOn() { run(next) }
  }

  private func passOn() -> SlotWaiter? {
    var gone: [SlotWaiter] = []  // released here, not under the lock
    return queue.withLock { $0.passOn(skipping: &gone) }
  }
}

/// One who wants a slot: whether the end came before the start returned decides who goes on.
private final class SlotWaiter: Sendable {
  let lifetime: Lifetime
  private let work: Locked<(@Sendable (Lifetime) -> Void)?>
  private let isMet = Atomic<Bool>(false)

  init(_ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void) {
    self.lifetime = lifetime
    self.work = Locked(work)
  }

  /// Does the work, once, and lets go of it.
  func start() {
    let work = takeWork()
    if !lifetime.isEnded { work?(lifetime) }
  }

  /// Lets go of the work: nobody wants it any more.
  func forget() {
    _ = takeWork()
  }

  private func takeWork() -> (@Sendable (Lifetime) -> Void)? {
    work.withLock { work in
      defer { work = nil }
      return work
    }
  }

  /// Called at the return of the start, and at the end; true for the one that comes second.
  func isSecond() -> Bool {
    isMet.exchange(true, ordering: .acquiringAndReleasing)
  }
}

/// How many slots are free, and who waits, by priority.
private struct SlotQueue: Sendable {
  private var free: Int
  private var waiting: [Priority: Queue<SlotWaiter>] = [:]
  private var pending: Set<ObjectIdentifier> = []

  init(count: Int) {
    free = count
  }

  /// Takes a slot for the waiter, who is given back, or lets it wait.
  mutating func enter(_ waiter: SlotWaiter, _ priority: Priority) -> SlotWaiter? {
    guard free <= 0 else {
      free -= 1
      return waiter
    }
    pending.insert(ObjectIdentifier(waiter))
    waiting[priority, default: Queue()].append(waiter)
    return nil
  }

  /// Whether the waiter that leaves had a slot.
  mutating func leave(_ waiter: SlotWaiter) -> Bool {
    pending.remove(ObjectIdentifier(waiter)) == nil
  }

  mutating func takeBack() {
    free -= 1
  }

  /// Gives a slot that comes free to the next waiter, or keeps it.
  mutating func passOn(skipping gone: inout [SlotWaiter]) -> SlotWaiter? {
    if free < 0 {
      free += 1
      return nil
    }
    for priority in Priority.allCases.reversed() {
      while let waiter = waiting[priority]?.popFirst() {
        if pending.remove(ObjectIdentifier(waiter)) != nil { return waiter }
        gone.append(waiter)
      }
    }
    free += 1
    return nil
  }
}
