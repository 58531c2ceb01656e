import Foundation
import MillpondCore
import MillpondSignals

extension DiskStore {
  /// Makes a stored value new that its origin has confirmed, if it is still stored.
  ///
  /// A value that has a file keeps it: a record of a few hundred bytes with the new times replaces
  /// the former one. A smaller value is written again with its record.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - stamped: The new times, the validator, and a closure that returns the value.
  ///   - token: The token of the renewal.
  ///   - timeToLive: The time to live of a value without one of its own.
  func renew(
    _ key: String, _ stamped: Stamped<@Sendable () throws -> Data>, _ token: FillToken,
    _ timeToLive: TimeToLive
  ) -> Signal<Void> {
    let renewal = Renewal(key: key, stamped: stamped, token: token, timeToLive: timeToLive)
    switch state.withLock({ $0.place(of: KeyHash(of: key)) }) {
    case .write(let write, _):
      let isSame = write.isFor(key) && write.validator == stamped.validator
      return isSame ? rewrite(renewal) : .empty
    case .record(let place): return renew(place, renewal)
    case .file, nil: return .empty
    }
  }

  private struct Renewal: Sendable {
    let key: String
    let stamped: Stamped<@Sendable () throws -> Data>
    var token: FillToken
    let timeToLive: TimeToLive
  }

  private func renew(_ place: RecordPlace, _ renewal: Renewal) -> Signal<Void> {
    if let found = place.readNow(for: renewal.key) { return renew(found, renewal) }
    var renewal = renewal
    renewal.token = renewal.token.accepted
    return Signal { [renewal] observer, lifetime in
      self.reading.run(KeyHash(of: renewal.key)) {
        let found = try? place.read(for: renewal.key)
        self.renew(found, renewal).run(observer, lifetime)
      }
    }.started()
  }

  private func renew(_ found: StoredRecord.Reading?, _ renewal: Renewal) -> Signal<Void> {
    guard case .whole(let record)? = found, record.validator == renewal.stamped.validator,
      record.schema == options.form.schema.version
    else { return .empty }
    guard case .file(let file) = record.content else { return rewrite(renewal) }
    let now = options.now()
    let write = DiskWrite(
      key: renewal.key, .file(file), .ofFill(renewal.stamped, renewal.timeToLive, at: now),
      validator: record.validator, revision: .none, isRenewal: true)
    return keep(write, renewal.token, at: now)
  }

  private func rewrite(_ renewal: Renewal) -> Signal<Void> {
    do {
      let stamped = try renewal.stamped.map { try $0() }
      return fill(
        renewal.key, stamped, renewal.token, renewal.timeToLive, at: options.now())
    } catch {
      return .fail(error)
    }
  }

  /// Looks up a value that has expired or is too old, if it has a validator; it counts in no
  /// statistics.
  func readStale(
    _ key: String, from place: Place? = nil, waits: Bool
  ) throws -> Reading {
    do {
      let reading = try read(key, from: place, waits: waits, findsExpired: true)
      switch reading {
      case .found(let answer):
        forgetHit()
        return answer.validator == nil ? .missing : reading
      case .missing: forgetMiss()
      case .waits: break
      }
      return reading
    } catch {
      forgetHit()
      throw error
    }
  }
}

extension DiskState {
  /// Returns the place of a key's value, without counting this as a use.
  fileprivate func place(of hash: KeyHash) -> DiskStore.Place? {
    switch index.peek(hash) {
    case .write(let write): .write(write, write.content)
    case .location(let location):
      segments[location.segment].map {
        .record(RecordPlace(segment: $0, location: location))
      }
    case nil: nil
    }
  }
}
