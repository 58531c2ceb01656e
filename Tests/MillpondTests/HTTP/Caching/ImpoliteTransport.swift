import Foundation
import MillpondCore
import MillpondSignals

@testable import Millpond

/// A transport whose requests never end by themselves, and which sends what a test says to whoever
/// has asked, still there or not.
final class ImpoliteTransport: HTTPTransport {
  private let asked = Locked<[(request: HTTPRequest, observer: Observer<HTTPPart>)]>([])

  var requests: [HTTPRequest] { asked.withLock { $0.map(\.request) } }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    Signal { observer, _ in self.asked.withLock { $0.append((request, observer)) } }
  }

  func head(_ number: Int, _ status: Int, _ fields: String) {
    observer(number).next(.head(HTTPHead(status: status, headers: CachingRow.fields(fields))))
  }

  func body(_ number: Int, _ text: String) { observer(number).next(.body(Data(text.utf8))) }

  func end(_ number: Int, _ error: (any Error)? = nil) {
    if let error { observer(number).failed(error) } else { observer(number).completed() }
  }

  private func observer(_ number: Int) -> Observer<HTTPPart> {
    asked.withLock { $0[number].observer }
  }
}
