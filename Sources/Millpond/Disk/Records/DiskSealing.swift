public import Foundation

/// What is done to values so that on disk nobody can read them: encryption, mostly.
///
///     DiskSealing(
///       seal: { value, key in try ChaChaPoly.seal(value, using: secret).combined },
///       open: { value, key in try ChaChaPoly.open(.init(combined: value), using: secret) })
///
/// Keys, sizes and times are not sealed. Damage is found out before a value is opened.
public struct DiskSealing: Sendable {
  let seal: @Sendable (Data, String) throws -> Data
  let open: @Sendable (Data, String) throws -> Data

  /// Seals values when they are written, and opens them when they are read.
  ///
  /// - Parameters:
  ///   - seal: Is given a value and its key. Runs on the thread that writes; if it throws, the
  ///     telling fails, and what was there before stays.
  ///   - open: Is given what was sealed, and its key; if it throws, it is a miss. Runs on the thread
  ///     that asks or on one that reads.
  public init(
    seal: @escaping @Sendable (_ value: Data, _ key: String) throws -> Data,
    open: @escaping @Sendable (_ sealed: Data, _ key: String) throws -> Data
  ) {
    self.seal = seal
    self.open = open
  }
}
