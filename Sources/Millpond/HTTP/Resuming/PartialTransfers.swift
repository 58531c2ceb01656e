import Dispatch
public import Foundation
public import MillpondSignals

/// Keeps what came of transfers that broke off or were given up, so that the next one for the same
/// resource asks for the rest, in a later run of the process too.
///
///     let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(64))
///     let films = HTTPSource(resuming: partials)
///
/// Bytes are kept if the origin gave an `ETag` that stands for them exactly (or a `Last-Modified` that
/// does), if they are neither encoded nor forbidden to be stored, and if there are more than a few.
/// Of what a ``MediaCache`` fetches whole pieces of 256 KiB are kept, as the file that they are in:
/// for that `directory` has to be on the same volume as the cache's.
///
/// The rest is asked for by `Range` and `If-Range`, so a resource that has changed is sent whole, as
/// it is by an origin that knows no ranges. They are found by ``HTTPRequest/identity``, and
/// removed when the whole has come. What is longest ago gives way to what is new.
///
/// Trouble with the folder loses such bytes, but fails nothing. Files of others are left alone. What a
/// process has received when it is killed is lost: bytes are kept when a transfer ends.
///
/// - Note: Any thread. Files are read and written on a queue of their own.
public final class PartialTransfers: Sendable {
  let files: PartialFiles
  private let byteLimit: Int
  let queue = DispatchQueue(
    label: "millpond.partials", qos: .utility, autoreleaseFrequency: .workItem)

  /// Nil until the folder has been read.
  let index = Locked<PartialIndex?>(nil)
  private let waiting = Locked(0)

  /// Keeps bytes in a folder, that is made when there are some.
  ///
  /// - Parameters:
  ///   - directory: For nobody else.
  ///   - byteLimit: How many bytes its files may have; of zero or less, nothing is kept.
  public init(directory: URL, byteLimit: Int) {
    files = PartialFiles(folder: directory)
    self.byteLimit = byteLimit
    queue.async {
      let index = PartialIndex(self.files.list(), byteLimit: byteLimit)
      self.index.withLock { $0 = index }
      self.removeSurplus()
    }
  }

  /// Removes everything, as at a sign-out.
  @discardableResult
  public func removeAll() -> Signal<Void> {
    done {
      let names = self.index.withLock { $0?.removeAll() } ?? []
      for name in names { self.files.remove(name) }
    }
  }

  /// Completes when everything that was to be kept is written.
  public func flush() -> Signal<Void> {
    done {}
  }

  private func done(_ work: @escaping @Sendable () -> Void) -> Signal<Void> {
    let promise = Promise<Void>()
    queue.async {
      work()
      promise.keep(by: .just(()))
    }
    return promise.outcome
  }
}

extension PartialTransfers {
  /// What there is of a resource, if there is something.
  func find(_ identity: String) -> Signal<PartialBody?> {
    .deferred {
      let name = PartialFiles.name(of: identity)
      if self.isKnownNotToHave(name) { return .just(nil) }
      return Signal { observer, _ in
        self.queue.async {
          observer.next(self.read(name, identity))
          observer.completed()
        }
      }
    }
  }

  func keep(_ partial: PartialBody, for identity: String) {
    let size = partial.bytes.count
    guard size >= Self.leastByteCount, wait(for: size) else { return }
    let name = PartialFiles.name(of: identity)
    // At once, so that who asks again waits for the bytes to be written.
    index.withLock { $0?.expect(name) }
    queue.async {
      self.write(PartialRecord(identity: identity, partial).data, name)
      self.waiting.withLock { $0 -= size }
    }
  }

  func drop(_ identity: String, _ kind: PartialFiles.Kind = .whole) {
    let name = PartialFiles.name(of: identity, kind)
    if isKnownNotToHave(name) { return }
    queue.async {
      self.index.withLock { _ = $0?.remove(name) }
      self.files.remove(name)
    }
  }

  /// Fewer are asked for again.
  static var leastByteCount: Int { 16 << 10 }

  func isKnownNotToHave(_ name: String) -> Bool {
    index.withLock { $0?.has(name) == false }
  }

  /// Whether so many bytes may wait in memory for the disk.
  private func wait(for size: Int) -> Bool {
    let limit = max(byteLimit, 64 << 20)
    return waiting.withLock { waiting in
      guard size <= limit - waiting else { return false }
      waiting += size
      return true
    }
  }
}

// On the queue.
extension PartialTransfers {
  private func read(_ name: String, _ identity: String) -> PartialBody? {
    guard let data = files.read(name, byteLimit: byteLimit) else { return nil }
    return PartialRecord(data).flatMap { $0.identity == identity ? $0.partial : nil }
  }

  private func write(_ data: Data, _ name: String) {
    let surplus = index.withLock { $0?.add(name, byteCount: data.count) } ?? []
    for name in surplus { files.remove(name) }
    guard index.withLock({ $0?.has(name) }) == true else { return }
    if !files.write(data, name) { index.withLock { _ = $0?.remove(name) } }
  }

  private func removeSurplus() {
    for name in index.withLock({ $0?.surplus() }) ?? [] { files.remove(name) }
  }
}
