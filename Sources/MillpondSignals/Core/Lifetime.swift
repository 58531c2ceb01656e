public import Synchronization

/// How long a subscription lasts: it ends once, by its terminal event or by disposal.
///
/// The subscriber's lifetime is threaded upward to whatever works for it, which registers what to
/// stop with ``onEnd(_:)``, and asks ``isEnded`` between the steps of a long loop. An operator
/// whose upstream may end before its downstream gives that upstream a ``child()``.
///
/// - Note: Any thread. Teardowns run on the thread that ends the lifetime, with no lock held.
public struct Lifetime: Sendable {
  @usableFromInline let core: LifetimeCore

  /// A lifetime of its own.
  @inlinable
  public init() {
    core = LifetimeCore()
  }

  /// Whether it is over, so that nothing needs to be done for it any more.
  @inlinable
  public var isEnded: Bool {
    core.isEnded
  }

  /// Whether it is known that other work waits for this.
  ///
  /// It does if a task awaits this, or if this is a part of what the work sends. What has merely been
  /// subscribed to may be waited for or not.
  package var isAwaited: Bool {
    core.isAwaited
  }

  /// Notes that other work waits for this, and for what is done for it from now on.
  @usableFromInline
  package func markAwaited() {
    core.set(LifetimeCore.awaited)
  }

  /// Runs `teardown` once, when the lifetime ends; at once if it is over already.
  ///
  /// Teardowns run in no promised order.
  ///
  /// - Complexity: O(1).
  public func onEnd(_ teardown: @escaping @Sendable () -> Void) {
    core.add(teardown)
  }

  /// A lifetime that ends with this one, or before it, in which case it is unlinked from this one.
  ///
  /// It does not keep this one, which keeps it.
  ///
  /// - Complexity: O(1), also for its end.
  public func child() -> Lifetime {
    let child = LifetimeCore(depth: core.depth &+ 1)
    if isAwaited { child.set(LifetimeCore.awaited) }
    core.adopt(child)
    return Lifetime(core: child)
  }

  /// A lifetime of its own for what runs for this one: no less deep, and not ended with it.
  ///
  /// It counts for two levels, which is what delivering to several subscribers takes.
  @usableFromInline
  func separate() -> Lifetime {
    Lifetime(core: LifetimeCore(depth: core.depth &+ 2))
  }

  /// Ends the lifetime and runs its teardowns; does nothing if it is over.
  @inlinable
  public func end() {
    core.end {}
  }

  @inlinable
  init(core: LifetimeCore) {
    self.core = core
  }

  /// Ends the lifetime with `lastWords` between its end and its teardowns; false if it was over.
  @inlinable
  package func end(lastWords: () -> Void) {
    core.end(lastWords)
  }
}

/// The state of a lifetime.
///
/// Sendable because what varies is atomic, or touched only under the lock.
@usableFromInline
final class LifetimeCore: @unchecked Sendable {
  /// Whether the lifetime is over, whether anything was ever registered, and whether it is awaited.
  @usableFromInline let bits: Atomic<UInt8>
  @usableFromInline let gate: Gate

  /// How many lifetimes this is a child's child of.
  @usableFromInline let depth: UInt32
  @exclusivity(unchecked) @usableFromInline var entries: LifetimeEntries

  @inlinable static var ended: UInt8 { 1 }
  @inlinable static var linked: UInt8 { 2 }
  @inlinable static var awaited: UInt8 { 4 }

  @inlinable
  init(depth: UInt32 = 0) {
    // Initial values beside the properties would be calls.
    bits = Atomic(0)
    gate = Gate()
    self.depth = depth
    entries = LifetimeEntries()
  }

  deinit {
    if bits.load(ordering: .acquiring) & ~Self.awaited == Self.linked {
      withLock { $0.takeAll() }.orphan()
    }
  }

  @inlinable
  var isEnded: Bool {
    bits.load(ordering: .acquiring) & Self.ended != 0
  }

  var isAwaited: Bool {
    bits.load(ordering: .relaxed) & Self.awaited != 0
  }

  /// Ends the lifetime, if it isn't over: one atomic claim decides who does.
  @inlinable
  func end(_ lastWords: () -> Void) {
    let before = set(Self.ended)
    guard before & Self.ended == 0 else { return }
    lastWords()
    tearDown(hasEntries: before & Self.linked != 0)
  }

  func add(_ teardown: @escaping @Sendable () -> Void) {
    let isLate = withLock { entries -> Bool in
      // Either the ender sees that something is linked, or we see here that it has ended.
      if set(Self.linked) & Self.ended != 0 { return true }
      _ = entries.add(LifetimeEntry(run: teardown))
      return false
    }
    if isLate { teardown() }
  }

  func adopt(_ child: LifetimeCore) {
    let isLate = withLock { entries -> Bool in
      if set(Self.linked) & Self.ended != 0 { return true }
      let place = entries.add(
        LifetimeEntry(
          run: { withExtendedLifetime(child) {} }, child: .passUnretained(child)))
      // Nobody else knows the child yet, but who takes it from here, under this lock.
      child.entries.parent = .passUnretained(self)
      child.entries.placeInParent = place
      return false
    }
    if isLate { child.end {} }
  }

  /// Called by the parent, which may be gone right after.
  fileprivate func endWithParent(_ ending: inout TearDown) {
    let before = set(LifetimeCore.ended)
    if before & LifetimeCore.ended != 0 {
      // Who has ended this one may be about to let go of the parent: after this, it finds none.
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

  /// Called once, by the ender.
  @usableFromInline
  func tearDown(hasEntries: Bool) {
    var ending = TearDown()
    tearDown(hasEntries: hasEntries, &ending)
    while let core = ending.postponed.popLast() { core.tearDown(hasEntries: true, &ending) }
  }

  private func tearDown(hasEntries: Bool, _ ending: inout TearDown) {
    guard hasEntries else { return unlink() }
    let (entries, link) = withLock { entries -> (LifetimeEntries, LifetimeEntry?) in
      let link = entries.unlink()
      return (entries.takeAll(), link)
    }
    entries.run(&ending)
    _ = link  // released here, not under the lock
  }

  /// The end of a lifetime and of those below it, a few of them inside each other.
  fileprivate struct TearDown {
    var level = 0

    /// What is torn down when the others are: thousands inside each other overflow the stack.
    var postponed: [LifetimeCore] = []
  }

  private func unlink() {
    guard entries.placeInParent >= 0 else { return }
    let link = withLock { $0.unlink() }
    _ = link
  }

  /// The parent is about to go, without having ended; if the child is just using it, that waits.
  func orphan() {
    withLock { $0.parent = nil }
  }

  fileprivate func forget(_ place: Int) -> LifetimeEntry? {
    withLock { $0.remove(at: place) }
  }

  @inlinable
  @discardableResult
  func set(_ bit: UInt8) -> UInt8 {
    bits.bitwiseOr(bit, ordering: .sequentiallyConsistent).oldValue
  }

  private func withLock<Result>(_ body: (inout LifetimeEntries) -> Result) -> Result {
    gate.withLock { body(&entries) }
  }
}

/// What a lifetime ends. (A bare closure would be wrapped anew in each generic container.)
@usableFromInline
struct LifetimeEntry {
  @usableFromInline let run: @Sendable () -> Void

  /// The child that is ended by this, and kept by `run`.
  @usableFromInline var child: Unmanaged<LifetimeCore>?

  fileprivate func run(_ ending: inout LifetimeCore.TearDown) {
    if let child {
      child._withUnsafeGuaranteedRef { $0.endWithParent(&ending) }
    } else {
      run()
    }
  }

  func orphan() {
    child?._withUnsafeGuaranteedRef { $0.orphan() }
  }
}

/// The register of a lifetime: two places at hand, since hardly anyone needs a third.
@usableFromInline
struct LifetimeEntries {
  @usableFromInline var first: LifetimeEntry?
  @usableFromInline var second: LifetimeEntry?
  @usableFromInline var more: ContiguousArray<LifetimeEntry?>
  @usableFromInline var vacant: ContiguousArray<Int>
  /// The parent keeps its children, so it must not be kept by them.
  @usableFromInline var parent: Unmanaged<LifetimeCore>?
  @usableFromInline var placeInParent: Int

  /// Nothing yet; initial values beside the properties would be calls.
  @inlinable
  init() {
    more = []
    vacant = []
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
    if let place = vacant.popLast() {
      more[place - 2] = entry
      return place
    }
    more.append(entry)
    return more.count + 1
  }

  mutating func remove(at place: Int) -> LifetimeEntry? {
    switch place {
    case 0: return take(&first)
    case 1: return take(&second)
    case 2..<more.count + 2:
      vacant.append(place)
      return take(&more[place - 2])
    default: return nil  // all were taken, or it never had a place
    }
  }

  /// What the parent knew this by; it can't be gone before the lock is, see `orphan`.
  mutating func unlink() -> LifetimeEntry? {
    defer { parent = nil }
    return parent?._withUnsafeGuaranteedRef { $0.forget(placeInParent) }
  }

  mutating func takeAll() -> LifetimeEntries {
    var taken = LifetimeEntries()
    swap(&taken, &self)
    return taken
  }

  fileprivate func run(_ ending: inout LifetimeCore.TearDown) {
    first?.run(&ending)
    second?.run(&ending)
    for entry in more { entry?.run(&ending) }
  }

  func orphan() {
    first?.orphan()
    second?.orphan()
    for entry in more { entry?.orphan() }
  }

  private func take(_ place: inout LifetimeEntry?) -> LifetimeEntry? {
    defer { place = nil }
    return place
  }
}
