public import Foundation
public import MillpondCore
import MillpondSignals

/// A file with a value of a disk cache, which exists while this object does.
///
/// Meanwhile the value is not evicted. If its key is written again or removed, the file stays until
/// this object is released. Afterwards the file may be removed at any time, so do not keep its
/// ``url`` for longer. Never write to it.
public final class DiskFile: Sendable {
  /// The file, which contains exactly the value; its name says nothing, except for a name extension
  /// if it is from a ``MediaCache``.
  public let url: URL

  /// The size of the file in bytes.
  public let byteCount: Int

  /// The time since the value left its origin, or was confirmed by it, as of the moment it was
  /// found.
  public var age: Duration { times.withLock { $0.age } }

  /// The rest of the value's own time to live, as of the moment it was found; nil if it has none.
  public var timeToLive: TimeToLive? { times.withLock { $0.timeToLive } }

  /// The validator with which the origin can tell whether the value is still current.
  public let validator: Validator?

  /// The revision of a value that has just arrived; nil if it was stored before.
  let revision: Revision?

  private let times: Locked<(age: Duration, timeToLive: TimeToLive?)>
  private let release: @Sendable () -> Void

  init(
    path: String, byteCount: Int, age: Duration, timeToLive: TimeToLive? = nil,
    validator: Validator?, revision: Revision? = nil,
    release: @escaping @Sendable () -> Void
  ) {
    self.revision = revision
    url = URL(filePath: path, directoryHint: .notDirectory)
    self.byteCount = byteCount
    times = Locked((age, timeToLive))
    self.validator = validator
    self.release = release
  }

  deinit { release() }

  /// Notes that the origin has confirmed the value.
  func renew(_ timeToLive: TimeToLive?) { times.withLock { $0 = (.zero, timeToLive) } }
}
