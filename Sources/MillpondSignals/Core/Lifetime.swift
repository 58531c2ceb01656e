public import Synchronization

/// The span of a subscription, which ends once, by its terminal event or by disposal.
///
/// The subscriber's lifetime is passed upstream to everything that works for it. Each worker
/// registers its cleanup with ``onEnd(_:)``, and checks ``isEnded`` between the steps of a long
/// loop. An operator whose upstream may end before its downstream gives that upstream a
/// ``child()``.
///
/// - Note: Any thread. Teardowns run on the thread that ends the lifetime, with no lock held.
@frozen
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

  /// Runs `teardown` once, when the lifetime ends; at once if it has ended already.
  ///
  /// Teardowns run in no promised order.
  ///
  /// - Complexity: O(1).
  public func onEnd(_ teardown: @escaping @Sendable () -> Void) {
    if !core.register(LifetimeCore.busy, { core.teardowns.add(teardown) }) { teardown() }
  }

  /// Passes `number` to `teardown` when the lifetime ends; at once if it has ended already.
  ///
  /// A closure that captures one object alone takes no memory.
  @usableFromInline
  package func onEnd(_ number: Int, _ teardown: @escaping @Sendable (Int) -> Void) {
    if !core.register(LifetimeCore.busy, { core.teardowns.add(number, teardown) }) {
      teardown(number)
    }
  }

  /// Returns a lifetime that ends with this one, or earlier; then it is unlinked from this one.
  ///
  /// The parent retains the child, not the other way round.
  ///
  /// - Complexity: O(1), also for its end.
  public func child() -> Lifetime {
    let child = ChildLifetime(of: core)
    if !core.register(LifetimeCore.parent, { core.adopt(child) }) { child.end {} }
    return Lifetime(core: child)
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
@_fixed_layout
package class LifetimeCore: @unchecked Sendable {
  /// The flags `ended`, `busy` (it has had teardowns), `parent` (it has had children) and `awaited`.
  @usableFromInline final let bits: AtomicValue<UInt8>
  @usableFromInline final let gate: Gate

  @exclusivity(unchecked) @usableFromInline final var teardowns: LifetimeTeardowns

  /// The youngest child; each refers to the next older one.
  ///
  /// Retained by hand, because the steps of a linked list would retain and release its members.
  @exclusivity(unchecked) @usableFromInline final var youngest: Unmanaged<ChildLifetime>?

  @inlinable static var ended: UInt8 { 1 }
  @inlinable static var busy: UInt8 { 2 }
  @inlinable static var parent: UInt8 { 4 }
  @inlinable static var awaited: UInt8 { 8 }

  @inlinable
  init(bits: UInt8 = 0) {
    self.bits = AtomicValue(bits)
    // Default values of properties are calls from other modules: a cold chain of three operators that
    // is fused into a loop took 14 ns an element with them, and 1 without.
    gate = Gate()
    teardowns = LifetimeTeardowns()
    youngest = nil
  }

  deinit {
    if !isEnded, bits.load(ordering: .relaxed) & LifetimeCore.parent != 0 {
      while let child = gate.withLock({ takeChild() }) { child.takeRetainedValue().orphan() }
    }
  }

  @inlinable
  final var isEnded: Bool {
    bits.load(ordering: .acquiring) & LifetimeCore.ended != 0
  }

  /// Ends the lifetime, unless it has ended: one atomic claim decides which thread does.
  @inlinable
  final func end(_ lastWords: () -> Void) {
    guard set(LifetimeCore.ended) & LifetimeCore.ended == 0 else { return }
    lastWords()
    tearDown()
  }

  /// Runs `add` under the lock; false if the lifetime has ended.
  fileprivate final func register(_ kind: UInt8, _ add: () -> Void) -> Bool {
    gate.withLock {
      // Either the ending thread sees the flag, or this one sees the end.
      if set(kind) & LifetimeCore.ended != 0 { return false }
      add()
      return true
    }
  }

  /// Adds a child, under the lock, until whose release no other thread can reach the child.
  fileprivate final func adopt(_ child: ChildLifetime) {
    child.parent = .passUnretained(self)
    child.older = youngest
    let child = Unmanaged.passRetained(child)
    youngest?._withUnsafeGuaranteedRef { $0.younger = child }
    youngest = child
  }

  /// Removes a child, under the lock, and returns it for release after the unlock; nil if it has
  /// been removed before.
  fileprivate final func remove(_ child: ChildLifetime) -> Unmanaged<ChildLifetime>? {
    let link = Unmanaged.passUnretained(child)
    if let younger = child.younger {
      younger._withUnsafeGuaranteedRef { $0.older = child.older }
    } else if youngest?.toOpaque() == link.toOpaque() {
      youngest = child.older
    } else {
      return nil
    }
    child.older?._withUnsafeGuaranteedRef { $0.younger = child.younger }
    (child.older, child.younger) = (nil, nil)
    return link
  }

  private final func takeChild() -> Unmanaged<ChildLifetime>? {
    youngest?._withUnsafeGuaranteedRef { remove($0) }
  }

  /// Runs the teardowns; called once, by the thread that ended the lifetime.
  @usableFromInline
  final func tearDown() {
    var ending = TearDown()
    tearDown(&ending)
    while let core = ending.postponed.popLast() { core.tearDown(&ending) }
  }

  /// Has few variables, because teardowns may be nested.
  fileprivate final func tearDown(_ ending: inout TearDown) {
    leaveParent()
    let bits = bits.load(ordering: .relaxed)
    if bits & LifetimeCore.busy != 0 {
      gate.withLock { exchange(&teardowns, with: LifetimeTeardowns()) }.run()
    }
    if bits & LifetimeCore.parent != 0 { endChildren(&ending) }
  }

  private final func endChildren(_ ending: inout TearDown) {
    while let child = gate.withLock({ takeChild() }) {
      child._withUnsafeGuaranteedRef { $0.endWithParent(&ending) }
      child.release()
    }
  }

  /// Removes this from its parent, if it is a child.
  fileprivate func leaveParent() {}

  /// The teardown of a lifetime and its descendants, with bounded recursion.
  fileprivate struct TearDown {
    var level = 0

    /// Lifetimes to tear down after the others: thousands of nested teardowns overflow the stack.
    var postponed: [ChildLifetime] = []
  }

  @inlinable
  @discardableResult
  final func set(_ bit: UInt8) -> UInt8 {
    bits.bitwiseOr(bit, ordering: .sequentiallyConsistent).oldValue
  }
}

/// A lifetime that ends with its parent, or earlier.
@usableFromInline
final class ChildLifetime: LifetimeCore, @unchecked Sendable {
  // Sendable because its variables are touched only under its lock, or that of its parent.

  /// The parent, unretained because it retains its children; nil if it has none any more.
  fileprivate var parent: Unmanaged<LifetimeCore>?

  /// The neighbours among the children of the parent, under whose lock they are.
  @exclusivity(unchecked) fileprivate var older: Unmanaged<ChildLifetime>?
  @exclusivity(unchecked) fileprivate var younger: Unmanaged<ChildLifetime>?

  fileprivate init(of parent: LifetimeCore) {
    let inherited = parent.bits.load(ordering: .relaxed) & LifetimeCore.awaited
    super.init(bits: inherited)
  }

  fileprivate override func leaveParent() {
    // The parent cannot be released while the lock is held, see `orphan`.
    let link: Unmanaged<ChildLifetime>? = gate.withLock {
      defer { parent = nil }
      return parent?._withUnsafeGuaranteedRef { parent in
        parent.gate.withLock { parent.remove(self) }
      }
    }
    link?.release()
  }

  /// Clears the parent, which is about to be released without having ended.
  ///
  /// Waits for the child if it is using its parent at this moment.
  fileprivate func orphan() {
    gate.withLock { parent = nil }
  }

  /// Ends this on behalf of the parent, which may be released right after.
  fileprivate func endWithParent(_ ending: inout TearDown) {
    if set(LifetimeCore.ended) & LifetimeCore.ended != 0 {
      // The thread that ended this one may be about to use the parent; from here on it finds none.
      orphan()
    } else if ending.level < 8 {
      ending.level += 1
      tearDown(&ending)
      ending.level -= 1
    } else {
      orphan()
      ending.postponed.append(self)
    }
  }
}

/// The teardowns of a lifetime, with inline places for two, since more are rarely needed.
@usableFromInline
@frozen
struct LifetimeTeardowns {
  // Not with `?`, which means default values.
  @usableFromInline var first: Optional<@Sendable () -> Void>

  /// A teardown with a number.
  @usableFromInline var numbered: Optional<@Sendable (Int) -> Void>
  @usableFromInline var number: Int
  @usableFromInline var more: Optional<ContiguousArray<Teardown>>

  /// A closure in a struct, because a bare one would be wrapped anew in each generic container.
  @usableFromInline
  struct Teardown {
    let run: @Sendable () -> Void
  }

  @inlinable
  init() {
    number = 0
    (first, numbered, more) = (nil, nil, nil)
  }

  mutating func add(_ teardown: @escaping @Sendable () -> Void) {
    if first == nil { return first = teardown }
    if more == nil { more = [] }
    more?.append(Teardown(run: teardown))
  }

  mutating func add(_ number: Int, _ teardown: @escaping @Sendable (Int) -> Void) {
    if numbered != nil { return add { teardown(number) } }
    (numbered, self.number) = (teardown, number)
  }

  /// The numbered one comes last: a caller of a flight takes back what it has lent before it leaves.
  func run() {
    first?()
    if let more { for teardown in more { teardown.run() } }
    numbered?(number)
  }
}

extension Lifetime {
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
}
