import Dispatch
import Foundation
import MillpondSignals

extension PartialTransfers {
  /// What `send` makes of the request for the rest, if the beginning is here, or else for all.
  ///
  /// If what is sent for the rest does not fit to the beginning, all is asked for, once.
  func resuming<Value>(
    _ request: HTTPRequest, at place: PartialPlace,
    _ send: @escaping @Sendable (HTTPRequest, PartialBody?) -> Signal<Value>
  ) -> Signal<Value> {
    find(place).flatMap { partial in
      guard let partial else { return send(request, nil) }
      return send(request.resuming(partial.resumePoint), partial).recover { error in
        if error.saysItIsGone || error.saysNothingFits { self.drop(place.representation) }
        return error.saysNothingFits ? send(request, nil) : .fail(error)
      }
    }
    .onEnd { ending in
      if case .completed = ending { self.drop(place.representation) }
    }
  }
}

extension PartialTransfers {
  /// The same, of a body that is streamed: `send` asks for what comes after its beginning, which it
  /// gives back if it has no use for it.
  func resumingStream<Value>(
    at place: PartialPlace, _ send: @escaping @Sendable (PartialStream?) -> Signal<Value>
  ) -> Signal<Value> {
    lend(place).flatMap { stream in
      guard let stream else { return send(nil) }
      return send(stream).recover { error in
        if error.saysItIsGone || error.saysNothingFits {
          self.drop(place.representation, .streamed)
        }
        return error.saysNothingFits ? send(nil) : .fail(error)
      }
    }
    .onEnd { ending in
      if case .completed = ending { self.drop(place.representation, .streamed) }
    }
  }
}

extension Error {
  fileprivate var saysNothingFits: Bool {
    status == 206 || status == 416
  }

  /// Whether there is no such resource any more.
  var saysItIsGone: Bool {
    status == 404 || status == 410
  }

  private var status: Int? {
    if case .status(let code, _, _) = self as? TransferError { code } else { nil }
  }
}

/// The first bytes of a streamed body, for one transfer alone.
struct PartialStream: Sendable {
  let resumePoint: ResumePoint
  let file: LentFile
}

extension PartialTransfers {
  /// What there is of a streamed body, if there is something and no other transfer goes on with it.
  func lend(_ place: PartialPlace) -> Signal<PartialStream?> {
    .deferred {
      let name = PartialFiles.name(of: place.representation, .streamed)
      if self.hasNothing(name, place) { return .just(nil) }
      return Signal { observer, _ in
        self.queue.async {
          let stream = self.lend(name, place)
          // Not here: what breaks off waits for this queue, and the rest may come at once.
          DispatchQueue.global(qos: .userInitiated).async {
            observer.next(stream)
            observer.completed()
          }
        }
      }
    }
  }

  /// Takes a file over with the first bytes of a body; false if it stays where it is.
  ///
  /// Blocks: not on the queue of files.
  func keep(_ file: UnfinishedFile, _ version: ResourceVersion, at place: PartialPlace) -> Bool {
    queue.sync {
      let name = PartialFiles.name(of: place.representation, .streamed)
      let head = PartialHead(identity: place.representation, version)
      return add(name, place, head, bytes: file.byteCount, fileSize: file.byteCount) {
        files.take(file, ResumeFooter(head, file), name)
      }
    }
  }

  // On the queue.
  private func lend(_ name: String, _ place: PartialPlace) -> PartialStream? {
    if isRemoved(place) { return nil }
    guard state.withLock({ $0.index?.lend(name) }) == true else { return nil }
    guard let tail = files.tail(name), tail.head.identity == place.representation else {
      state.withLock { $0.index?.endLending(name) }
      try? files.remove(name)
      return nil
    }
    let file = UnfinishedFile(
      path: files.path(name), byteCount: tail.byteCount, checksum: tail.checksum)
    return PartialStream(
      resumePoint: ResumePoint(version: tail.head.version, byteCount: tail.byteCount),
      file: LentFile(file) { [state] isTaken in
        state.withLock { state in
          if isTaken {
            state.index?.endLending(name)
          } else {
            state.index?.takeBack(name, byteCount: tail.byteCount)
          }
        }
      })
  }
}
