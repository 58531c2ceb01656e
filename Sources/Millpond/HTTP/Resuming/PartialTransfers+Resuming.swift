import Foundation
import MillpondSignals

extension PartialTransfers {
  /// Sends a request for the rest of the bytes that are found, or else for the whole.
  ///
  /// If the answer does not match the first bytes, the whole is requested, once.
  ///
  /// - Parameters:
  ///   - found: Sends the first bytes, or nil.
  ///   - kind: The kind of their file.
  ///   - place: The resource and the transfer.
  ///   - send: Sends the request for the rest of its argument, or for the whole if that is nil.
  @_semantics("optimize.sil.specialize.generic.never")
  @inline(never)
  func resuming<Found, Value>(
    _ found: Signal<Found?>, _ kind: PartialFiles.Kind, at place: PartialPlace,
    _ send: @escaping @Sendable (Found?) -> Signal<Value>
  ) -> Signal<Value> {
    found.flatMap { found in
      guard let found else { return send(nil) }
      return send(found).recover { error in
        if error.saysItIsGone || error.saysNothingFits { self.drop(place.representation, kind) }
        return error.saysNothingFits ? send(nil) : .fail(error)
      }
    }
    .onEnd { ending in
      if case .completed = ending { self.drop(place.representation, kind) }
    }
  }
}

extension Error {
  fileprivate var saysNothingFits: Bool { status == 206 || status == 416 }

  /// Whether the resource no longer exists.
  var saysItIsGone: Bool { status.map { StatusMeaning.isGone($0) } ?? false }

  private var status: Int? {
    if case .status(let code, _, _) = self as? TransferError { code } else { nil }
  }
}

/// The first bytes of a streamed body, lent to one transfer.
struct PartialStream: Sendable {
  let resumePoint: ResumePoint
  let file: ResumableFile
}

extension PartialTransfers {
  /// Sends the first bytes of a streamed body, or nil; meanwhile no other transfer finds them.
  func lend(_ place: PartialPlace) -> Signal<PartialStream?> {
    found(.streamed, place) { self.lend($0, place) }
  }

  /// Takes over a file with the first bytes of a body; false if it stays in its place.
  ///
  /// Blocks: not on the queue of files.
  func keep(_ file: UnfinishedFile, _ version: ResourceVersion, at place: PartialPlace) -> Bool {
    queue.sync {
      let name = PartialFiles.name(of: place.representation, .streamed)
      let footer = ResumeFooter(file, version, of: place.representation)
      return add(name, place, version, bytes: file.byteCount, fileSize: file.byteCount) {
        files.take(file, footer, name)
      }
    }
  }

  // On the queue.
  private func lend(_ name: String, _ place: PartialPlace) -> PartialStream? {
    if isRemoved(place) { return nil }
    guard state.withLock({ $0.index?.lend(name) }) == true else { return nil }
    guard let footer = files.footer(name) ?? files.adopt(name),
      footer.head.identity == place.representation
    else {
      state.withLock { $0.index?.endLending(name) }
      try? files.remove(name)
      return nil
    }
    let file = UnfinishedFile(
      path: files.path(name), byteCount: footer.byteCount, checksum: footer.checksum)
    return PartialStream(
      resumePoint: ResumePoint(version: footer.head.version, byteCount: footer.byteCount),
      file: ResumableFile(file) { [state] isTaken in
        state.withLock { state in
          if isTaken {
            state.index?.endLending(name)
          } else {
            state.index?.takeBack(name, byteCount: footer.byteCount)
          }
        }
      })
  }
}
