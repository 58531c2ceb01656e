import Foundation
import Millpond

#if canImport(FoundationNetworking)
  import FoundationNetworking
#else
  import Security
#endif

/// The code of the page "Sessions of your own".
enum SessionsOfYourOwnPage {
  static func pages(in disk: DiskCache) -> HTTPSource<URL> {
    // snippet
    let configuration = URLSessionConfiguration.ephemeral  // its cookies are in memory
    configuration.httpAdditionalHeaders = ["Accept-Language": "de"]
    configuration.httpMaximumConnectionsPerHost = 4
    let transport = URLSessionTransport(
      configuration: configuration, onMetrics: { print($0) })
    let pages = HTTPSource<URL>(transport: HTTPCache(over: transport, in: disk))
    // end
    return pages
  }
}

#if !canImport(FoundationNetworking)
  extension SessionsOfYourOwnPage {
    static func pinned(_ pins: Set<Data>) -> URLSessionTransport {
      // snippet
      let pinned = URLSessionTransport(
        configuration: .ephemeral,
        onChallenge: { challenge in
          guard let trust = challenge.protectionSpace.serverTrust else {
            return (.performDefaultHandling, nil)  // not about the server
          }
          guard SecTrustEvaluateWithError(trust, nil),
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate],
            chain.contains(where: { pins.contains(SecCertificateCopyData($0) as Data) })
          else { return (.cancelAuthenticationChallenge, nil) }
          return (.useCredential, URLCredential(trust: trust))
        })
      // end
      return pinned
    }

    static func films() -> HTTPSource<URL> {
      // snippet
      let patient = URLSessionConfiguration.ephemeral
      patient.waitsForConnectivity = true
      patient.allowsExpensiveNetworkAccess = false
      patient.allowsConstrainedNetworkAccess = false  // Low Data Mode
      let films = HTTPSource<URL>(
        transport: URLSessionTransport(configuration: patient),
        limits: HTTPLimits(idleTimeout: .minutes(10)))
      // end
      return films
    }
  }
#endif
