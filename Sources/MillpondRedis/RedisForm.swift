import Foundation
import MillpondCore

/// The form in which values are stored on the server.
public enum RedisForm: Sendable, Hashable {
  /// The value with its age, its validator and the end of its life behind it.
  ///
  /// A value in another form, such as that of another program, is a miss.
  case stamped

  /// The value alone, as other programs write and read it.
  ///
  /// It counts as new whenever it is read, and layers above keep it for as long as they would.
  case plain

  /// Returns a stored value; nil if it is not in this form.
  func stamped(_ data: Data) -> Stamped<Data>? {
    if self == .plain { return Stamped(data) }
    guard let (value, record) = RedisRecord.divide(data) else { return nil }
    return record.stamped(value, at: RedisRecord.now)
  }
}
