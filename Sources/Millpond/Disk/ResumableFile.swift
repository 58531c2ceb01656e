import Foundation
import MillpondCore
import Synchronization

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
  private let file: UnfinishedFile
  private let ended: @Sendable (_ isTaken: Bool) -> Void
  private let isOver = AtomicValue(false)

  /// Creates a loan.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - ended: Called once, with whether the file was taken.
  init(_ file: UnfinishedFile, ended: @escaping @Sendable (_ isTaken: Bool) -> Void) {
    self.file = file
    self.ended = ended
  }

  deinit { giveBack() }

  /// Takes the file, which then belongs to the caller; nil if it has been taken or given back.
  func take() -> UnfinishedFile? { end(isTaken: true) ? file : nil }

  /// Gives the file back, unless it was taken.
  func giveBack() { _ = end(isTaken: false) }

  /// Ends the loan; false if it has ended before.
  private func end(isTaken: Bool) -> Bool {
    if isOver.exchange(true, ordering: .acquiringAndReleasing) { return false }
    ended(isTaken)
    return true
  }
}

/// The error when the beginning of a value has changed or no longer exists.
struct LostResumePoint: Error {}

/// A part of a value that is stored as it arrives.
enum FileStreamPart: Sendable {
  /// The age, the validator and the time to live that the origin gives the value.
  case stamp(Stamped<Void>)

  /// The first bytes, which are stored already; must come before any other bytes.
  case start(ResumableFile)
  case bytes(Data)
}

/// The options for storing a value as it arrives.
struct FileStreamOptions: Sendable {
  /// Whether a file is handed out at the end, even if the value is not stored.
  var handsOut = false

  /// Receives the file of an interrupted value; returns whether it has moved the file elsewhere.
  ///
  /// Otherwise the file is removed. May block.
  var keep: @Sendable (UnfinishedFile) -> Bool = { _ in false }

  /// Receives the file so far from time to time, in case the process dies; nil at the end.
  ///
  /// May block.
  var note: @Sendable (UnfinishedFile?) -> Void = { _ in }
}
