import Foundation
import MillpondSignals

extension PartialTransfers {
  /// Sends a request for the rest of the bytes that are found, or else for the whole.
  ///
  /// If the answer does not match the first bytes, the whole is requested, once.
  ///
  /// - Parameters:
  ///   - found: Sends the first bytes, or nil.
  ///   - place: The resource and the transfer.
  ///   - send: Sends the request for the rest of its argument, or for the whole if that is nil.
  @_semantics("optimize.sil.specialize.generic.never")
  @inline(never)
  func resuming<Found, Value>(
    _ found: Signal<Found?>, at place: PartialPlace,
    _ send: @escaping @Sendable (Found?) -> Signal<Value>
  ) -> Signal<Value> {
    found.flatMap { found in
      guard let found else { return send(nil) }
      return send(found).recover { error in
        if error.saysItIsGone || error.saysNothingFits { self.drop(place) }
        return error.saysNothingFits ? send(nil) : .fail(error)
      }
    }
    .onEnd { ending in
      if case .completed = ending { self.drop(place) }
    }
  }
}

extension Error {
  fileprivate var saysNothingFits: Bool {
    status.map { StatusMeaning.asksForWhole($0) } ?? false
  }

  /// Whether the resource no longer exists.
  var saysItIsGone: Bool { status.map { StatusMeaning.isGone($0) } ?? false }

  private var status: Int? {
    if case .status(let code, _, _) = self as? TransferError { code } else { nil }
  }
}

/// The first bytes of a body in a file, lent to one transfer.
struct PartialStream: Sendable {
  let resumePoint: ResumePoint
  let file: ResumableFile
}

extension PartialTransfers {
  /// Sends the first bytes of a body as a file, or nil; meanwhile no other transfer finds them.
  func lend(_ place: PartialPlace) -> Signal<PartialStream?> {
    found(place) { self.lent($0, place) }
  }

  // On the queue.
  private func lent(_ head: PartialHead, _ place: PartialPlace) -> PartialStream? {
    let name = place.name
    // Bytes from memory may end where their checksum can't go on.
    guard FileChecksum.canGoOn(after: head.byteCount),
      state.withLock({ $0.index?.lend(name) }) == true
    else { return nil }
    let file = UnfinishedFile(
      path: files.path(name), byteCount: head.byteCount, checksum: head.checksum)
    return PartialStream(
      resumePoint: head.resumePoint,
      file: ResumableFile(file) { isTaken in
        if isTaken {
          // Before the taker's own journal begins there.
          self.queue.async { self.files.removeHead(name) }
          self.state.withLock { $0.index?.endLending(name) }
        } else {
          self.state.withLock { $0.index?.takeBack(name, byteCount: head.byteCount) }
        }
      })
  }
}
