import Foundation
import MillpondCore
import MillpondSignals

/// The parts of a body that becomes a file, and the options of the file's write.
typealias Download = (parts: Signal<FileStreamPart>, options: FileStreamOptions)

extension RequestSender {
  /// Returns the body of the answer to a request, for a file that is handed out.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - strategy: The way to request the body.
  ///   - revision: The revision of the download in the order of all writes.
  ///   - byteLimit: The greatest size of the file in bytes; it replaces the limit on bodies in
  ///     memory.
  func download(
    _ request: Signal<HTTPRequest>, _ strategy: DownloadStrategy, _ revision: Revision,
    byteLimit: Int
  ) -> Download {
    let limits = limits.ofStream(atMost: byteLimit)
    let journal = partials.map { PartialJournal($0) }
    let parts = stream(request) { request, transport, isCurrent in
      request.revalidating { request in
        guard let partials, let journal, request.canBeResumed else {
          return send(request, by: transport, strategy).pieces(limits, .whole(request))
        }
        let request = request.adding(transport.capabilities)
        let place = partials.place(of: request.representation, revision)
        return partials.resuming(partials.lend(place), at: place) { earlier in
          send(request, by: transport, strategy, from: earlier?.resumePoint)
            .pieces(limits, resuming: earlier) { journal.follow($0, at: place, while: isCurrent) }
        }
      }
    }
    var options = FileStreamOptions(handsOut: true)
    if let journal {
      options.keep = { journal.keep($0) }
      options.note = { journal.note($0) }
    }
    return (parts, options)
  }

  /// Returns the body of the answer in pieces, as they arrive.
  func pieces(of request: Signal<HTTPRequest>) -> Signal<Data> {
    stream(request) { request, transport, _ in
      transport.send(request).pieces(limits.ofStream(), .whole(request)).compactMap { part in
        if case .bytes(let bytes) = part { bytes } else { nil }
      }
    }
  }

  private func send(
    _ request: HTTPRequest, by transport: any HTTPTransport, _ strategy: DownloadStrategy,
    from earlier: ResumePoint? = nil
  ) -> Signal<HTTPPart> {
    if strategy == .inRanges, request.canBeResumed {
      return transport.sendInRanges(request, from: earlier)
    }
    return transport.send(earlier.map { request.resuming($0) } ?? request)
  }
}

/// A way to request a body that is too large for memory.
enum DownloadStrategy: Sendable {
  /// One request; the transport waits while the receiver is busy.
  case atOnce

  /// One range after another.
  case inRanges
}
