import Dispatch
public import Foundation
import MillpondCore
public import MillpondSignals

/// Keeps what came of transfers that broke off or were given up, so that the next one for the same
/// resource asks for the rest, in a later run of the process too.
///
///     let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(64))
///     let films = HTTPSource(resuming: partials)
///
/// Bytes are kept if the origin gave an `ETag` that stands for them exactly (or, without any `ETag`, a
/// length and a `Last-Modified` that does), if they are neither encoded nor forbidden to be stored, and
/// if there are more than a few. Of what a ``MediaCache`` fetches whole pieces of 256 KiB are kept, as
/// the file that they are in: for that `directory` has to be on the same volume as the cache's.
///
/// The rest is asked for by `Range` and `If-Range`, so a resource that has changed is sent whole, as
/// it is by an origin that knows no ranges. A rest that doesn't name the same `ETag`, or the same
/// `Last-Modified` and length, is not used: the whole is asked for.
///
/// Bytes are found by ``HTTPRequest/identity`` and the request's own ``HTTPRequest/headers``, not by its
/// credentials, and removed when the whole has come. What is longest ago gives way to what is new.
///
/// Trouble with the folder loses such bytes, but fails nothing except ``removeAll()``. Files of others
/// are left alone. If a process is killed, what a ``MediaCache`` was fetching is gone on with, but for the
/// last few megabytes; other transfers keep their bytes when they end.
///
/// - Note: Any thread. Files are read and written on a queue of their own.
public final class PartialTransfers: Sendable {
  let files: PartialFiles
  private let byteLimit: Int
  let queue = DispatchQueue(
    label: "millpond.partials", qos: .utility, autoreleaseFrequency: .workItem)

  let state = Locked(PartialState())
  private let waiting = Locked(0)

  /// Keeps bytes in a folder, that is made when there are some.
  ///
  /// - Parameters:
  ///   - directory: For nobody else.
  ///   - byteLimit: How many bytes its files may have; of zero or less, nothing is kept.
  public convenience init(directory: URL, byteLimit: Int) {
    self.init(directory: directory, byteLimit: byteLimit, FileSystem())
  }

  init(directory: URL, byteLimit: Int, _ system: FileSystem) {
    files = PartialFiles(folder: directory, system)
    self.byteLimit = byteLimit
    queue.async {
      let index = PartialIndex(self.files.list(), byteLimit: byteLimit)
      self.state.withLock { $0.index = index }
      for name in self.state.withLock({ $0.index?.surplus() }) ?? [] {
        try? self.files.remove(name)
      }
    }
  }

  /// Removes everything, as at a sign-out.
  ///
  /// Transfers that have begun before the call keep nothing when they end, and find nothing. A cache
  /// over an ``HTTPSource`` that has these partials calls this at its own `removeAll()`, and so at the end
  /// of its ``CacheScope``. Where no cache does, they join a scope themselves:
  ///
  ///     session.add(isPersistent: true) { partials.removeAll() }
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  /// - Throws: ``CacheError/unavailable(layer:underlying:)`` if a file can't be removed.
  @discardableResult
  public func removeAll() -> Signal<Void> { removeAll(.next()) }

  /// The same, at a place in the order of all writes.
  func removeAll(_ revision: Revision) -> Signal<Void> {
    state.withLock { $0.removal = max($0.removal, revision) }
    return done {
      self.state.withLock { $0.index?.removeAll() }
      try self.files.removeAll()
    }
  }

  /// Completes when everything that was to be kept is written.
  public func flush() -> Signal<Void> { done {} }

  private func done(_ work: @escaping @Sendable () throws -> Void) -> Signal<Void> {
    let promise = Promise<Void>()
    queue.async {
      do {
        try work()
        promise.keep(by: .just(()))
      } catch {
        promise.keep(by: .fail(CacheError.unavailable(layer: "partials", underlying: error)))
      }
    }
    return promise.outcome
  }
}

/// The files that are kept, and the removal of all of them.
struct PartialState: Sendable {
  /// Nil until the folder has been read.
  var index: PartialIndex?

  /// The latest removal of everything: transfers that began before find and keep nothing.
  var removal = Revision.none
}

/// The bytes of one transfer among those that are kept.
///
/// If all bytes are removed after the transfer has begun, it finds and keeps none.
struct PartialPlace: Sendable {
  let representation: String

  /// The beginning of the transfer in the order of all writes.
  let revision: Revision
}

extension PartialTransfers {
  /// Sends the first bytes of a resource, or nil.
  func find(_ place: PartialPlace) -> Signal<PartialBody?> {
    found(.whole, place) { self.read($0, place) }
  }

  /// Looks for something on the queue, unless it is known that there is nothing.
  func found<Found>(
    _ kind: PartialFiles.Kind, _ place: PartialPlace,
    _ find: @escaping @Sendable (_ name: String) -> Found?
  ) -> Signal<Found?> {
    .deferred {
      let name = PartialFiles.name(of: place.representation, kind)
      if self.isKnownNotToHave(name) || self.isRemoved(place) { return .just(nil) }
      return Signal { observer, _ in
        self.queue.async {
          let found = find(name)
          // Not here: what breaks off waits for this queue, and the rest may come at once.
          DispatchQueue.global(qos: .userInitiated).async {
            observer.next(found)
            observer.completed()
          }
        }
      }
    }
  }

  func keep(_ partial: PartialBody, at place: PartialPlace) {
    let size = partial.bytes.count
    guard size >= Self.leastByteCount, wait(for: size) else { return }
    let name = PartialFiles.name(of: place.representation)
    // At once, so that a transfer that begins now waits for the bytes to be written.
    state.withLock { $0.index?.expect(name) }
    queue.async {
      let data = PartialRecord(identity: place.representation, partial).data
      let known = PartialHead(identity: place.representation, partial.version)
      self.add(name, place, known, bytes: size, fileSize: data.count) {
        self.files.write(data, name)
      }
      self.state.withLock { $0.index?.endExpecting(name) }
      self.waiting.withLock { $0 -= size }
    }
  }

  /// Removes bytes, unless they are lent.
  func drop(_ representation: String, _ kind: PartialFiles.Kind = .whole) {
    let name = PartialFiles.name(of: representation, kind)
    if isKnownNotToHave(name) { return }
    queue.async { self.remove(name) }
  }

  /// The least that is kept; fewer bytes are asked for again.
  static var leastByteCount: Int { 16 << 10 }

  private func isKnownNotToHave(_ name: String) -> Bool {
    state.withLock { $0.index?.has(name) == false }
  }

  func isRemoved(_ place: PartialPlace) -> Bool { state.withLock { place.revision < $0.removal } }

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
  private func read(_ name: String, _ place: PartialPlace) -> PartialBody? {
    guard state.withLock({ $0.index?.has(name) }) == true, !isRemoved(place) else { return nil }
    let record = files.read(name, byteLimit: byteLimit).flatMap { PartialRecord($0) }
    // What is damaged would be in the way of what is kept later.
    guard let record else {
      remove(name)
      return nil
    }
    return record.identity == place.representation ? record.partial : nil
  }

  /// Takes a file in that `write` writes, unless there is something better, or no room.
  ///
  /// - Returns: Whether it was written.
  @discardableResult
  func add(
    _ name: String, _ place: PartialPlace, _ head: PartialHead, bytes: Int, fileSize: Int,
    _ write: () -> Bool
  ) -> Bool {
    guard !isRemoved(place),
      state.withLock({ $0.index?.admits(name, byteCount: fileSize) }) == true,
      !hasMore(name, than: bytes, of: head)
    else { return false }
    let (surplus, former) =
      state.withLock { $0.index?.add(name, byteCount: fileSize) } ?? ([], nil)
    for name in surplus { try? files.remove(name) }
    if write() { return true }
    state.withLock { $0.index?.undoAdding(name, former: former) }
    return false
  }

  /// Whether as many bytes of the same version are there.
  private func hasMore(_ name: String, than byteCount: Int, of head: PartialHead) -> Bool {
    guard let present = files.footer(name) else { return false }
    return present.head == head && present.byteCount >= byteCount
  }

  func remove(_ name: String) {
    if state.withLock({ $0.index?.remove(name) }) == true { try? files.remove(name) }
  }
}
