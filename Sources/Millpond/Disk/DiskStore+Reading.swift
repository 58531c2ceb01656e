import Foundation
import MillpondCore
import MillpondSignals

/// A value that was found.
struct DiskAnswer: Sendable {
  let value: Data
  let times: DiskExpiry
  let validator: Validator?
}

extension DiskStore {
  /// Whether there is a value for `key`, as far as is known without reading it.
  func has(_ key: String) -> Bool {
    let key = key.canonicalText
    let (hash, removed) = (KeyHash(of: key), running.last(of: key))
    let found = state.withLock { state -> IndexedValue? in
      if removed > .none, state.index.isOlder(hash, than: removed) { return nil }
      return state.index.peek(hash)
    }
    return switch found {
    case .write(let write):
      write.isFor(key)
        && (write.times.expiresAt == .never || write.times.expiresAt > options.now())
    case .location(let location):
      location.expiry == .max || location.expiry > options.now().wholeSeconds
    case nil: false
    }
  }

  /// Whether there is an entry for a key, expired or not.
  func hasEntry(_ hash: KeyHash) -> Bool {
    state.withLock { $0.index.slot(of: hash) != nil }
  }

  /// The result of a lookup.
  enum Reading {
    case found(DiskAnswer)
    case missing

    /// The lookup has to wait for the disk: see ``readLater(_:_:_:)``.
    case waits
  }

  /// The place of a value.
  enum Place {
    case write(DiskWrite, DiskWrite.Content)
    case record(RecordPlace)
  }

  /// Looks a value up on a queue where that may wait for the disk; also one that has expired, and
  /// that its origin may confirm.
  func readLater(
    _ key: String, _ lifetime: Lifetime,
    _ done: @escaping @Sendable (Result<DiskAnswer?, CacheError>) -> Void
  ) {
    reading.run(KeyHash(of: key)) {
      if lifetime.isEnded { return }
      do {
        let reading = try self.read(key, isUse: false, waits: true, findsExpired: true)
        if case .found(let answer) = reading { done(.success(answer)) } else { done(.success(nil)) }
      } catch {
        done(.failure(CacheError(disk: error, self.folder, key: key)))
      }
    }
  }

  /// Looks up the value of `key`; creates no closure, since most hits need no more than this.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isUse: Whether the lookup counts as a use of the entry.
  ///   - waits: Whether the lookup may wait for the disk.
  ///   - findsExpired: Whether a value is found that has expired, and that its origin may confirm.
  /// - Throws: Errors that say nothing about the value, such as a locked device; without waiting
  ///   only that the store has just been closed.
  func read(
    _ key: String, isUse: Bool = true, waits: Bool, findsExpired: Bool = false
  ) throws -> Reading {
    let hash = KeyHash(of: key)
    var isUse = isUse
    while let place = try find(key, hash, isUse: isUse) {
      isUse = false
      switch place {
      case .write(let write, let content):
        let isOver = write.times.expiresAt <= options.now()
        guard write.isFor(key), !isOver || findsExpired && write.validator != nil else {
          return .missing
        }
        switch content {
        case .value(let value):
          return .found(DiskAnswer(value: value, times: write.times, validator: write.validator))
        case .file(let file):
          guard waits else { return .waits }
          // If the file is gone, the write has been written or replaced since.
          if let value = try folder.readLargeValue(file) {
            return .found(DiskAnswer(value: value, times: write.times, validator: write.validator))
          }
        case .removal, .removalOfAll: return .missing
        }
      case .record(let place):
        guard let reading = waits ? try place.read(for: key) : place.readNow(for: key) else {
          return .waits
        }
        switch reading {
        case .ofOtherKey: return .missing
        case .damaged: if drop(place, key, { $0.damages += 1 }) { return .missing }
        case .whole(let record)
        where record.times.isOver(at: options.now()) && !(findsExpired && record.validator != nil):
          // Its origin may confirm it.
          if record.validator != nil { return .missing }
          if drop(place, key, { $0.expirations += 1 }) { return .missing }
        case .whole(let record):
          switch record.content {
          case .value(let value): return open(value, record, key)
          case .file(let file):
            guard waits else { return .waits }
            if let value = try folder.readLargeValue(file) { return open(value, record, key) }
            if drop(place, key, { $0.damages += 1 }) { return .missing }
          }
        }
      }
    }
    return .missing
  }

  /// Returns the place of a value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - hash: The hash of the key.
  ///   - isUse: Whether the lookup counts as a use of the entry.
  /// - Throws: An error if the store has just been closed.
  func find(_ key: String, _ hash: KeyHash, isUse: Bool) throws -> Place? {
    let removed = running.last(of: key)
    var lost: RecordLocation?
    let place = state.withLock { state -> Place? in
      if removed > .none, state.index.isOlder(hash, than: removed) { return nil }
      guard let value = isUse ? state.index.find(hash) : state.index.peek(hash) else { return nil }
      if let place = state.place(of: value) { return place }
      if case .location(let location) = value { lost = location }
      return nil
    }
    if let lost {
      if isClosed { throw DiskError.closed(folder: path) }
      _ = forget(hash, at: lost, key: nil) { _ in }
    }
    return place
  }

  private func open(_ value: Data, _ record: StoredRecord, _ key: String) -> Reading {
    guard let plain = options.form.opened(value, for: key, version: record.schema) else {
      return .missing
    }
    return .found(
      DiskAnswer(value: plain, times: record.times, validator: record.validator))
  }

  /// Counts a get that has found a usable value, or has not; whoever uses the value knows.
  func count(isHit: Bool) {
    state.withLock { state in
      if isHit { state.index.statistics.hits += 1 } else { state.index.statistics.misses += 1 }
    }
  }

  /// Drops a record; false if it was replaced or moved meanwhile.
  private func drop(
    _ place: RecordPlace, _ key: String, _ count: (inout DiskStatistics) -> Void
  ) -> Bool {
    forget(KeyHash(of: key), at: place.location, key: key, count)
  }
}

extension DiskState {
  /// Returns the place of a value; nil if its segment no longer exists.
  @inline(__always)  // in every get
  func place(of value: IndexedValue) -> DiskStore.Place? {
    switch value {
    // The content is read under the lock, since it may be released as soon as that is free.
    case .write(let write): .write(write, write.content)
    case .location(let location):
      segments[location.segment].map { .record(RecordPlace(segment: $0, location: location)) }
    }
  }
}
