import Dispatch
public import Foundation
public import MillpondSignals

/// The body of a request: bytes in memory, a file, or a stream of pieces.
///
///     .json(order)
///     .form(["name": "Ada", "topic": "engines"])
///     .file(film, contentType: "video/mp4")
///     .stream(recording.pieces, contentType: "audio/flac")
///
/// A body of several parts (`multipart/form-data`) is a ``data(_:contentType:)`` or a stream that
/// the caller puts together.
public struct HTTPBody: Sendable {
  /// The place of the bytes, for transports that treat them differently.
  public enum Content: Sendable {
    /// Bytes in memory.
    case data(Data)

    /// A file, which must not change until the request has ended.
    case file(URL)

    /// Pieces that are made while they are sent.
    case stream(Signal<Data>)
  }

  /// The place of the bytes; ``pieces`` returns them whatever it is.
  public let content: Content

  /// The media type, sent as `Content-Type` unless the request has such a field.
  public let contentType: String

  private let statedLength: Int?

  private init(_ content: Content, _ contentType: String, length: Int? = nil) {
    self.content = content
    self.contentType = contentType
    statedLength = length
  }

  /// Returns a body of bytes in memory.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - contentType: The media type.
  public static func data(
    _ bytes: Data, contentType: String = "application/octet-stream"
  ) -> HTTPBody {
    HTTPBody(.data(bytes), contentType)
  }

  /// Returns a body of the bytes of a file, which is read while it is sent.
  ///
  /// The request fails if the file does not exist, or ends early.
  ///
  /// - Parameters:
  ///   - url: The URL of the file.
  ///   - contentType: The media type.
  public static func file(
    _ url: URL, contentType: String = "application/octet-stream"
  ) -> HTTPBody {
    HTTPBody(.file(url), contentType)
  }

  /// Returns a body of pieces.
  ///
  /// Each sending of the request runs the signal anew, also one after a redirect or a refusal of
  /// credentials. Its failure fails the request, and the end of the request disposes of it. A
  /// signal that never ends keeps the request running until its time limit.
  ///
  /// - Parameters:
  ///   - pieces: The bytes, in pieces of any size.
  ///   - length: The number of bytes in all, if it is known. The request fails if the pieces are
  ///     more or fewer.
  ///   - contentType: The media type.
  public static func stream(
    _ pieces: Signal<Data>, length: Int? = nil, contentType: String = "application/octet-stream"
  ) -> HTTPBody {
    HTTPBody(.stream(pieces), contentType, length: length)
  }

  /// Returns a body of the elements of a sequence, which can be sent only once.
  ///
  /// A redirect that asks for the body again, or a refusal of credentials, fails the request. Use a
  /// file, or a signal that can run again, if that may happen.
  ///
  /// - Parameters:
  ///   - pieces: The bytes, in pieces of any size.
  ///   - length: The number of bytes in all, if it is known. The request fails if the pieces are
  ///     more or fewer.
  ///   - contentType: The media type.
  public static func stream<Failure>(
    _ pieces: some AsyncSequence<Data, Failure> & Sendable, length: Int? = nil,
    contentType: String = "application/octet-stream"
  ) -> HTTPBody {
    let isSent = Locked(false)
    let once = Signal<Data>.deferred {
      if isSent.withLock({ exchange(&$0, with: true) }) { return .fail(TransferError.sentAlready) }
      return .from(pieces)
    }
    return HTTPBody(.stream(once), contentType, length: length)
  }
}

extension HTTPBody {
  /// The number of bytes; nil if it is unknown, or the file can't be found.
  ///
  /// For a file this asks the system each time.
  public var length: Int? {
    switch content {
    case .data(let bytes): bytes.count
    case .file(let url):
      (try? FileSystem().status(url.resolvedPath)).flatMap { $0.isRegular ? $0.size : nil }
    case .stream: statedLength
    }
  }

  /// The bytes in pieces, for a transport; each subscription sends them anew.
  ///
  /// The signal fails if the file can't be read, the stream fails, or the bytes are not as many as
  /// ``length``. It waits while a piece is being delivered. A file is read on a queue of the
  /// system.
  public var pieces: Signal<Data> {
    switch content {
    case .data(let bytes): .just(bytes)
    case .file(let url): .reading(url)
    case .stream(let pieces): statedLength.map { pieces.counted(to: $0) } ?? pieces
    }
  }
}

extension HTTPBody: CustomStringConvertible {
  /// The media type and the number of bytes, without the bytes.
  public var description: String {
    "\(contentType), " + (length.map { "\($0) bytes" } ?? "of unknown length")
  }
}

extension HTTPBody: CustomReflectable {
  /// No children, so that a dump shows no bytes.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension URL {
  /// The path without symbolic links, which the disk's own files never are.
  var resolvedPath: String { resolvingSymlinksInPath().path(percentEncoded: false) }
}

extension Signal<Data> {
  /// Reads a file in pieces of 256 KiB.
  fileprivate static func reading(_ url: URL) -> Signal {
    Signal { observer, lifetime in
      runInBackground(qos: .utility) {
        do {
          let file = try FileSystem().open(url.resolvedPath, .reading)
          let status = try file.status()
          guard status.isRegular else { throw TransferError.unreadable(url) }
          var place = 0
          while place < status.size, !lifetime.isEnded {
            let count = Swift.min(256 << 10, status.size - place)
            guard let piece = try file.read(count, at: place) else {
              throw TransferError.wrongLength(stated: status.size)
            }
            place += piece.count
            if !lifetime.isEnded { observer.next(piece) }
          }
          if !lifetime.isEnded { observer.completed() }
        } catch {
          if !lifetime.isEnded { observer.failed(error) }
        }
      }
    }
  }

  /// Fails unless the pieces have as many bytes as stated.
  fileprivate func counted(to length: Int) -> Signal {
    Signal { observer, lifetime in
      let count = SerialState(0)
      let upstream = lifetime.child()
      let fail = { @Sendable in
        upstream.end()
        observer.failed(TransferError.wrongLength(stated: length))
      }
      run(
        Observer(
          next: { piece in
            if upstream.isEnded { return }
            count.value += piece.count
            if count.value > length { fail() } else { observer.next(piece) }
          },
          other: { event in
            if upstream.isEnded { return }
            if case .completed = event, count.value < length { return fail() }
            observer.other(event)
          }), upstream)
    }
  }
}
