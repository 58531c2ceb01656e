extension Observer {
  /// Whether the stack can hold one more subscription; if not, the observer is told.
  ///
  /// Operators without lifetimes of their own are not counted as levels; they deliver on no more
  /// stack than they subscribe on. So subscribing may use half of the stack.
  @inlinable
  func canSubscribe(_ lifetime: Lifetime) -> Bool {
    lifetime.hasRoomToSubscribe || refuse(lifetime)
  }

  @usableFromInline
  func refuse(_ lifetime: Lifetime) -> Bool {
    if !lifetime.isEnded { failed(SignalError.nestedTooDeeply) }
    return false
  }
}

extension Lifetime {
  /// Whether half of the stack is left, and enough to deliver through all levels.
  @usableFromInline
  var hasRoomToSubscribe: Bool {
    guard let bounds = threadStack()?.pointee.bounds else { return true }
    return bounds.subscribes(through: core.depth, from: stackAddress())
  }
}

/// An address in the frame of the caller, or next to it.
func stackAddress() -> UInt {
  var mark: UInt8 = 0
  return withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
}

/// What is known about the stack of a thread, and used by that thread alone.
struct ThreadStack {
  let bounds: StackBounds

  /// How many objects are releasing their contents, one inside the other.
  fileprivate var releases = 0
  fileprivate var postponed: [Any] = []

  init(_ bounds: StackBounds) {
    self.bounds = bounds
  }
}

/// Where a stack lies, and how much of it nested subscriptions may use.
struct StackBounds {
  /// The stack, without the reserve at its lower end; empty if its bounds are unknown.
  private let usable: Range<UInt>
  private let middle: UInt

  /// A stack of unknown bounds, which is not guarded.
  init() {
    usable = 0..<0
    middle = 0
  }

  init(lowest: UInt, size: UInt) {
    usable = lowest + min(size, StackNeeds.reserve)..<lowest + size
    // A little above, for some operators deliver on a bit more than they subscribe on.
    middle = usable.lowerBound + UInt(usable.count) / 32 * 17
  }

  /// Whether half of the whole is left below `address`, and enough to deliver through so many
  /// levels.
  func subscribes(through depth: UInt32, from address: UInt) -> Bool {
    address >= max(middle, lowest(for: depth)) || isElsewhere(address)
  }

  func lowest(for depth: UInt32) -> UInt {
    usable.lowerBound &+ UInt(depth) &* StackNeeds.level
  }

  /// A thread may also run on a stack that is not its own, as coroutines in C do.
  @inline(never)
  func isElsewhere(_ address: UInt) -> Bool {
    usable.isEmpty || address >= usable.upperBound
      || address < usable.lowerBound - StackNeeds.reserve
  }
}

/// Releases `contents`; deep inside other releases, only when those have returned.
///
/// For an object that may hold others of its kind: without this, they are released one inside the
/// other, and a thousand of them overflow the stack.
func releaseNested<Contents>(_ contents: inout Contents, leaving empty: Contents) {
  guard let stack = threadStack() else { return contents = empty }
  if stack.pointee.releases == StackNeeds.nestedReleases {
    stack.pointee.postponed.append(contents)
    return contents = empty
  }
  stack.pointee.releases += 1
  replace(&contents, by: empty)
  if stack.pointee.releases == StackNeeds.nestedReleases {
    while stack.pointee.postponed.popLast() != nil {}
  }
  stack.pointee.releases -= 1
}

/// Not inlined: the optimiser would release before the release is counted.
@inline(never)
private func replace<Contents>(_ contents: inout Contents, by empty: Contents) {
  contents = empty
}

/// What is left free on the stack, in bytes.
///
/// - Source: measured, with each operator nested in itself, with some to spare.
@usableFromInline
enum StackNeeds {
  /// How many releases may be nested.
  static let nestedReleases = 8

  #if DEBUG
    /// Whether a thousand of the smallest operator, `map`, need half a megabyte.
    @inlinable static var isLarge: Bool { true }
    /// What a level takes at most to deliver an event, or to be ended.
    static let level: UInt = 1_664
    /// What the deepest level, and the closures of users, may take on top.
    static let reserve: UInt = 24 * 1_024
  #else
    /// Whether a thousand of the smallest operator, `map`, need half a megabyte.
    @inlinable static var isLarge: Bool { false }
    /// What a level takes at most to deliver an event, or to be ended.
    static let level: UInt = 900
    /// What the deepest level, and the closures of users, may take on top.
    static let reserve: UInt = 16 * 1_024
  #endif
}
