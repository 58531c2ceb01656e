import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Observer {
  /// Returns whether the stack can hold one more subscription; if not, fails the observer.
  ///
  /// Operators without a lifetime of their own do not count as levels. They deliver on no more
  /// stack than they subscribe on, so subscribing may use half of the stack.
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
  /// Whether about half of the stack is left, and enough to deliver through all levels.
  ///
  /// Never inlined: in an async function the address that it compares could be one in the heap.
  @usableFromInline
  @inline(never)
  var hasRoomToSubscribe: Bool {
    guard let bounds = threadStack()?.pointee.bounds else { return true }
    return bounds.subscribes(through: core.depth, from: stackAddress())
  }
}

/// Returns an address in the caller's frame, or next to it: even, and never zero.
@inlinable
@inline(__always)
func stackAddress() -> UInt {
  var mark: UInt = 0
  return withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
}

/// Returns a number that identifies the current thread: even, and never zero.
///
/// The C libraries declare `pthread_self` to be constant, as it is for a thread. In a user's async
/// function the compiler would therefore read it once, and use that number after an `await` as
/// well, when the function goes on on another thread. So this is the only place that reads it, is
/// never inlined, and has an effect that the compiler knows nothing about: each call is made.
@inline(never)
@usableFromInline
package func threadMark() -> UInt {
  _ = effect.load(ordering: .acquiring)
  return readThreadMark()
}

private let effect = Atomic<UInt8>(0)

/// The stack bounds and nested releases of one thread, used by that thread alone.
struct ThreadStack {
  let bounds: StackBounds

  /// The number of nested releases in progress.
  fileprivate var releases = 0
  fileprivate var postponed: [Any] = []

  init(_ bounds: StackBounds) {
    self.bounds = bounds
  }
}

/// Returns the stack of the current thread; nil if unknown.
func threadStack() -> UnsafeMutablePointer<ThreadStack>? {
  let number = numberOfKey.load(ordering: .relaxed)
  if number > 0, let known = pthread_getspecific(pthread_key_t(number - 1)) {
    return known.assumingMemoryBound(to: ThreadStack.self)
  }
  return makeThreadStack()
}

/// The key below plus one, zero until it is made: faster to read than a lazy value.
private let numberOfKey = Atomic<UInt>(0)

/// The key of the thread's stack; nil if the process has no key left, and then no stack is guarded.
private let threadStackKey: pthread_key_t? = {
  var key = pthread_key_t()
  return pthread_key_create(&key) { ($0 as UnsafeMutableRawPointer?)?.deallocate() } == 0
    ? key : nil
}()

@inline(never)
private func makeThreadStack() -> UnsafeMutablePointer<ThreadStack>? {
  guard let key = threadStackKey else { return nil }
  let stack = UnsafeMutablePointer<ThreadStack>.allocate(capacity: 1)
  stack.initialize(to: ThreadStack(readStackBounds()))
  pthread_setspecific(key, stack)
  numberOfKey.store(UInt(key) + 1, ordering: .relaxed)
  return stack
}

#if !MILLPOND_SCHEDULES
  /// Yields the processor to other threads.
  @usableFromInline
  package func yieldThread() { sched_yield() }
#endif

/// The bounds of a stack, and the part of it that nested subscriptions may use.
struct StackBounds {
  /// The stack without the reserve at its lower end; empty if the bounds are unknown.
  private let usable: Range<UInt>
  private let middle: UInt

  /// Creates unknown bounds, which guard nothing.
  init() {
    usable = 0..<0
    middle = 0
  }

  init(lowest: UInt, size: UInt) {
    usable = lowest + min(size, StackNeeds.reserve)..<lowest + size
    // Slightly above the middle, since some operators need a bit more stack to deliver than to
    // subscribe.
    middle = usable.lowerBound + UInt(usable.count) / 32 * 17
  }

  /// Returns whether about half of the stack is left below `address`, and enough to deliver through
  /// `depth` levels.
  func subscribes(through depth: UInt32, from address: UInt) -> Bool {
    address >= max(middle, lowest(for: depth)) || isElsewhere(address)
  }

  func lowest(for depth: UInt32) -> UInt {
    usable.lowerBound &+ UInt(depth) &* StackNeeds.level
  }

  /// Returns whether `address` lies on another stack, such as that of a coroutine in C.
  @inline(never)
  func isElsewhere(_ address: UInt) -> Bool {
    usable.isEmpty || address >= usable.upperBound
      || address < usable.lowerBound - StackNeeds.reserve
  }
}

/// Releases `contents`; inside many nested releases, defers it until those have returned.
///
/// For objects that may contain others of their kind: a thousand nested releases overflow the
/// stack.
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

/// Not inlined: the optimiser would move the release before the count.
@inline(never)
private func replace<Contents>(_ contents: inout Contents, by empty: Contents) {
  contents = empty
}

/// The stack space that is kept free, in bytes.
///
/// - Source: measured, with each operator nested in itself, plus a margin.
@usableFromInline
enum StackNeeds {
  /// The number of releases that may be nested.
  static let nestedReleases = 8

  #if DEBUG
    /// Whether a thousand nested `map`s, the smallest operator, need half a megabyte.
    @inlinable static var isLarge: Bool { true }
    /// The most that one level takes to deliver an event, or to end.
    static let level: UInt = 1_664
    /// The most that the deepest level and users' closures take on top.
    static let reserve: UInt = 24 * 1_024
  #else
    /// Whether a thousand nested `map`s, the smallest operator, need half a megabyte.
    @inlinable static var isLarge: Bool { false }
    /// The most that one level takes to deliver an event, or to end.
    static let level: UInt = 900
    /// The most that the deepest level and users' closures take on top.
    static let reserve: UInt = 16 * 1_024
  #endif
}
