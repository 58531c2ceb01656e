/// The last arrivals of writes of the keys whose hashes end alike.
@usableFromInline
@frozen
struct ArrivalStripe: Sendable, BitwiseCopyable {
  /// The hash of the key of the last arrival.
  @usableFromInline var hash = 0

  /// The time of the last arrival, marked if it was that of a reload's answer; and a time that is
  /// no earlier than those of other keys.
  @usableFromInline var last = Revision.none
  @usableFromInline var former = Revision.none

  /// A place in the order that is no earlier than those of the key's writes.
  @usableFromInline var lastWrite = Revision.none

  /// The latest get whose answer was stored as a copy.
  @usableFromInline var fill = Revision.none

  @inlinable
  init() {}

  /// Returns a time that is no earlier than the last arrival of a key with this hash.
  @inlinable
  func latest(of hash: Int) -> Revision {
    self.hash == hash ? last : former
  }

  /// Returns a place in the order that is no earlier than the last write of a key with this hash.
  @inlinable
  func lastWrite(of hash: Int) -> Revision {
    self.hash == hash ? lastWrite : former
  }

  /// Notes an arrival.
  ///
  /// - Parameters:
  ///   - hash: The hash of the key.
  ///   - time: The time of the arrival.
  ///   - revision: The place of the write in the order; none for an answer.
  @inlinable
  mutating func arrive(_ hash: Int, _ time: Revision, _ revision: Revision) {
    if self.hash != hash {
      // The former arrivals of this key are no later than this.
      let known = former
      former = max(former, last)
      (self.hash, last, lastWrite) = (hash, known, known)
    }
    if time >= last { last = time }
    if revision > lastWrite { lastWrite = revision }
  }
}
