import Foundation
import MillpondCore
import MillpondSignals

/// Something that was told, on its way to the disk.
///
/// Sendable because what can change belongs to the store's lock, but for what the writer notes, which
/// belongs to the writer.
final class Told: @unchecked Sendable {
  enum Content: Sendable {
    case value(Data)

    /// A value that was streamed into a file already.
    case file(LargeValue)

    case removal
    case removalOfAll
  }

  let key: String
  let hash: KeyHash
  let storedAt: WallTime
  let expiresAt: WallTime
  let validator: Validator?

  /// Of a fill, that of the last write of its key.
  var revision: Revision
  let outcome = DiskOutcome()

  /// The content; a removal when the value is not to be written any more.
  private(set) var content: Content

  /// Where the index has it, as long as it has.
  var slot: Slot = -1

  /// Whether the writer has it.
  var isTaken = false

  /// Whether nothing is to be written but that there is nothing for the key.
  var isVoid = false

  /// Whether something later is written instead.
  var isSuperseded = false

  /// What the writer has at the moment for the same entry, and what lies there if this fails.
  var underway: Told?

  /// The file that the writer has made for the value.
  var file: LargeValue?

  /// What need not be written since this came, and ends as this does.
  var superseded: ContiguousArray<Told> = []

  init(
    key: String, hash: KeyHash, _ content: Content, storedAt: WallTime,
    expiresAt: WallTime = .never, validator: Validator? = nil, revision: Revision
  ) {
    self.key = key
    self.hash = hash
    self.content = content
    if case .file(let value) = content { file = value }
    self.storedAt = storedAt
    self.expiresAt = expiresAt
    self.validator = validator == Validator() ? nil : validator
    self.revision = revision
  }

  /// The length of a value that has, or will have, a file of its own.
  var largeLength: Int {
    switch content {
    case .value(let value): value.count >= DiskLimits.largeSize ? value.count : 0
    case .file(let value): value.count
    case .removal, .removalOfAll: 0
    }
  }

  /// Lets go of a value that is not to be written, so that what waits is never more than the cache holds.
  ///
  /// - Returns: How many bytes fewer wait, with the value, to be released after the unlock.
  func dropValue() -> (bytes: Int, Content)? {
    guard case .value(let value) = content else { return nil }
    defer { content = .removal }
    return (value.count, content)
  }

  /// Whether this is for `key`, byte by byte: strings that only look alike are other keys.
  func isFor(_ key: String) -> Bool {
    var own = self.key
    return own.withUTF8 { key.hasBytes(UnsafeRawBufferPointer($0)) }
  }

  /// How many bytes wait in memory.
  var waitingBytes: Int {
    if case .value(let value) = content { value.count &+ key.utf8.count } else { key.utf8.count }
  }
}

extension String {
  /// Whether this is made of exactly these bytes of UTF-8.
  func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var copy = self
    return copy.withUTF8 { POSIX.areEqual(UnsafeRawBufferPointer($0), bytes) }
  }
}

/// How a telling ends, for those who ask before and after.
///
/// Sendable because what can change is touched only behind the gate.
final class DiskOutcome: @unchecked Sendable {
  private let gate = Gate()
  private var result: Result<Void, CacheError>?
  private var waiting: ContiguousArray<Observer<Void>> = []

  /// Whether it is a fill that was admitted, or one that was not; nil for a write.
  ///
  /// Set before anybody asks for the signal.
  var isAdmittedFill: Bool?

  /// Sends a value when it is on disk, or fails; to dispose of it cancels nothing.
  ///
  /// A fill sends its value when it has been admitted, and none if it was refused.
  var signal: Signal<Void> {
    Signal { [isAdmittedFill] downstream, _ in
      if isAdmittedFill == true { downstream.next(()) }
      let observer = isAdmittedFill == nil ? downstream : downstream.replacingNext { _ in }
      let result = self.gate.withLock {
        if self.result == nil { self.waiting.append(observer) }
        return self.result
      }
      if let result { observer.end(with: result) }
    }
  }

  /// Ends it, once.
  ///
  /// - Returns: What calls those who wait, if anybody does.
  func end(with result: Result<Void, CacheError>) -> (@Sendable () -> Void)? {
    let waiting = gate.withLock { () -> ContiguousArray<Observer<Void>> in
      guard self.result == nil else { return [] }
      self.result = result
      defer { self.waiting = [] }
      return self.waiting
    }
    if waiting.isEmpty { return nil }
    return {
      for observer in waiting { observer.end(with: result) }
    }
  }
}

extension Observer where Value == Void {
  func end(with result: Result<Void, CacheError>) {
    switch result {
    case .success:
      next(())
      completed()
    case .failure(let error): failed(error)
    }
  }
}
