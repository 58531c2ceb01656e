import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// Writes the log, and gives back the room of what is not needed any more.
///
/// The segment that is the oldest is always the one to go: what is still needed of it is written
/// again at the end. So a record never outlives what came after it, and a removal can go when it has
/// become the oldest: nothing can come to light again.
///
/// Sendable because only the store's writing queue calls it.
final class LogWriter: @unchecked Sendable {
  let folder: Folder
  let limits: DiskLimits
  let state: Locked<DiskState>
  let form: ValueForm
  let numbers: FileNumbers

  /// The oldest first; the last is the one that is written to, if it can be.
  var parts: [LogContents.Part] = []
  var isLastOpen = false
  var logBytes = 0
  var indexBytes = 0

  /// Where the oldest segment has been copied up to.
  var copied: SegmentReader?
  var isOldestDamaged = false

  /// How much has been written since the last checkpoint.
  var uncheckedBytes = 0

  /// How often something had been used by then: that changes the order.
  var checkedUses = 0
  var nextSegment: UInt32 = 1

  /// The segment with the last removal of everything: nothing before it is needed.
  var erasedBefore: UInt32 = 0
  private let buffer = RecordBuffer()

  /// Where is waited for the device: once at a time, so that nobody takes for done what is under way.
  let synchronizing = DispatchQueue(label: "millpond.disk.device")

  /// What is in the buffer, and where it will be.
  private var encoded: [(Told, Spot)] = []

  typealias Failures = [ObjectIdentifier: CacheError]

  init(
    _ folder: Folder, _ limits: DiskLimits, _ form: ValueForm, _ numbers: FileNumbers,
    _ state: Locked<DiskState>
  ) {
    self.folder = folder
    self.limits = limits
    self.form = form
    self.numbers = numbers
    self.state = state
  }

  /// Takes over what was found.
  func take(_ contents: LogContents) {
    parts = contents.parts
    isLastOpen = contents.canContinue && !parts.isEmpty
    logBytes = parts.reduce(0) { $0 + $1.size }
    nextSegment = contents.lastSegment + 1
    uncheckedBytes = contents.uncheckedBytes
    indexBytes = contents.indexBytes
    erasedBefore = contents.erasedBefore
  }
}

// MARK: - Writing

extension LogWriter {
  /// Writes what was told, in order, and settles it in the index.
  ///
  /// - Returns: What went wrong, with which.
  func write(_ tellings: [Told]) -> Failures {
    do {
      try prepare()
    } catch {
      return fail(tellings, error)
    }
    makeRoom(for: tellings.reduce(0) { $0 + $1.waitingBytes + RecordHead.size })
    var failures: Failures = [:]
    buffer.removeAll()
    encoded.removeAll(keepingCapacity: true)
    for (place, telling) in tellings.enumerated() {
      do {
        var part = try openSegment()
        if part.size + buffer.count >= segmentSize, !encoded.isEmpty {
          commit(part, &failures)
          part = try openSegment()
        }
        if case .removalOfAll = telling.content {
          commit(part, &failures)
          part = try openErasingSegment()
        }
        do {
          encoded.append((telling, try encode(telling, part)))
        } catch {
          fail([telling], error, &failures)
        }
      } catch {
        // There is no segment to write to.
        fail(Array(tellings[place...]), error, &failures)
        break
      }
    }
    if let part = parts.last { commit(part, &failures) }
    return failures
  }

  var segmentSize: Int {
    limits.segmentSize(logBytes: logBytes)
  }

  /// - Throws: What keeps the folder from being written to.
  private func prepare() throws {
    guard folder.isHeld else { throw POSIX.failure(.EBADF, folder.path) }
    guard folder.isLost else { return }
    forgetAll()
    try folder.take()
  }

  /// The folder is another one now: nothing of what was here is there.
  private func forgetAll() {
    parts = []
    isLastOpen = false
    logBytes = 0
    copied = nil
    let released = state.withLock { state in
      var consequence = DiskIndex.Consequence()
      state.index.forgetAllSpots(&consequence)
      return state.forgetLog()
    }
    _ = released
  }

  /// The segment that is to be written to.
  func openSegment() throws -> LogContents.Part {
    if isLastOpen, let last = parts.last, last.size < segmentSize { return last }
    for _ in 0..<16 {
      guard nextSegment < .max else { throw POSIX.failure(.EFBIG, folder.path) }
      let number = nextSegment
      nextSegment += 1
      do {
        let path = folder.path(of: FileName.segment(UInt64(number)).text)
        let part = LogContents.Part(
          segment: Segment(number, try folder.files.open(path, .making)), size: 0)
        parts.append(part)
        isLastOpen = true
        state.withLock { $0.segments.append(part.segment) }
        return part
      } catch let error as POSIXError where error.code == .EEXIST {
        // Something else has that name.
        continue
      }
    }
    throw POSIX.failure(.EEXIST, folder.path)
  }

  /// Puts a telling into the buffer.
  private func encode(_ telling: Told, _ part: LogContents.Part) throws -> Spot {
    let offset = part.size + buffer.count
    var head = RecordHead(.value)
    head.storedAt = telling.storedAt
    head.expiresAt = telling.expiresAt
    head.schema = form.schema.version
    let size: Int
    switch telling.isVoid ? .removal : telling.content {
    case .value(let plain):
      let value = try form.sealed(plain, for: telling.key)
      if value.count >= DiskLimits.largeSize {
        // It is there already if the record could not be written with others.
        let file = try telling.file ?? folder.writeLargeValue(value, number: numbers.next())
        telling.file = file
        size = append(telling, head, file, part)
      } else {
        size = value.withUnsafeBytes {
          buffer.append(
            head, key: telling.key, payload: $0, telling.validator, segment: part.segment.number)
        }
      }
    case .file(let file):
      size = append(telling, head, file, part)
    case .removal:
      head.kind = .removal
      size = appendEmpty(telling, head, part)
    case .removalOfAll:
      head.kind = .removalOfAll
      size = appendEmpty(telling, head, part)
    }
    return spot(telling, offset, size, part)
  }

  private func spot(
    _ telling: Told, _ offset: Int, _ size: Int, _ part: LogContents.Part
  ) -> Spot {
    Spot(
      segment: part.segment.number, offset: UInt32(offset), size: UInt32(size),
      expiry: telling.expiresAt.expiry)
  }

  private func append(
    _ telling: Told, _ head: RecordHead, _ large: LargeValue, _ part: LogContents.Part
  ) -> Int {
    state.withLock { $0.noteWritten(large) }
    var head = head
    head.kind = .file
    return large.bytes.withUnsafeBytes {
      buffer.append(
        head, key: telling.key, payload: $0, telling.validator, segment: part.segment.number)
    }
  }

  private func appendEmpty(
    _ telling: Told, _ head: RecordHead, _ part: LogContents.Part
  ) -> Int {
    buffer.append(
      head, key: telling.key, payload: UnsafeRawBufferPointer(start: nil, count: 0), nil,
      segment: part.segment.number)
  }

  /// Writes the buffer at the end of the segment; one by one what can't be written together.
  private func commit(_ part: LogContents.Part, _ failures: inout Failures) {
    guard let first = encoded.first else { return }
    defer {
      buffer.removeAll()
      encoded.removeAll(keepingCapacity: true)
    }
    do {
      try append(buffer.bytes, to: part)
      settle()
    } catch {
      if encoded.count == 1 { return fail([first.0], error, &failures) }
      // Of several, some may fit.
      for (telling, _) in encoded {
        buffer.removeAll()
        encoded.removeAll(keepingCapacity: true)
        do {
          let part = try openSegment()
          encoded.append((telling, try encode(telling, part)))
          commit(part, &failures)
        } catch {
          fail([telling], error, &failures)
        }
      }
    }
  }

  /// Writes bytes at the end of the segment: all, or as if none had been.
  func append(_ bytes: UnsafeRawBufferPointer, to part: LogContents.Part) throws {
    do {
      try part.segment.file.write(bytes, at: part.size)
    } catch {
      do {
        try part.segment.file.truncate(to: part.size)
      } catch {
        // What may be there now is passed over by readers; nothing is written after it.
        isLastOpen = false
      }
      throw error
    }
    let longer = LogContents.Part(segment: part.segment, size: part.size + bytes.count)
    parts[parts.count - 1] = longer
    logBytes += bytes.count
    uncheckedBytes += bytes.count
    state.withLock { $0.noteWritten(bytes.count, to: longer) }
  }

  private func settle() {
    let files = state.withLock { state -> [UInt64] in
      var files: [UInt64] = []
      for (telling, spot) in encoded { state.index.settle(telling, at: spot, &files) }
      return files
    }
    remove(files)
  }

  private func fail(_ tellings: [Told], _ error: any Error) -> Failures {
    var failures: Failures = [:]
    fail(tellings, error, &failures)
    return failures
  }

  private func fail(_ tellings: [Told], _ error: any Error, _ failures: inout Failures) {
    for telling in tellings {
      let key: String? = if case .removalOfAll = telling.content { nil } else { telling.key }
      failures[ObjectIdentifier(telling)] = CacheError(disk: error, folder, key: key)
    }
    let files = state.withLock { state -> [UInt64] in
      var files: [UInt64] = []
      for telling in tellings { state.index.fail(telling, &files) }
      return files
    }
    remove(files)
  }

  /// Removes files of large values that nobody needs; those that somebody holds go later.
  func remove(_ files: [UInt64]) {
    if files.isEmpty { return }
    let files = state.withLock { state in
      let files = state.index.free(of: files)
      state.noteRemoved(files)
      return files
    }
    // What can't be removed now is swept at the next opening.
    guard folder.isHeld, !folder.isLost, (try? synchronizeIfRelied()) != nil else { return }
    for number in files {
      try? folder.files.remove(folder.path(of: FileName.value(number).text))
    }
  }
}
