public import Synchronization

/// The span of a subscription, which ends once, by its terminal event or by disposal.
///
/// The subscriber's lifetime is passed upstream to everything that works for it. Each worker
/// registers its cleanup with ``onEnd(_:)``, and checks ``isEnded`` between the steps of a long
/// loop. An operator whose upstream may end before its downstream gives that upstream a
/// ``child()``.
///
/// - Note: Any thread. Teardowns run on the thread that ends the lifetime, with no lock held.
public struct Lifetime: Sendable {
  @usableFromInline let core: LifetimeCore

  /// Creates a lifetime without a parent.
  @inlinable
  public init() {
    core = LifetimeCore()
  }

  /// Whether the lifetime has ended, so that no more work is needed for it.
  @inlinable
  public var isEnded: Bool {
    core.isEnded
  }

  /// Whether other work is known to wait for this.
  ///
  /// True if a task awaits it, or if it is a part of work that is awaited. A plain subscription may
  /// be waited for or not.
  package var isAwaited: Bool {
    core.bits.load(ordering: .relaxed) & LifetimeCore.awaited != 0
  }

  /// Marks this, and children that are made from now on, as awaited by other work.
  @usableFromInline
  package func markAwaited() {
    core.set(LifetimeCore.awaited)
  }

  /// Runs `teardown` once, when the lifetime ends; at once if it has ended already.
  ///
  /// Teardowns run in no promised order.
  ///
  /// - Complexity: O(1).
  public func onEnd(_ teardown: @escaping @Sendable () -> Void) {
    core.add(teardown)
  }

  /// Returns a lifetime that ends with this one, or earlier; then it is unlinked from this one.
  ///
  /// The parent retains the child, not the other way round.
  ///
  /// - Complexity: O(1), also for its end.
  public func child() -> Lifetime {
    let child = LifetimeCore(depth: core.depth &+ 1)
    if isAwaited { child.set(LifetimeCore.awaited) }
    core.adopt(child)
    return Lifetime(core: child)
  }

  /// The depth of an independent lifetime for a run on behalf of this one: two levels more, which
  /// is the stack that delivering to several subscribers takes.
  @inlinable
  var depthOfSeparate: UInt32 {
    core.depth &+ 2
  }

  /// Ends the lifetime and runs its teardowns; does nothing if it has ended already.
  @inlinable
  public func end() {
    core.end {}
  }

  @inlinable
  init(core: LifetimeCore) {
    self.core = core
  }

  /// Ends the lifetime, and runs `lastWords` between its end and its teardowns; does nothing if it
  /// has ended already.
  @inlinable
  package func end(lastWords: () -> Void) {
    core.end(lastWords)
  }
}

/// The state of a lifetime.
///
/// Sendable because its variables are atomic, or touched only under the lock.
@usableFromInline
package class LifetimeCore: @unchecked Sendable {
  /// The flags `ended`, `linked` (something was registered at some time) and `awaited`.
  @usableFromInline final let bits: Atomic<UInt8>
  @usableFromInline final let gate: Gate

  /// The number of ancestors, where a separate lifetime counts as two.
  @usableFromInline final let depth: UInt32
  @exclusivity(unchecked) @usableFromInline final var entries: LifetimeEntries

  @inlinable static var ended: UInt8 { 1 }
  @inlinable static var linked: UInt8 { 2 }
  @inlinable static var awaited: UInt8 { 4 }

  @inlinable
  init(depth: UInt32 = 0) {
    // Assigned here, because default values of the properties would compile to calls.
    bits = Atomic(0)
    gate = Gate()
    self.depth = depth
    entries = LifetimeEntries()
  }

  deinit {
    if bits.load(ordering: .acquiring) & ~LifetimeCore.awaited == LifetimeCore.linked {
      let taken = gate.withLock { exchange(&entries, with: LifetimeEntries()) }
      taken.forEach { if case .child(let child) = $0 { child.orphan() } }
    }
  }

  @inlinable
  final var isEnded: Bool {
    bits.load(ordering: .acquiring) & LifetimeCore.ended != 0
  }

  /// Ends the lifetime, unless it has ended: one atomic claim decides which thread does.
  @inlinable
  final func end(_ lastWords: () -> Void) {
    let before = set(LifetimeCore.ended)
    guard before & LifetimeCore.ended == 0 else { return }
    lastWords()
    tearDown(hasEntries: before & LifetimeCore.linked != 0)
  }

  final func add(_ teardown: @escaping @Sendable () -> Void) {
    let isLate = gate.withLock {
      // Either the ending thread sees the link, or this one sees the end.
      if set(LifetimeCore.linked) & LifetimeCore.ended != 0 { return true }
      _ = entries.add(.teardown(teardown))
      return false
    }
    if isLate { teardown() }
  }

  final func adopt(_ child: LifetimeCore) {
    let isLate = gate.withLock {
      if set(LifetimeCore.linked) & LifetimeCore.ended != 0 { return true }
      let place = entries.add(.child(child))
      // Until this lock is released, no other thread can reach the child.
      child.entries.parent = .passUnretained(self)
      child.entries.placeInParent = place
      return false
    }
    if isLate { child.end {} }
  }

  /// Ends this on behalf of the parent, which may be released right after.
  fileprivate final func endWithParent(_ ending: inout TearDown) {
    let before = set(LifetimeCore.ended)
    if before & LifetimeCore.ended != 0 {
      // The thread that ended this one may be about to use the parent; from here on it finds none.
      orphan()
    } else if ending.level < 8 {
      ending.level += 1
      tearDown(hasEntries: before & LifetimeCore.linked != 0, &ending)
      ending.level -= 1
    } else {
      orphan()
      ending.postponed.append(self)
    }
  }

  /// Runs the teardowns; called once, by the thread that ended the lifetime.
  @usableFromInline
  final func tearDown(hasEntries: Bool) {
    var ending = TearDown()
    tearDown(hasEntries: hasEntries, &ending)
    while let core = ending.postponed.popLast() { core.tearDown(hasEntries: true, &ending) }
  }

  private final func tearDown(hasEntries: Bool, _ ending: inout TearDown) {
    guard hasEntries else { return unlink() }
    let (taken, link) = gate.withLock {
      let link = entries.unlink()
      return (exchange(&entries, with: LifetimeEntries()), link)
    }
    taken.forEach { $0.run(&ending) }
    withExtendedLifetime(link) {}  // released here, not under the lock
  }

  /// The teardown of a lifetime and its descendants, with bounded recursion.
  fileprivate struct TearDown {
    var level = 0

    /// Lifetimes to tear down after the others: thousands of nested teardowns overflow the stack.
    var postponed: [LifetimeCore] = []
  }

  private final func unlink() {
    guard entries.placeInParent >= 0 else { return }
    // Released here, not under the lock.
    withExtendedLifetime(gate.withLock { entries.unlink() }) {}
  }

  /// Clears the parent, which is about to be released without having ended.
  ///
  /// Waits for the child if it is using its parent at this moment.
  final func orphan() {
    gate.withLock { entries.parent = nil }
  }

  fileprivate final func forget(_ place: Int) -> LifetimeEntry? {
    gate.withLock { entries.remove(at: place) }
  }

  @inlinable
  @discardableResult
  final func set(_ bit: UInt8) -> UInt8 {
    bits.bitwiseOr(bit, ordering: .sequentiallyConsistent).oldValue
  }
}

/// A teardown or a child. (A bare closure would be wrapped anew in each generic container.)
@usableFromInline
enum LifetimeEntry {
  case teardown(@Sendable () -> Void)
  case child(LifetimeCore)

  fileprivate func run(_ ending: inout LifetimeCore.TearDown) {
    switch self {
    case .teardown(let teardown): teardown()
    case .child(let child): child.endWithParent(&ending)
    }
  }
}

/// The register of a lifetime, with two inline places, since more are rarely needed.
@usableFromInline
struct LifetimeEntries {
  @usableFromInline var first: LifetimeEntry?
  @usableFromInline var second: LifetimeEntry?
  @usableFromInline var more: MoreLifetimeEntries?

  /// The parent, unretained because it retains its children.
  @usableFromInline var parent: Unmanaged<LifetimeCore>?
  @usableFromInline var placeInParent: Int

  /// Creates an empty register; default values of the properties would compile to calls.
  @inlinable
  init() {
    placeInParent = -1
  }

  mutating func add(_ entry: LifetimeEntry) -> Int {
    if first == nil {
      first = entry
      return 0
    }
    if second == nil {
      second = entry
      return 1
    }
    let more = more ?? MoreLifetimeEntries()
    self.more = more
    return more.add(entry) + 2
  }

  mutating func remove(at place: Int) -> LifetimeEntry? {
    switch place {
    case 0: exchange(&first, with: nil)
    case 1: exchange(&second, with: nil)
    default: more?.remove(at: place - 2)
    }
  }

  /// Removes the parent's entry for this child, and returns it.
  ///
  /// The parent cannot be released while the lock is held, see `orphan`.
  mutating func unlink() -> LifetimeEntry? {
    defer { parent = nil }
    return parent?._withUnsafeGuaranteedRef { $0.forget(placeInParent) }
  }

  func forEach(_ body: (LifetimeEntry) -> Void) {
    if let first { body(first) }
    if let second { body(second) }
    for case let entry? in more?.entries ?? [] { body(entry) }
  }
}

/// The entries of a lifetime beyond the first two, in places that are used again.
///
/// Touched only under the lock of the lifetime, or by the thread that has taken them.
@usableFromInline
final class MoreLifetimeEntries {
  fileprivate private(set) var entries: ContiguousArray<LifetimeEntry?> = []
  private var vacant: ContiguousArray<Int> = []

  func add(_ entry: LifetimeEntry) -> Int {
    if let place = vacant.popLast() {
      entries[place] = entry
      return place
    }
    entries.append(entry)
    return entries.count - 1
  }

  /// Returns nil for a place that is not in use: all were taken, or it never had an entry.
  func remove(at place: Int) -> LifetimeEntry? {
    guard entries.indices.contains(place) else { return nil }
    vacant.append(place)
    return exchange(&entries[place], with: nil)
  }
}
