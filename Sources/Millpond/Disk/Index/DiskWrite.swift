import Foundation
import MillpondCore
import MillpondSignals

/// A pending write.
///
/// Sendable because its mutable state is changed only under the store's lock. The writer reads a
/// write that it has taken without the lock: from then on only the writer changes its file and its
/// failure.
final class DiskWrite: @unchecked Sendable {
  enum Content: Sendable {
    case value(Data)

    /// A value that has been streamed into a file already.
    case file(FileValue)

    case removal
    case removalOfAll
  }

  enum Renewal: Sendable {
    /// The write is no renewal.
    case none

    /// The place of the value, which has to be the same when the write is admitted.
    case of(IndexedValue)

    /// The place has changed, so that the value has to be looked up again.
    case outdated

    /// The place was the same.
    case decided
  }

  let key: String
  let hash: KeyHash
  let times: DiskExpiry
  let validator: Validator?

  /// Whether a stored value gets new times only; if it has a file, that belongs to the record which
  /// this one replaces.
  var renewal: Renewal

  /// Whether it must be kept: its room is certain, and nothing is evicted for it.
  var isToBeKept = false

  /// Whether the record before this write must not answer again if this one can't be written: it is
  /// out of date, since this one, or one that it replaces, is the answer of a lower layer.
  var outdatesRecord = false

  /// The position in the order of all writes; for a fill, that of the last write of its key.
  var revision: Revision
  let promise = Promise<Void>()

  /// The content; a removal once the value is no longer to be written.
  private(set) var content: Content

  /// The slot of its entry; -1 if it has none.
  var slot: Slot = -1

  /// Whether the writer has taken it.
  var isTaken = false

  /// Whether a removal of its key is written instead.
  var isVoid = false

  /// Whether it is not written: it renews a value that could not be.
  var isGivenUp = false

  /// The last write that replaces this one, in whose place it waits.
  var latest: DiskWrite?

  /// The write of the same entry that has begun; it is the stored value if this one fails.
  var underway: DiskWrite?

  /// The file to which the value has been written.
  var file: FileValue?

  /// The error, if it could not be written.
  var failure: CacheError?

  /// The writes that this one replaces, which end with the same result.
  var superseded: ContiguousArray<DiskWrite> = []

  @inline(never)
  init(
    key: String, _ content: Content, _ times: DiskExpiry, validator: Validator? = nil,
    revision: Revision, _ renewal: Renewal = .none
  ) {
    self.key = key
    hash = KeyHash(of: key)
    self.content = content
    self.renewal = renewal
    self.times = times
    self.validator = validator.flatMap { $0.isEmpty ? nil : $0 }
    self.revision = revision
    if case .file(let value) = content, !isRenewal { file = value }
  }

  var isRenewal: Bool {
    if case .none = renewal { false } else { true }
  }

  /// The length of a value that has, or will have, a file of its own.
  var largeLength: Int {
    switch content {
    case .value(let value): value.count >= DiskLimits.largeSize ? value.count : 0
    case .file(let value): isRenewal ? 0 : value.count
    case .removal, .removalOfAll: 0
    }
  }

  /// Whether this has the file of the record that it replaces.
  var keepsFile: Bool {
    if case .file = content { isRenewal } else { false }
  }

  var isRemoval: Bool {
    switch content {
    case .removal, .removalOfAll: true
    case .value, .file: false
    }
  }

  /// Releases a value that is not to be written, so that the waiting values never exceed the
  /// cache's limit.
  ///
  /// - Returns: The number of bytes, and the value, to be released after the unlock.
  func dropValue() -> (bytes: Int, Content)? {
    guard case .value(let value) = content else { return nil }
    return (value.count, exchange(&content, with: .removal))
  }

  /// Whether this is for `key`; both are canonical, so their bytes decide.
  func isFor(_ key: String) -> Bool {
    var own = self.key
    return own.withUTF8 { key.hasBytes(UnsafeRawBufferPointer($0)) }
  }

  var waitingBytes: Int {
    if case .value(let value) = content { value.count &+ key.utf8.count } else { key.utf8.count }
  }
}

/// The entry of a value in the index: its pending write, or the location of its record.
enum IndexedValue: Sendable {
  case write(DiskWrite)
  case location(RecordLocation)

  func isSame(as other: IndexedValue?) -> Bool {
    switch (self, other) {
    case (.write(let write), .write(let other)?): write === other
    case (.location(let location), .location(let other)?): location == other
    default: false
    }
  }
}

extension String {
  func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var copy = self
    return copy.withUTF8 { CLibrary.areEqual(UnsafeRawBufferPointer($0), bytes) }
  }
}
