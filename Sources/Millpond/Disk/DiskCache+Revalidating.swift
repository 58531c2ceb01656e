import MillpondCore
import MillpondSignals

extension DiskCache {
  /// Returns the value of any age as a file, also one that has expired, if it has a validator.
  func staleFile(for key: String) -> Signal<DiskFile>? {
    let key = key.canonicalText
    if let store = access.store, !store.hasEntry(KeyHash(of: key)) { return nil }
    return withOpenStore { store, observer, lifetime in
      store.file(for: key, findsExpired: true, lifetime) { result in
        // A value that can't be read is fetched anew.
        if case .success(let file?) = result, file.validator != nil { observer.next(file) }
        observer.completed()
      }
    }
  }

  /// Makes a stored value new that its origin has confirmed.
  func renew(
    _ key: String, _ stamped: Stamped<Void>, _ token: FillToken
  ) -> Signal<Void> {
    let key = key.canonicalText
    let (store, timeToLive) = access.forWriting
    let accepted = token.accepted
    return carryOut(by: store, token.revision) { store, waits in
      store.renew(key, stamped, waits ? accepted : token, timeToLive)
    }
  }
}
