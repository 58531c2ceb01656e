import Foundation
import MillpondSignals

/// A body that is to become a file: what it is made of, and what becomes of it if it breaks off.
struct Download: Sendable {
  let parts: Signal<FilePart>

  /// Whether a file with what has come was moved to where the next one finds it.
  let keep: @Sendable (UnfinishedFile) -> Bool
}

extension Transfers {
  /// The body of the answer to the request that is the value of `request`.
  func download(_ request: Signal<HTTPRequest>) -> Download {
    guard let partials else {
      return Download(parts: stream(request) { transport.send($0).pieces(limits) }) { _ in false }
    }
    let head = Locked<PartialHead?>(nil)
    let parts = stream(request) { request in
      partials.resumingStream(request) { request, earlier in
        transport.send(request).pieces(limits, resuming: earlier) { edition in
          head.withLock { $0 = edition.map { PartialHead(identity: request.identity, $0) } }
        }
      }
    }
    return Download(parts: parts) { file in
      head.withLock { $0 }.map { partials.keep(file, $0) } ?? false
    }
  }

  /// The body of the answer in the pieces in which it comes.
  func pieces(of request: Signal<HTTPRequest>) -> Signal<Data> {
    stream(request) { request in
      transport.send(request).pieces(limits).compactMap { part in
        if case .bytes(let bytes) = part { bytes } else { nil }
      }
    }
  }
}
