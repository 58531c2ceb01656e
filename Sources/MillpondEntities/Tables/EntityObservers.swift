import MillpondCore
import MillpondSignals

/// The subscribers of a store and their pending notices, under the lock of its tables.
@usableFromInline
struct EntityObservers: Sendable {
  /// The closures that fail each subscriber, by number.
  @usableFromInline var failures: [Int: @Sendable (any Error) -> Void] = [:]

  /// The time until the next end of the store, with which the requests of optimistic writes fail.
  var session = Lifetime()

  /// The error of subscribers that come after the release of the store; nil before it.
  @usableFromInline var closing: (any Error)?

  /// The notices to call after all others of a commit.
  @usableFromInline var commitListeners: [Int: @Sendable () -> Void] = [:]

  /// The pending notices, in the order of the commits.
  @usableFromInline var notices: [Notice] = []
  @usableFromInline var isDelivering = false

  @usableFromInline var lastNumber = 0

  @usableFromInline
  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Takes the pending notices; returns none if another thread is already delivering.
  @usableFromInline
  mutating func takeNotices(isFirst: Bool) -> [Notice] {
    if isFirst, isDelivering { return [] }
    isDelivering = !notices.isEmpty
    defer { notices = [] }
    return notices
  }
}

/// The notice of one commit for one observer, called without any lock.
///
/// A struct, because a closure in an array or a tuple would be wrapped at each use.
@usableFromInline
@frozen
struct Notice: Sendable {
  /// The number of the observer.
  let number: Int
  private let send: @Sendable () -> Void

  @usableFromInline
  init(for number: Int = 0, _ send: @escaping @Sendable () -> Void) {
    self.number = number
    self.send = send
  }

  func callAsFunction() {
    send()
  }
}
