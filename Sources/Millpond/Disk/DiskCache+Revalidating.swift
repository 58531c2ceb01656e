public import Foundation
public import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// Returns the value of any age as a file, also one that has expired, if it has a validator.
  func staleFile(for key: String) -> Signal<DiskFile>? {
    let key = key.canonicalText
    if let store = access.store, !store.hasEntry(KeyHash(of: key)) { return nil }
    return withOpenStore { store, observer, lifetime in
      store.file(for: key, findsExpired: true, lifetime) { result in
        // A miss has been counted before.
        if case .success(nil) = result { store.forgetMiss() } else { store.forgetHit() }
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
    return store?.renew(key, stamped, token, timeToLive)
      ?? onceOpen { [token = token.accepted] in $0.renew(key, stamped, token, timeToLive) }
  }

  /// Returns the value of any age, also one that has expired, if it has a validator.
  public func staleValue(of key: String) -> Signal<Stamped<Data>>? {
    let key = key.canonicalText
    if let store = access.store, !store.hasEntry(KeyHash(of: key)) { return nil }
    return withOpenStore { store, observer, lifetime in
      let send = { @Sendable (answer: DiskAnswer) in
        observer.next(
          Stamped(
            answer.value, age: answer.times.age(at: store.options.now()),
            validator: answer.validator))
      }
      // A value that can't be read is fetched anew.
      switch try? store.readStale(key, waits: false) {
      case .found(let answer)?: send(answer)
      case .waits(let place)?:
        return store.reading.run(KeyHash(of: key)) {
          if lifetime.isEnded { return store.forgetHit() }
          let found = try? store.readStale(key, from: place, waits: true)
          if case .found(let answer)? = found { send(answer) }
          observer.completed()
        }
      case .missing?, nil: break
      }
      observer.completed()
    }
  }
}
