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
  func download(_ request: Signal<HTTPRequest>, _ asking: Asking) -> Download {
    guard let partials else {
      return Download(parts: stream(request) { send($0, asking).pieces(limits) }) { _ in false }
    }
    let head = Locked<PartialHead?>(nil)
    let parts = stream(request) { request in
      partials.resumingStream(request.identity) { earlier in
        send(request, asking, from: earlier?.beginning)
          .pieces(limits, resuming: earlier) { edition in
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

  private func send(
    _ request: HTTPRequest, _ asking: Asking, from earlier: Beginning? = nil
  ) -> Signal<HTTPPart> {
    // Whoever asks for a range of their own wants that one.
    if asking == .inRanges, request.headers["Range"] == nil {
      return transport.sendInRanges(request, from: earlier, by: ticker)
    }
    return transport.send(earlier.map { request.resuming($0) } ?? request)
  }
}
