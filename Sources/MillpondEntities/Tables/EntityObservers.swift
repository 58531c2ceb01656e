public import MillpondCore

/// The subscribers of a store and their pending notices, under the lock of its tables.
@usableFromInline
struct EntityObservers: Sendable {
  /// The closures that fail each subscriber, by number.
  @usableFromInline var failures: [Int: @Sendable (any Error) -> Void] = [:]

  /// The closures that fail the requests of optimistic writes when the store ends, by the revision
  /// of the write; and the revision of the last end.
  @usableFromInline var requests: [Revision: @Sendable () -> Void] = [:]
  @usableFromInline var endedAt = Revision.none

  /// The error of subscribers that come after the release of the store; nil before it.
  @usableFromInline var closing: (any Error)?

  /// The notices to call after all others of a commit.
  @usableFromInline var commitListeners: [Int: Notice] = [:]

  /// The pending notices, in the order of the commits.
  @usableFromInline var notices: [Notice] = []
  @usableFromInline var isDelivering = false

  @usableFromInline var lastNumber = 0

  @usableFromInline
  init() {}

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
