public import Foundation
import MillpondCore

/// A file with a value of a disk cache; it stays as long as somebody holds this.
///
/// Meanwhile the value is not evicted. If another is told for its key, or it is removed, the file
/// stays until this is released. After that the file may go at any time, so nobody should keep its
/// ``url`` for longer, nor write to it.
public final class DiskFile: Sendable {
  /// Where the value is: all of it, and nothing else.
  public let url: URL

  /// Its size in bytes.
  public let byteCount: Int

  /// How long ago it left its origin.
  public let age: Duration

  /// The validator by which the origin can tell whether it is still good.
  public let validator: Validator?

  /// The place of the value among all writes, if it has just come; nil if it was stored before.
  let revision: Revision?

  private let release: @Sendable () -> Void

  init(
    path: String, byteCount: Int, age: Duration, validator: Validator?, revision: Revision? = nil,
    release: @escaping @Sendable () -> Void
  ) {
    self.revision = revision
    url = URL(filePath: path, directoryHint: .notDirectory)
    self.byteCount = byteCount
    self.age = age
    self.validator = validator
    self.release = release
  }

  deinit {
    release()
  }
}
