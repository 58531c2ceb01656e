import Foundation
import MillpondCore

/// A value as it is told or was found, with all that is kept along with it.
final class Record: Sendable {
  let key: String
  let value: Data
  let bornAt: WallTime
  let validator: Validator?

  init(key: String, value: Data, bornAt: WallTime, validator: Validator? = nil) {
    self.key = key
    self.value = value
    self.bornAt = bornAt
    self.validator = validator
  }

  /// Whether this is for `key`, byte by byte: strings that only look alike are other keys.
  func isFor(_ key: String) -> Bool {
    var own = self.key
    return own.withUTF8 { key.hasBytes(UnsafeRawBufferPointer($0)) }
  }

  /// The value with its age.
  var stamped: Stamped<Data> {
    Stamped(value, age: bornAt.age(at: .now), validator: validator)
  }
}

extension String {
  /// Whether this is made of exactly these bytes of UTF-8.
  func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var copy = self
    return copy.withUTF8 { POSIX.areEqual(UnsafeRawBufferPointer($0), bytes) }
  }
}
