import MillpondCore
import MillpondSignals

/// A file with the first bytes of an incomplete value: whole pieces of the checksum, and their sum.
///
/// Bytes after them in the file are not part of the value.
struct UnfinishedFile: Sendable {
  let path: String
  let byteCount: Int
  let checksum: UInt64
}

/// A file that only one taker may continue.
final class ResumableFile: Sendable {
  private let state: Locked<Loan?>

  private struct Loan: Sendable {
    let file: UnfinishedFile
    let ended: @Sendable (_ isTaken: Bool) -> Void
  }

  /// Creates a loan.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - ended: Called once, with whether the file was taken.
  init(_ file: UnfinishedFile, ended: @escaping @Sendable (_ isTaken: Bool) -> Void) {
    state = Locked(Loan(file: file, ended: ended))
  }

  deinit { giveBack() }

  /// Takes the file, which then belongs to the caller; nil if it has been taken or given back.
  func take() -> UnfinishedFile? {
    let loan = end()
    loan?.ended(true)
    return loan?.file
  }

  /// Gives the file back, unless it was taken.
  func giveBack() { end()?.ended(false) }

  private func end() -> Loan? { state.withLock { exchange(&$0, with: nil) } }
}

/// The error when the beginning of a value has changed or no longer exists.
struct LostResumePoint: Error {}
