import Foundation
import MillpondCore
import MillpondSignals

/// A write on its way to the disk.
///
/// Sendable because all that can change is changed under the store's lock. The writer reads a write that
/// it has taken without the lock: from then on only the writer changes its file and its failure.
final class DiskWrite: @unchecked Sendable {
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

  /// The place among all writes; of a fill, that of the last write of its key.
  var revision: Revision
  let outcome = DiskOutcome()

  /// The content; a removal when the value is not to be written any more.
  private(set) var content: Content

  /// The slot of its entry; -1 if it has none.
  var slot: Slot = -1

  /// Whether the writer has it.
  var isTaken = false

  /// Whether its key's removal is written instead.
  var isVoid = false

  /// Whether a later write is written instead.
  var isSuperseded = false

  /// The write of the same entry that has begun; it is what is there if this one fails.
  var underway: DiskWrite?

  /// The file that the value has been written to.
  var file: LargeValue?

  /// The reason why it could not be written.
  var failure: CacheError?

  /// The writes that this one replaces, and that end as it does.
  var superseded: ContiguousArray<DiskWrite> = []

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

  var isRemoval: Bool {
    switch content {
    case .removal, .removalOfAll: true
    case .value, .file: false
    }
  }

  /// Lets go of a value that is not to be written, so that what waits is never more than the cache holds.
  ///
  /// - Returns: The bytes that wait no more, with the value, to be released after the unlock.
  func dropValue() -> (bytes: Int, Content)? {
    guard case .value(let value) = content else { return nil }
    return (value.count, exchange(&content, with: .removal))
  }

  /// Whether this is for `key`, byte by byte: strings that only look alike are other keys.
  func isFor(_ key: String) -> Bool {
    var own = self.key
    return own.withUTF8 { key.hasBytes(UnsafeRawBufferPointer($0)) }
  }

  var waitingBytes: Int {
    if case .value(let value) = content { value.count &+ key.utf8.count } else { key.utf8.count }
  }
}

extension String {
  func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var copy = self
    return copy.withUTF8 { POSIX.areEqual(UnsafeRawBufferPointer($0), bytes) }
  }
}

/// The outcome of a write, for subscribers before and after its end.
struct DiskOutcome: Sendable {
  private struct State: Sendable {
    var result: Result<Void, CacheError>?
    var waiting: ContiguousArray<Observer<Void>> = []
    var isAdmittedFill: Bool?
  }

  private let state = Locked(State())

  /// Makes it the outcome of a fill, before anybody subscribes.
  func isFill(admitted: Bool) { state.withLock { $0.isAdmittedFill = admitted } }

  /// Sends a value when it is on disk, or fails; to dispose of it cancels nothing.
  ///
  /// A fill sends its value when it has been admitted, and none if it was refused.
  var signal: Signal<Void> {
    Signal { [state] downstream, _ in
      let isAdmittedFill = state.withLock { $0.isAdmittedFill }
      if isAdmittedFill == true { downstream.next(()) }
      let observer = isAdmittedFill == nil ? downstream : downstream.replacingNext { _ in }
      let result = state.withLock { state in
        if state.result == nil { state.waiting.append(observer) }
        return state.result
      }
      if let result { observer.end(with: result) }
    }
  }

  /// Ends it, once.
  ///
  /// - Returns: Calls the subscribers, if there are any.
  func end(with result: Result<Void, CacheError>) -> (@Sendable () -> Void)? {
    let waiting = state.withLock { state -> ContiguousArray<Observer<Void>> in
      guard state.result == nil else { return [] }
      state.result = result
      return exchange(&state.waiting, with: [])
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
