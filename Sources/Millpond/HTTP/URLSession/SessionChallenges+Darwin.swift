#if !canImport(FoundationNetworking)
  public import Foundation

  extension URLSessionTransport {
    /// Creates a transport whose session is configured by the caller, who also decides about
    /// connections: whether a server's certificate is trusted, or which certificate the client
    /// shows.
    ///
    /// The configuration and the metrics are as without `onChallenge`. Not on Linux, whose sessions
    /// ask about no connection: an initialiser that would check nothing is not there.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - onMetrics: Receives the times of each exchange with an origin.
    ///   - onChallenge: Answers a challenge, in a task. An answer of 401 that asks for a name and
    ///     a password is none, but an answer of the origin: ``HTTPAuthorization`` has those. After
    ///     a refusal (`.cancelAuthenticationChallenge`) the request fails with the `URLError` that
    ///     says what was refused, such as `.serverCertificateUntrusted`.
    public convenience init(
      configuration: URLSessionConfiguration,
      onMetrics: (@Sendable (TransferMetrics) -> Void)? = nil,
      onChallenge:
        @escaping @Sendable (URLAuthenticationChallenge) async -> (
          URLSession.AuthChallengeDisposition, URLCredential?
        )
    ) {
      self.init(
        SessionSettings(configuration, onMetrics: onMetrics, onChallenge: onChallenge))
    }
  }

  extension SessionTransfers {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard let onChallenge = settings.onChallenge, challenge.protectionSpace.isOfConnection else {
        return completionHandler(.performDefaultHandling, nil)
      }
      let queue = session.delegateQueue
      let code = challenge.protectionSpace.refusal
      let transfer = transfer(of: task)
      Task {
        let (disposition, credential) = await onChallenge(challenge)
        queue.addOperation {
          if disposition == .cancelAuthenticationChallenge { transfer?.refuse(code) }
          completionHandler(disposition, credential)
        }
      }
    }
  }

  extension URLProtectionSpace {
    /// Whether the challenge is about the connection, and not the origin's answer to a request.
    fileprivate var isOfConnection: Bool {
      let ofAnswers = [
        NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic,
        NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTMLForm,
      ]
      return isProxy() || !ofAnswers.contains(authenticationMethod)
    }

    /// The code of the error with which a request fails after a refusal.
    fileprivate var refusal: URLError.Code {
      switch authenticationMethod {
      case NSURLAuthenticationMethodServerTrust: .serverCertificateUntrusted
      case NSURLAuthenticationMethodClientCertificate: .clientCertificateRequired
      default: .userAuthenticationRequired
      }
    }
  }
#endif
