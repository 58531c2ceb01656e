import Foundation
import MillpondCore
import MillpondSignals

/// A write on its way to the log.
///
/// Its ``stage`` says how it may still end. If it fails, the value before it is the stored
/// one again, unless ``outdatesRecord`` says that this is out of date.
///
/// Sendable because its mutable state is changed only under the store's lock. The writer reads a
/// write that it has taken without the lock: from then on only the writer changes its file and its
/// failure, and nothing its content.
final class DiskWrite: @unchecked Sendable {
  enum Content: Sendable {
    case value(Data)

    /// A value that has been streamed into a file already.
    case file(FileValue)

    case removal
    case removalOfAll
  }

  /// A stage on the way of a write, by which its possible ends are known.
  enum Stage: Sendable {
    /// Nothing: it has not been admitted, or a later write of its key is written in its place.
    case idle

    /// It waits for the writer. A later write may take its place; if its entry goes, a removal of
    /// its key is written instead.
    case waiting(WriteQueue.Place)

    /// The writer has it. It is written, but is the stored value only if its entry still has it.
    case taken
  }

  let key: String
  let hash: KeyHash
  let times: DiskExpiry
  let validator: Validator?

  /// The token of a fill; nil for a write.
  let token: FillToken?

  /// Whether it is over already when it is called: then it is a removal in effect.
  let isOver: Bool

  /// The cost of its value; zero for a removal, and the greatest number for a value that can't be
  /// stored at all.
  var cost = 0

  /// Whether it must be kept: its room is certain, and nothing is evicted for it.
  let isToBeKept: Bool

  /// Whether it is written together with others, and so not in the place of an earlier one, which
  /// is written before.
  let isOfGroup: Bool

  let promise = Promise<Void>()

  /// The position in the order of all writes; for a fill, that of the last write of its key.
  var revision: Revision

  /// The content; a removal once the value is no longer to be written.
  private(set) var content: Content

  private(set) var stage = Stage.idle

  /// Whether the record before this write must not answer again if this one can't be written: it is
  /// out of date, since this one, or one that it replaces, is the answer of a lower layer.
  var outdatesRecord = false

  /// The promises that end with this write: its own, and those of the writes that it replaces.
  private(set) var promises: ContiguousArray<Promise<Void>>

  /// The file to which the value has been written.
  var file: FileValue?

  /// The error, if it could not be written.
  var failure: CacheError?

  @inline(never)
  init(
    key: String, _ content: Content, _ times: DiskExpiry, at now: WallTime,
    validator: Validator? = nil, revision: Revision, _ token: FillToken? = nil,
    isToBeKept: Bool = false, isOfGroup: Bool = false
  ) {
    self.key = key
    hash = KeyHash(of: key)
    self.content = content
    self.isToBeKept = isToBeKept
    self.isOfGroup = isOfGroup
    self.times = times
    self.token = token
    isOver = times.expiresAt <= now
    self.validator = validator.flatMap { $0.isEmpty ? nil : $0 }
    self.revision = revision
    promises = [promise]
    if case .file(let value) = content { file = value }
    if !isRemoval { cost = isOver ? .max : costOfValue }
  }

  private var costOfValue: Int {
    let (large, size) = (largeLength, recordSize)
    guard size <= RecordHead.greatestSize, large <= FileValue.greatestLength else { return .max }
    return DiskLimits.cost(recordSize: size, large: large)
  }

  /// The length of a value that has, or will have, a file of its own.
  var largeLength: Int {
    switch content {
    case .value(let value): value.count >= DiskLimits.largeSize ? value.count : 0
    case .file(let value): value.count
    case .removal, .removalOfAll: 0
    }
  }

  /// The size of its record; more than the greatest size if a part is too large.
  var recordSize: Int {
    var payload = FileValue.size
    if case .value(let value) = content, largeLength == 0 { payload = value.count }
    return RecordHead.recordSize(key: key, payload: payload, validator)
  }

  var isRemoval: Bool {
    switch content {
    case .removal, .removalOfAll: true
    case .value, .file: false
    }
  }

  var isTaken: Bool { if case .taken = stage { true } else { false } }

  /// Whether this is for `key`; both are canonical, so their bytes decide.
  func isFor(_ key: String) -> Bool {
    var own = self.key
    return own.withUTF8 { key.hasBytes(UnsafeRawBufferPointer($0)) }
  }

  var waitingBytes: Int {
    if case .value(let value) = content { value.count &+ key.utf8.count } else { key.utf8.count }
  }
}

// MARK: - Stages

extension DiskWrite {
  func wait(in place: WriteQueue.Place) { stage = .waiting(place) }

  func take() { stage = .taken }

  /// Takes the place of an earlier write of the same entry, which ends with this one.
  func replace(_ old: DiskWrite, in place: WriteQueue.Place) {
    var promises = exchange(&old.promises, with: [])
    promises.append(contentsOf: self.promises)
    self.promises = promises
    place.write = self
    (stage, old.stage) = (.waiting(place), .idle)
  }

  /// Has a removal of the key written in place of a value that has no entry.
  ///
  /// - Returns: The value, to be released after the unlock, so that the values that wait never
  ///   exceed the cache's limit; nil if there is none.
  func giveUpValue() -> Content? {
    switch content {
    case .value, .file: exchange(&content, with: .removal)
    case .removal, .removalOfAll: nil
    }
  }
}

/// The entry of a value in the index: its pending write, or the location of its record.
enum IndexedValue: Sendable {
  case write(DiskWrite)
  case location(RecordLocation)
}

extension String {
  func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var copy = self
    return copy.withUTF8 { CLibrary.areEqual(UnsafeRawBufferPointer($0), bytes) }
  }
}
