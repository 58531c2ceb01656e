import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// Writes the pieces of a value to a file as they come, and tells the store of it at the end.
///
/// Sendable because what can change belongs to the queue.
final class FileStream: @unchecked Sendable {
  /// How many bytes may wait for the queue before the sender does.
  private static let waitingLimit = 8 << 20

  let upstream: Lifetime
  private let store: DiskStore
  private let key: String
  private let downstream: Observer<Void>
  private let queue = DispatchQueue(
    label: "millpond.disk.streaming", autoreleaseFrequency: .workItem)
  private let waiting = Locked(0)

  private let number: UInt64
  private let path: String
  private var file: OpenFile?
  private var gathered = Data()
  private var written = 0
  private var sum = LargeSum()
  private var isOver = false

  init(_ store: DiskStore, key: String, _ downstream: Observer<Void>, _ upstream: Lifetime) {
    self.store = store
    self.key = key
    self.downstream = downstream
    self.upstream = upstream
    number = store.numbers.next()
    path = store.folder.path(of: FileName.value(number).text)
  }

  var observer: Observer<Data> {
    upstream.onEnd { self.queue.async { self.giveUp() } }
    return Observer(next: { self.receive($0) }, other: { self.receive($0) })
  }

  private func receive(_ piece: Data) {
    let isTooMuch = waiting.withLock { waiting in
      waiting += piece.count
      return waiting > Self.waitingLimit
    }
    queue.async {
      self.waiting.withLock { $0 -= piece.count }
      self.perform { try self.add(piece) }
    }
    // Until all that waits has been written.
    if isTooMuch { queue.sync {} }
  }

  private func receive(_ event: Event<Never>) {
    switch event {
    case .progress(let progress): downstream.progress(progress)
    case .failed(let error): queue.async { self.fail(error) }
    case .completed: queue.async { self.perform { try self.finish() } }
    }
  }

  private func perform(_ work: () throws -> Void) {
    if isOver { return }
    do {
      try work()
    } catch {
      fail(CacheError(disk: error))
    }
  }

  /// What waits until it is a whole piece of the checksum, or all of a value that is sealed.
  private func add(_ piece: Data) throws {
    gathered.append(piece)
    guard written + gathered.count <= store.limits.costLimit else {
      throw POSIX.failure(.EFBIG, path)
    }
    if store.options.form.sealing != nil { return }
    var rest = gathered[...]
    while rest.count >= LargeSum.pieceSize {
      try write(rest.prefix(LargeSum.pieceSize))
      rest = rest.dropFirst(LargeSum.pieceSize)
    }
    if rest.count < gathered.count { gathered = Data(rest) }
  }

  private func write(_ piece: Data) throws {
    let file = try file ?? store.folder.files.open(path, .making)
    self.file = file
    try piece.withUnsafeBytes { bytes in
      sum.add(bytes)
      try file.write(bytes, at: written)
    }
    written += piece.count
  }

  private func finish() throws {
    var content = Told.Content.value(gathered)
    if written > 0 {
      if !gathered.isEmpty { try write(gathered) }
      try file?.close()
      content = .file(
        LargeValue(number: number, length: UInt64(written), checksum: sum.sum))
    }
    isOver = true
    let outcome = store.set(key, content, store.options.timeToLive, .next())
    outcome.signal.run(downstream, upstream)
  }

  private func fail(_ error: any Error) {
    if isOver { return }
    giveUp()
    upstream.end()
    downstream.failed(error)
  }

  /// What has not become a value goes.
  private func giveUp() {
    if isOver { return }
    isOver = true
    gathered = Data()
    guard file != nil else { return }
    try? file?.close()
    try? store.folder.files.remove(path)
  }
}
