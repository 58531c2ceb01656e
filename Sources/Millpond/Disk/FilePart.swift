import Foundation
import MillpondCore
import MillpondSignals

/// The first bytes of a value that never came as a whole: pieces of the checksum, and their sum.
///
/// What comes after them in the file is not of the value.
struct UnfinishedFile: Sendable {
  let path: String
  let byteCount: Int
  let checksum: UInt64
}

/// A file that one alone may take, to go on with it.
final class LentFile: Sendable {
  private let state: Locked<Loan?>

  private struct Loan: Sendable {
    let file: UnfinishedFile
    let ended: @Sendable (_ isTaken: Bool) -> Void
  }

  /// - Parameter ended: Is told, once, whether somebody has taken it.
  init(_ file: UnfinishedFile, ended: @escaping @Sendable (_ isTaken: Bool) -> Void) {
    state = Locked(Loan(file: file, ended: ended))
  }

  deinit { giveBack() }

  /// The file, which belongs to the caller from now on; nil if it has been taken or given back.
  func take() -> UnfinishedFile? {
    let loan = end()
    loan?.ended(true)
    return loan?.file
  }

  /// Leaves it to whoever wants it next, if nobody has taken it.
  func giveBack() { end()?.ended(false) }

  private func end() -> Loan? { state.withLock { exchange(&$0, with: nil) } }
}

/// What a value is made of that is stored as it comes.
enum FilePart: Sendable {
  /// The validator by which the origin can tell whether it is still good.
  case validator(Validator)

  /// Its first bytes, which are here already; nothing comes before this.
  case start(LentFile)
  case bytes(Data)
}

/// The beginning of a value is not what it was when it was left, or not there any more.
struct LostResumePoint: Error {}

/// How a value that is stored as it comes fits in with what else is told.
struct FileTerms: Sendable {
  /// Its place among all writes; nil for that of the subscription.
  ///
  /// If its key is told something later, it is not kept.
  var revision: Revision?

  /// Keeps every store from forgetting later writes until the value is there, however long that takes.
  var pending: PendingWrite?

  /// Whether a file is handed out at the end, also of a value that is not kept.
  var handsOut = false

  /// Is offered what has come if no more does, and says whether it has moved it elsewhere.
  ///
  /// What it has not is removed. May block.
  var keep: @Sendable (UnfinishedFile) -> Bool = { _ in false }

  /// Notes from time to time what has come, in case the process dies; nil is the end.
  ///
  /// May block.
  var note: @Sendable (UnfinishedFile?) -> Void = { _ in }
}
