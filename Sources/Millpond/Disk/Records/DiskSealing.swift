public import Foundation

/// A transformation that makes values on disk unreadable to others, usually encryption.
///
///     DiskSealing(
///       seal: { value, key in try ChaChaPoly.seal(value, using: secret).combined },
///       open: { value, key in try ChaChaPoly.open(.init(combined: value), using: secret) })
///
/// Keys, sizes, times and validators are not sealed. Damage is detected before a value is opened.
public struct DiskSealing: Sendable {
  let seal: @Sendable (Data, String) throws -> Data
  let open: @Sendable (Data, String) throws -> Data

  /// Creates a sealing for values on disk.
  ///
  /// - Parameters:
  ///   - seal: Receives a value and its key. Runs on the thread that writes; if it throws, the
  ///     write fails, and the value stored before stays.
  ///   - open: Receives a sealed value and its key; if it throws, the get is a miss. Runs on the
  ///     caller's thread or on one that reads.
  public init(
    seal: @escaping @Sendable (_ value: Data, _ key: String) throws -> Data,
    open: @escaping @Sendable (_ sealed: Data, _ key: String) throws -> Data
  ) {
    self.seal = seal
    self.open = open
  }
}
