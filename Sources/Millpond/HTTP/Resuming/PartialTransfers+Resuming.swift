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
      return send(request.resuming(partial.beginning), partial).recover { error in
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
