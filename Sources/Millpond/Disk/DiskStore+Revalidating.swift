import Foundation
import MillpondCore
import MillpondSignals

extension DiskStore {
  /// Makes a stored value new that its origin has confirmed, if it is still stored.
  ///
  /// A value that has a file keeps it: a record of a few hundred bytes with the new times replaces
  /// the former one. A smaller value is written again with its record. It is the
  /// value that is stored now, since a later get may have replaced the caller's, also where neither
  /// has a validator.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - stamped: The new times, and the validator.
  ///   - token: The token of the renewal.
  ///   - timeToLive: The time to live of a value without one of its own.
  func renew(
    _ key: String, _ stamped: Stamped<Void>, _ token: FillToken, _ timeToLive: TimeToLive
  ) -> Signal<Void> {
    renew(RenewalRequest(key: key, stamped: stamped, token: token, timeToLive: timeToLive))
  }

  private struct RenewalRequest: Sendable {
    let key: String
    let stamped: Stamped<Void>
    var token: FillToken
    let timeToLive: TimeToLive
  }

  private func renew(_ renewal: RenewalRequest) -> Signal<Void> {
    let hash = KeyHash(of: renewal.key)
    let place = state.withLock { state in
      state.index.peek(hash).flatMap { state.place(of: $0) }
    }
    switch place {
    case .write(let write, let content):
      guard write.isFor(renewal.key), write.validator == renewal.stamped.validator else {
        return .empty
      }
      if case .value = content { return renew(content, renewal, in: .write(write)) }
      return renewOnceWritten(renewal)
    case .record(let place): return renew(place, renewal)
    case .file, nil: return .empty
    }
  }

  /// Renews a value that has been streamed into a file, once its record is written.
  private func renewOnceWritten(_ renewal: RenewalRequest) -> Signal<Void> {
    var renewal = renewal
    renewal.token = renewal.token.accepted
    return Signal { [renewal] observer, lifetime in
      // Observers must not delay other writes.
      self.afterWriting {
        self.reading.run(KeyHash(of: renewal.key)) { self.renew(renewal).run(observer, lifetime) }
      }
    }.started()
  }

  private func renew(_ place: RecordPlace, _ renewal: RenewalRequest) -> Signal<Void> {
    if let found = place.readNow(for: renewal.key) {
      return renew(found, renewal, at: place.location)
    }
    var renewal = renewal
    renewal.token = renewal.token.accepted
    return Signal { [renewal] observer, lifetime in
      self.reading.run(KeyHash(of: renewal.key)) {
        let found = try? place.read(for: renewal.key)
        self.renew(found, renewal, at: place.location).run(observer, lifetime)
      }
    }.started()
  }

  private func renew(
    _ found: StoredRecord.Reading?, _ renewal: RenewalRequest, at location: RecordLocation
  ) -> Signal<Void> {
    guard case .whole(let record)? = found, record.validator == renewal.stamped.validator,
      record.schema == options.form.schema.version
    else { return .empty }
    switch record.content {
    case .file(let file): return renew(.file(file), renewal, in: .location(location))
    case .value(let bytes):
      guard let value = options.form.opened(bytes, for: renewal.key, version: record.schema) else {
        return .empty
      }
      return renew(.value(value), renewal, in: .location(location))
    }
  }

  /// Writes the value that was found with its new times, or looks it up again if another one is
  /// stored now, or if it has moved.
  private func renew(
    _ content: DiskWrite.Content, _ renewal: RenewalRequest, in place: IndexedValue
  ) -> Signal<Void> {
    let now = options.now()
    let write = DiskWrite(
      key: renewal.key, content, .ofFill(renewal.stamped, renewal.timeToLive, at: now),
      validator: renewal.stamped.validator, revision: .none, .of(place))
    let outcome = keep(write, renewal.token, at: now)
    if case .outdated = write.renewal { return renew(renewal) }
    return outcome
  }
}
