public import Synchronization

/// How long a subscription lasts: it ends once, by its terminal event or by disposal.
///
/// The subscriber's lifetime is threaded upward to whatever works for it, which registers what to
/// stop with ``onEnd(_:)``, and asks ``isEnded`` between the steps of a long loop. An operator
/// whose upstream may end before its downstream gives that upstream a ``child()``.
///
/// - Note: Any thread. Teardowns run on the thread that ends the lifetime, with no lock held.
public struct Lifetime: @unchecked Sendable {
  // Sendable because what the core holds is atomic, or touched only under its lock.
  @usableFromInline let core: LifetimeCore

  /// A lifetime of its own.
  @inlinable
  public init() {
    core = LifetimeCore.make(parent: nil)
  }

  /// Whether it is over, so that nothing needs to be done for it any more.
  @inlinable
  public var isEnded: Bool {
    core.isEnded
  }

  /// Runs `teardown` once, when the lifetime ends; at once if it is over already.
  ///
  /// Teardowns run in no promised order.
  ///
  /// - Complexity: O(1).
  public func onEnd(_ teardown: @escaping @Sendable () -> Void) {
    core.add(.teardown(teardown))
  }

  /// A lifetime that ends with this one, or before it, in which case it is unlinked from this one.
  ///
  /// - Complexity: O(1), also for its end.
  public func child() -> Lifetime {
    let child = Lifetime(core: LifetimeCore.make(parent: core))
    core.adopt(child.core)
    return child
  }

  /// Ends the lifetime and runs its teardowns; does nothing if it is over.
  @inlinable
  public func end() {
    if core.claimEnd() { core.tearDown() }
  }

  /// Tells this lifetime from others, while it exists.
  @inlinable
  package var identity: ObjectIdentifier {
    ObjectIdentifier(core)
  }

  @inlinable
  init(core: LifetimeCore) {
    self.core = core
  }

  /// Ends the lifetime with `lastWords` between its end and its teardowns; false if it was over.
  @inlinable
  package func end(lastWords: () -> Void) {
    guard core.claimEnd() else { return }
    lastWords()
    core.tearDown()
  }
}

/// One allocation: what is registered in the header, the flag and the lock behind it.
@usableFromInline
final class LifetimeCore: ManagedBuffer<LifetimeEntries, LifetimeFlag> {
  @inlinable
  static func make(parent: LifetimeCore?) -> LifetimeCore {
    let core = LifetimeCore.create(minimumCapacity: 1) { buffer in
      buffer.withUnsafeMutablePointerToElements { flag in
        flag.initialize(to: LifetimeFlag())
        openNative(&flag.pointee.lock)
      }
      return LifetimeEntries(parent: parent)
    }
    return unsafeDowncast(core, to: LifetimeCore.self)
  }

  deinit {
    withUnsafeMutablePointerToElements { flag in
      closeNative(&flag.pointee.lock)
      flag.deinitialize(count: 1)
    }
  }

  @inlinable
  var isEnded: Bool {
    withUnsafeMutablePointerToElements { $0.pointee.ended.load(ordering: .acquiring) }
  }

  /// The one atomic claim that decides who ends the lifetime.
  @inlinable
  func claimEnd() -> Bool {
    withUnsafeMutablePointerToElements {
      !$0.pointee.ended.exchange(true, ordering: .sequentiallyConsistent)
    }
  }

  @usableFromInline
  func add(_ entry: LifetimeEntry) {
    _ = withLock { $0.add(entry) }
    // Either the ender's taking comes after our adding, or we see here that it has ended.
    if isEnded { runEntries() }
  }

  func adopt(_ child: LifetimeCore) {
    let place = withLock { $0.add(.child(child)) }
    child.withLock { $0.placeInParent = place }
    if isEnded { runEntries() }
  }

  @usableFromInline
  func tearDown() {
    let (parent, place) = withLock { entries in
      let parent = entries.parent
      entries.parent = nil
      return (parent, entries.placeInParent)
    }
    let unlinked = parent?.withLock { $0.remove(at: place) }
    runEntries()
    _ = unlinked
  }

  private func runEntries() {
    let taken = withLock { $0.takeAll() }
    for case .some(let entry) in [taken.first, taken.second] { run(entry) }
    for entry in taken.more.values { run(entry) }
  }

  private func run(_ entry: LifetimeEntry) {
    switch entry {
    case .teardown(let teardown): teardown()
    case .child(let child): if child.claimEnd() { child.tearDown() }
    }
  }

  private func withLock<Result>(_ body: (inout LifetimeEntries) -> Result) -> Result {
    withUnsafeMutablePointers { entries, flag in
      lockNative(&flag.pointee.lock)
      defer { unlockNative(&flag.pointee.lock) }
      return body(&entries.pointee)
    }
  }
}

/// What lies behind a lifetime's header.
@usableFromInline
struct LifetimeFlag: ~Copyable {
  @usableFromInline let ended = Atomic<Bool>(false)
  @usableFromInline var lock = idleNative()

  @inlinable
  init() {}
}

/// What a lifetime ends.
@usableFromInline
enum LifetimeEntry {
  case teardown(@Sendable () -> Void)
  case child(LifetimeCore)
}

/// The register of a lifetime: two places at hand, since hardly anyone needs a third.
@usableFromInline
struct LifetimeEntries {
  @usableFromInline var first: LifetimeEntry?
  @usableFromInline var second: LifetimeEntry?
  @usableFromInline var more: [Int: LifetimeEntry] = [:]
  @usableFromInline var lastPlace = 1
  @usableFromInline var parent: LifetimeCore?
  @usableFromInline var placeInParent = -1

  @inlinable
  init(parent: LifetimeCore?) {
    self.parent = parent
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
    lastPlace += 1
    more[lastPlace] = entry
    return lastPlace
  }

  mutating func remove(at place: Int) -> LifetimeEntry? {
    switch place {
    case 0: take(&first)
    case 1: take(&second)
    default: more.removeValue(forKey: place)
    }
  }

  mutating func takeAll() -> LifetimeEntries {
    var taken = LifetimeEntries(parent: nil)
    swap(&taken.first, &first)
    swap(&taken.second, &second)
    swap(&taken.more, &more)
    return taken
  }

  private func take(_ place: inout LifetimeEntry?) -> LifetimeEntry? {
    defer { place = nil }
    return place
  }
}
