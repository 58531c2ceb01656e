import Foundation
import MillpondCore
import MillpondSignals

/// A stream of parts that is written to a file as it arrives, and stored as a value at the end.
///
/// Sendable because the mutable state is touched only on the queue.
final class FileStream: @unchecked Sendable {
  /// The number of bytes after which the progress is noted.
  private static let noteSize = 4 << 20

  let upstream: Lifetime
  private let store: DiskStore
  private let key: String
  private let pending: PendingWrite
  private let timeToLive: TimeToLive
  private let options: FileStreamOptions
  private let downstream: Observer<DiskFile?>
  private let queue = BoundedByteQueue("millpond.disk.streaming", limit: 2 << 20)

  /// The number of its file.
  let number: UInt64
  private let path: String
  private var file: OpenFile?
  private var buffered = Data()
  private var written = 0
  private var noted = 0
  private var sum = FileChecksum()
  private var validator: Validator?

  /// The times that the origin has stated; nil if it has not.
  private var times: DiskExpiry?
  private var isOver = false

  /// Whether everything was removed since the stream began: then it is not stored, and its file has
  /// no name.
  private var isErased = false

  /// Creates a stream.
  ///
  /// - Parameters:
  ///   - store: The store of the value.
  ///   - key: The key of the value.
  ///   - pending: Keeps stores from forgetting later writes of the key until the value is stored.
  ///   - timeToLive: The time to live of the value, from the end of its pieces on.
  ///   - options: The options of its storage.
  ///   - downstream: Receives the file if one is to be handed out, otherwise nil.
  ///   - upstream: The lifetime of the parts.
  init(
    _ store: DiskStore, key: String, _ pending: PendingWrite, _ timeToLive: TimeToLive,
    _ options: FileStreamOptions, _ downstream: Observer<DiskFile?>, _ upstream: Lifetime
  ) {
    self.store = store
    self.key = key
    self.pending = pending
    self.timeToLive = timeToLive
    self.options = options
    self.downstream = downstream
    self.upstream = upstream
    number = store.numbers.next()
    path = store.folder.path(of: .value(number))
    store.streams.add(self)
    // A later removal of everything finds the stream; an earlier one may have overtaken it.
    let removal = store.state.withLock { $0.index.writes.removalOfAll }
    if beginning < removal { _ = erase() }
  }

  deinit { store.streams.remove(number) }

  /// The place of the value in the order of all writes.
  var beginning: Revision { pending.revision }

  var observer: Observer<FileStreamPart> {
    upstream.onEnd { self.queue.add { self.leaveOff() } }
    return Observer(next: { self.receive($0) }, other: { self.receive($0) })
  }

  private func receive(_ part: FileStreamPart) {
    switch part {
    case .stamp(let stamp): queue.add { self.note(stamp) }
    case .start(let file): queue.add { self.perform { try self.goOn(with: file) } }
    case .bytes(let piece): queue.add(piece.count) { self.perform { try self.add(piece) } }
    }
  }

  /// Notes what the origin says; its times count from now on, not from the end of the pieces.
  private func note(_ stamp: Stamped<Void>) {
    validator = stamp.validator
    if stamp.timeToLive != nil { times = .ofFill(stamp, .forever, at: store.options.now()) }
  }

  private func receive(_ event: Event<Never>) {
    switch event {
    case .progress(let progress):
      // Through the queue, so that an observer gets one event at a time.
      queue.add { if !self.isOver, !self.upstream.isEnded { self.downstream.progress(progress) } }
    case .failed(let error): queue.add { self.end(by: error) }
    case .completed: queue.add { self.perform { try self.finish() } }
    }
  }

  private func perform(_ work: () throws -> Void) {
    if isOver { return }
    do {
      try work()
    } catch {
      giveUp()
      fail(
        error is LostResumePoint ? error : CacheError.failure(disk: error, store.folder, key: key))
    }
  }

  /// Takes over a file with the first bytes, if they are undamaged.
  private func goOn(with lent: ResumableFile) throws {
    // A sealed value is sealed as a whole.
    guard !isErased, store.options.form.sealing == nil, let start = lent.take() else {
      throw LostResumePoint()
    }
    do {
      try store.folder.files.rename(start.path, to: path)
      let file = try store.folder.files.open(path, .updating)
      self.file = file
      try file.truncate(to: start.byteCount)
      let isWhole = try file.readPieces(start.byteCount) { piece, _ in sum.add(piece) }
      guard isWhole, sum.sum == start.checksum else { throw LostResumePoint() }
    } catch {
      store.discard(.value(number))
      try? store.folder.files.remove(start.path)
      throw LostResumePoint()
    }
    (written, noted) = (start.byteCount, start.byteCount)
  }

  /// Collects bytes up to a whole piece of the checksum, or the whole of a value that is to be
  /// sealed.
  private func add(_ piece: Data) throws {
    buffered.append(piece)
    guard written + buffered.count <= store.limits.costLimit else {
      throw DiskError.tooLarge(
        key, written + buffered.count, in: store.path, limit: store.limits.costLimit)
    }
    if store.options.form.sealing != nil { return }
    let size = FileChecksum.pieceSize
    let wholeCount = buffered.count / size * size
    try buffered.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: wholeCount, by: size) {
        try write(UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]))
      }
    }
    if !isErased, written - noted >= Self.noteSize {
      noted = written
      options.note(unfinished)
    }
    if wholeCount > 0 { buffered = Data(buffered.dropFirst(wholeCount)) }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    let file = try file ?? makeFile()
    sum.add(bytes)
    try file.write(bytes, at: written)
    written += bytes.count
  }

  private func writeBuffered() throws {
    if !buffered.isEmpty { try buffered.withUnsafeBytes { try write($0) } }
  }

  private func makeFile() throws -> OpenFile {
    let file = try store.folder.files.open(path, .making)
    self.file = file
    if isErased { try store.folder.files.remove(path) }
    return file
  }

  private var unfinished: UnfinishedFile {
    UnfinishedFile(path: path, byteCount: written, checksum: sum.sum)
  }

  private func finish() throws {
    if isErased { return try finishErased() }
    let now = store.options.now()
    var times = times ?? DiskExpiry(storedAt: now)
    times.expiresAt = min(times.expiresAt, now.after(timeToLive))
    let (content, file) = try contents()
    isOver = true
    let outcome = store.keep(
      DiskWrite(
        key: key, content, times, at: now, validator: validator, revision: pending.revision))
    store.streams.remove(number)
    endPendingWrite()
    outcome.map { file }.run(downstream, upstream)
  }

  /// Returns the content to store, and a file that stays whatever happens to the content.
  private func contents() throws -> (DiskWrite.Content, DiskFile?) {
    let isInMemory = written == 0 && buffered.count < DiskLimits.largeSize
    if isInMemory || store.options.form.sealing != nil {
      return (.value(buffered), try options.handsOut ? copyOfBuffered() : nil)
    }
    try writeBuffered()
    try file?.close()
    let value = FileValue(number: number, length: UInt64(written), checksum: sum.sum)
    let lent =
      options.handsOut ? try store.leased(value, times, validator, pending.revision) : nil
    return (.file(value), lent)
  }

  private func copyOfBuffered() throws -> DiskFile {
    try store.copied(buffered.count, times, validator: validator, revision: pending.revision) {
      try $0.write(buffered)
    }
  }

  /// Stores nothing; hands out a file if a caller still waits for it.
  private func finishErased() throws {
    var copy: DiskFile?
    if options.handsOut, !upstream.isEnded {
      if let file {
        try writeBuffered()
        copy = try store.copied(
          written, times, validator: validator, revision: pending.revision
        ) { copy in
          let isRead = try file.readPieces(written) { piece, offset in
            try copy.write(piece, at: offset)
          }
          if !isRead { throw CLibrary.failure(.EIO, path) }
        }
      } else {
        copy = try copyOfBuffered()
      }
    }
    giveUp()
    downstream.next(copy)
    downstream.completed()
  }

  /// Removes the file's name, now and for files made later.
  func erase() -> Signal<Void> {
    let outcome = Promise<Void>()
    queue.add {
      self.isErased = true
      if !self.isOver { self.options.note(nil) }
      do {
        if !self.isOver, self.file != nil { try self.store.folder.files.remove(self.path) }
        outcome.end()
      } catch {
        outcome.end(error)
      }
    }
    return outcome.outcome
  }

  /// Fails, since the store of a closed folder can't store the value; what has come is offered to be
  /// kept.
  ///
  /// - Returns: Success when it has let go of its files.
  func endByClosing() -> Signal<Void> {
    let outcome = Promise<Void>()
    queue.add {
      self.end(by: CacheError(disk: DiskError.closed(folder: self.store.path)))
      outcome.end()
    }
    return outcome.outcome
  }

  private func end(by error: any Error) {
    if isOver { return }
    leaveOff()
    fail(error)
  }

  /// Ends without a value; offers the bytes so far to be kept.
  private func leaveOff() {
    if !isOver, !isErased, written > 0 {
      try? file?.close()
      if options.keep(unfinished) { file = nil }
    }
    giveUp()
  }

  private func fail(_ error: any Error) {
    upstream.end()
    downstream.failed(error)
  }

  /// Removes the file unless it has become a value.
  private func giveUp() {
    if isOver { return }
    isOver = true
    buffered = Data()
    endPendingWrite()
    if file != nil {
      try? file?.close()
      store.discard(.value(number))
    }
    store.streams.remove(number)
  }

  private func endPendingWrite() {
    pending.end()
    options.note(nil)
  }
}
