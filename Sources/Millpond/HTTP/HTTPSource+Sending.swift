import Foundation
import MillpondCore
public import MillpondSignals

extension HTTPSource {
  /// Sends a request of any method, and returns its complete answer.
  ///
  ///     let api = HTTPSource(authorization: account)
  ///     let receipt = try await api.send(.post(url, .json(order))).value.json(Receipt.self)
  ///
  ///     api.send(.put(url, .file(film, contentType: "video/mp4")))
  ///       .subscribe(onProgress: { bar.show($0) }, onFailed: { show($0) }, onCompleted: close)
  ///
  /// It takes part in the credentials and limits of this source, but in nothing that is layered
  /// over it: only gets are shared in flight, cached, hedged and repeated, and a get sends only
  /// requests that are safe (``HTTPRequest/isSafe``).
  ///
  /// The subscription sends the request. One that is not idempotent is sent once: a further
  /// subscription, as by `retry`, fails with ``TransferError/notRepeated(method:underlying:url:)``
  /// unless the former failed before anything was sent. Say that a request may be repeated with
  /// ``HTTPRequest/assumedIdempotent()``.
  ///
  /// Progress counts the bytes of the request's body until they are sent, and then those of the
  /// answer, with its own total. It begins anew if a redirect asks for the body again. For at most
  /// 64 KiB the first and the last step are left out, so that the answer to an upload usually has
  /// none.
  ///
  /// - Parameters:
  ///   - request: The request. Its time limit is ``HTTPLimits/totalTimeout``, or
  ///     ``HTTPLimits/streamTimeout`` if its body is a file or a stream; a body that is being sent
  ///     is no silence.
  ///   - statuses: The statuses that are answers, for example `200..<500` to read the body of a
  ///     refusal. Others fail with ``TransferError/status(code:headers:url:)``. A transport follows
  ///     redirects.
  /// - Throws: ``TransferError``; the transport's own errors, and that of a body that is a stream,
  ///   unchanged.
  public func send(
    _ request: HTTPRequest, accepting statuses: Range<Int> = 200..<300
  ) -> Signal<HTTPResponse> {
    let response = transfers.response(to: request, statuses)
    return request.isIdempotent ? response : response.once(request)
  }
}

extension Signal {
  /// Lets a further run fail, unless the former ones failed before anything was sent.
  fileprivate func once(_ request: HTTPRequest) -> Signal {
    let attempt = Locked(Attempt())
    return .deferred {
      let (isFirst, failure) = attempt.withLock { attempt in
        (!exchange(&attempt.isSent, with: true), attempt.failure)
      }
      guard isFirst else {
        let error = TransferError.notRepeated(method: request.method, underlying: failure)
        return .fail(error.naming(request.url))
      }
      return recover { error in
        attempt.withLock { attempt in
          attempt.isSent = !error.saysNothingWasSent
          attempt.failure = error
        }
        return .fail(error)
      }
    }
  }
}

/// The first sending of a request, and its failure.
private struct Attempt: Sendable {
  var isSent = false
  var failure: (any Error)?
}
