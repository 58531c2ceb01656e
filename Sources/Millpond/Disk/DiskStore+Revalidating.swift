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
    renew(Renewal(key: key, stamped: stamped, token: token, timeToLive: timeToLive), waits: false)
  }

  private struct Renewal: Sendable {
    let key: String
    let stamped: Stamped<Void>
    var token: FillToken
    let timeToLive: TimeToLive
  }

  /// Finds the stored value and renews it, and begins anew if another one is stored meanwhile.
  ///
  /// - Parameters:
  ///   - renewal: The renewal.
  ///   - waits: Whether this may wait for the disk.
  private func renew(_ renewal: Renewal, waits: Bool) -> Signal<Void> {
    while true {
      let (value, place, isTaken) = state.withLock { state in
        let value = state.index.peek(KeyHash(of: renewal.key))
        let isTaken = if case .write(let write)? = value { write.isTaken } else { false }
        return (value, value.flatMap { state.place(of: $0) }, isTaken)
      }
      let content: DiskWrite.Content
      switch place {
      case .write(let write, let found):
        guard write.isFor(renewal.key), write.validator == renewal.stamped.validator else {
          return .empty
        }
        // If one that the writer has can't be written, the renewal must not store it after all.
        guard !isTaken, case .value = found else { return renewLater(renewal, onceWritten: true) }
        content = found
      case .record(let place):
        let key = renewal.key
        guard let reading = waits ? try? place.read(for: key) : place.readNow(for: key) else {
          return waits ? .empty : renewLater(renewal, onceWritten: false)
        }
        guard let found = self.content(of: reading, for: renewal) else { return .empty }
        content = found
      case .file, nil: return .empty
      }
      let now = options.now()
      let write = DiskWrite(
        key: renewal.key, content, .ofFill(renewal.stamped, renewal.timeToLive, at: now),
        validator: renewal.stamped.validator, revision: .none, renewing: value)
      let decision = decide(
        write, cost: cost(of: write, at: now), renewal.token
      ) { removals.compare(renewal.key, renewal.token) }
      if decision?.isOvertaken != true { return finish(write, renewal.token, decision) }
    }
  }

  /// Returns the content of the record that was found; nil unless it is what the origin confirmed.
  private func content(
    of found: StoredRecord.Reading, for renewal: Renewal
  ) -> DiskWrite.Content? {
    guard case .whole(let record) = found, record.validator == renewal.stamped.validator,
      record.schema == options.form.schema.version
    else { return nil }
    switch record.content {
    case .file(let file): return .file(file)
    case .value(let bytes):
      return options.form.opened(bytes, for: renewal.key, version: record.schema).map { .value($0) }
    }
  }

  /// Renews where it may wait for the disk, after all earlier writes if the value is one of them.
  private func renewLater(_ renewal: Renewal, onceWritten: Bool) -> Signal<Void> {
    var renewal = renewal
    renewal.token = renewal.token.accepted
    return Signal { [renewal] observer, lifetime in
      // On the queue for reading, since observers must not delay other writes.
      let renew: @Sendable () -> Void = {
        self.reading.run(KeyHash(of: renewal.key)) {
          self.renew(renewal, waits: true).run(observer, lifetime)
        }
      }
      if onceWritten { self.afterWriting(renew) } else { renew() }
    }.started()
  }
}
