import MillpondSignals
import MillpondSockets

/// The search for the places of the server, and the connection to one of them.
extension RedisConnectionDriver {
  /// Finds the places of the server; on another thread, if that may block.
  ///
  /// It may block for longer than an attempt lasts; then the next attempt waits for the same call.
  mutating func lookUp(at now: Int64) {
    var settings = settings
    settings.address = node.withState { $0.address }
    if settings.address.isCluster {
      attempt?.isAskingForSlots = true
      return askForSlots()
    }
    if settings.isPlaceKnown {
      return connect(to: Result { () throws(RedisError) in try settings.places() }, at: now)
    }
    attempt?.isLookingUp = true
    beginLookingUp(settings)
  }

  private func beginLookingUp(_ settings: RedisSettings) {
    let isRunning = node.withState { state in
      state.places = nil
      return exchange(&state.isLookingUp, with: true)
    }
    if isRunning { return }
    runInBackground { [node, wake] in
      let places = Result { () throws(RedisError) in try settings.places() }
      node.withState { state in
        state.places = places
        state.isLookingUp = false
      }
      wake.signal()
    }
  }

  func takePlaces() -> Result<ServerPlaces, RedisError>? {
    node.withState { exchange(&$0.places, with: nil) }
  }

  /// Asks the sentinels whether the server is still the primary: one that was cut off from them does
  /// not know that it is none any more.
  mutating func askAgainIfDue(at now: Int64) {
    guard let time = nextInquiry, time <= now, attempt == nil, link != nil else { return }
    nextInquiry = now + settings.limits.heartbeat
    beginLookingUp(settings)
  }

  mutating func act(on found: Result<ServerPlaces, RedisError>, at now: Int64) {
    if attempt?.isLookingUp == true {
      attempt?.isLookingUp = false
      return connect(to: found, at: now)
    }
    guard let service = settings.address.service, attempt == nil, link != nil,
      case .success(let found) = found, found.server != server
    else { return }
    lose(.noPrimary(service: service, reason: "it is \(found.server) now"), at: now)
  }

  private mutating func connect(to found: Result<ServerPlaces, RedisError>, at now: Int64) {
    switch found {
    case .failure(let error): lose(error, at: now)
    case .success(let found):
      server = found.server
      node.withState { $0.counts.address = found.server }
      let places = found.places
      let start = places.isEmpty ? 0 : passedPlaces % places.count
      attempt?.places = Array(places[start...] + places[..<start])
      connectToNext(at: now, .connectionLost)
    }
  }

  /// Tries the next place; without one, the attempt has failed with `error`.
  mutating func connectToNext(at now: Int64, _ error: RedisError) {
    var error = error
    while let place = attempt?.takePlace(at: now) {
      do throws(RedisError) {
        link = try place.link(wake)
        return
      } catch let failure {
        error = failure
      }
    }
    lose(error, at: now)
  }
}
