import Foundation
import MillpondCore
import MillpondSignals

/// What a body may take that is to become a file.
struct DownloadTerms: Sendable {
  /// The beginning of the download in the order of all writes.
  let revision: Revision

  /// How many bytes the file may have: it is not held in memory, so the limit of bodies is not for it.
  let byteLimit: Int
}

/// A body that is to become a file: what it is made of, and what becomes of it if it breaks off.
struct Download: Sendable {
  let parts: Signal<FilePart>

  /// Whether a file with what has come was moved to where the next one finds it.
  let keep: @Sendable (UnfinishedFile) -> Bool

  /// Notes what has come, in case the process dies; nil at the end.
  var note: @Sendable (UnfinishedFile?) -> Void = { _ in }
}

extension Transfers {
  /// The body of the answer to the request that is the value of `request`.
  func download(
    _ request: Signal<HTTPRequest>, _ strategy: DownloadStrategy, _ terms: DownloadTerms
  ) -> Download {
    let limits = limits.ofStream(atMost: terms.byteLimit)
    let whose = Locked<(version: ResourceVersion, place: PartialPlace, isCurrent: IsCurrent)?>(nil)
    let parts = stream(request) { request, transport, isCurrent in
      guard let partials, request.canBeResumed else {
        return send(request, by: transport, strategy).pieces(limits)
      }
      let place = PartialPlace(representation: request.representation, revision: terms.revision)
      return partials.resumingStream(at: place) { earlier in
        send(request, by: transport, strategy, from: earlier?.resumePoint)
          .pieces(limits, resuming: earlier) { version in
            whose.withLock { $0 = version.map { ($0, place, isCurrent) } }
          }
      }
    }
    guard let partials else { return Download(parts: parts) { _ in false } }
    let journal = PartialJournal(partials)
    return Download(
      parts: parts,
      keep: { file in
        guard let whose = whose.withLock({ $0 }), whose.isCurrent() else { return false }
        return partials.keep(file, whose.version, at: whose.place)
      },
      note: { file in
        guard let file, let whose = whose.withLock({ $0 }), whose.isCurrent() else {
          return journal.end()
        }
        journal.note(file, whose.version, at: whose.place)
      })
  }

  /// The body of the answer in the pieces in which it comes.
  func pieces(of request: Signal<HTTPRequest>) -> Signal<Data> {
    stream(request) { request, transport, _ in
      transport.send(request).pieces(limits.ofStream()).compactMap { part in
        if case .bytes(let bytes) = part { bytes } else { nil }
      }
    }
  }

  private func send(
    _ request: HTTPRequest, by transport: any HTTPTransport, _ strategy: DownloadStrategy,
    from earlier: ResumePoint? = nil
  ) -> Signal<HTTPPart> {
    if strategy == .inRanges, request.canBeResumed {
      return transport.sendInRanges(request, from: earlier, by: ticker)
    }
    return transport.send(earlier.map { request.resuming($0) } ?? request)
  }
}

/// How a body is asked for that is larger than what may be in memory.
enum DownloadStrategy: Sendable {
  /// All at once: the transport waits for whoever takes it.
  case atOnce

  /// A range after the other.
  case inRanges
}
