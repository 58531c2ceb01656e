public import Foundation
public import MillpondCore
public import MillpondSignals

/// Keeps values in a folder, up to a number of bytes, dropping what has not been used for longest.
///
///     let cache = DiskCache(directory: folder, byteLimit: .mebibytes(256))
///     cache.set(data, for: "a")
///     let data = try await cache.get("a").value
///
/// Each value is a file, written whole or not at all; damage is a miss. A value that is larger than
/// the limit is not stored, and nothing else is dropped for it; what was kept for its key is. Keys
/// are compared byte by byte, so two that are equal as strings may be two keys here. Other files in
/// the folder are left alone.
///
/// What is told is seen by gets at once, though it is written later. If it can't be written, the
/// outcome fails with ``CacheError/unavailable(layer:underlying:)``, and the key has no value. It is
/// not synced: a power cut may take what was written last, but never leaves half of it.
///
/// Two caches of one folder share what is in it. With another limit, or in another process, the
/// later one fails with ``CacheError/inUse(layer:)``; if the folder can't be made or read, it fails
/// with ``CacheError/unavailable(layer:underlying:)``.
///
/// - Note: Any thread, none is blocked. Values arrive on a thread of the cache, which waits for the
///   observer.
/// - Complexity: O(1) a get, a set or a removal; O(*n*) for `removeAll`, and O(*n* log *n*) to open.
public final class DiskCache: Cache {
  private let access: StoreAccess

  /// Keeps values in `directory`, which is made if it is missing.
  ///
  /// Returns at once; what is asked and told waits until the folder is open.
  ///
  /// - Parameters:
  ///   - directory: Of this cache alone; only its owner can enter it, if it is made here.
  ///   - byteLimit: Upper bound for the files' sizes, which are a little more than the values'; of
  ///     zero or less, nothing is stored.
  public init(directory: URL, byteLimit: Int) {
    access = StoreAccess(directory: directory, byteLimit: byteLimit)
  }

  deinit {
    access.end()
  }

  /// The value, if it is here and young enough; what is told but not yet written, at once.
  public func get(_ key: String, _ lookup: Lookup) -> Signal<Data> {
    getStamped(key, lookup).map { $0.value }
  }

  /// The value, if it is here and young enough, with its age by the calendar.
  ///
  /// A value from the future counts as a hundred years old.
  public func getStamped(_ key: String, _ lookup: Lookup) -> Signal<Stamped<Data>> {
    Signal { observer, lifetime in
      self.access.use { answer in
        if lifetime.isEnded { return }
        switch answer {
        case .failure(let error): observer.failed(error)
        case .success where lookup.freshness == .reload: observer.completed()
        case .success(let store):
          store.ask(key, lifetime) { deliver($0, lookup, observer) }
        }
      }
    }
  }

  /// Keeps or forgets, at once; the outcome comes when that is on disk.
  public func apply(_ change: Change<String, Data>) -> Signal<Void> {
    // Of the access only: an outcome that somebody keeps does not keep the folder in use.
    access.outcome { store, done in store.apply(change, done) }.started()
  }

  /// What was last told of the key, or of one that shares its stripe.
  ///
  /// Until the folder is open, what is told makes every fill come too late.
  public func mark(for key: String) -> Mark {
    access.store?.mark(for: key) ?? .told(.none)
  }

  /// One store; once it is open it knows which keys it has.
  public func layout(for key: String?) -> Layout {
    Layout(
      .store, "DiskCache", holds: key.flatMap { access.store?.has($0) },
      size: { [access] in
        LayerSize(count: access.store?.count ?? 0, cost: access.store?.totalBytes ?? 0)
      })
  }

  /// How many values there are, those included that are still to be written.
  public var count: Signal<Int> {
    reading { $0.count }
  }

  /// How many bytes they have on disk, or will have.
  public var totalBytes: Signal<Int> {
    reading { $0.totalBytes }
  }

  /// Completes with a value when everything that was told before the subscription is on disk, or
  /// its outcome has failed.
  public func flush() -> Signal<Void> {
    .deferred { self.access.outcome { store, done in store.flush { done(nil) } } }
  }

  /// Lets go of the folder when everything that was told is on disk, so that another process can
  /// open it.
  ///
  /// Releasing the cache does the same, with nobody to say when it is done.
  ///
  /// What is asked or told after this fails with ``CacheError/unavailable(layer:underlying:)``.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func close() -> Signal<Void> {
    let access = access
    return Signal { observer, _ in
      access.close {
        observer.next(())
        observer.completed()
      }
    }.started()
  }

  private func reading(_ number: @escaping @Sendable (DiskStore) -> Int) -> Signal<Int> {
    Signal { observer, _ in
      self.access.use { answer in
        switch answer {
        case .failure(let error): observer.failed(error)
        case .success(let store):
          observer.next(number(store))
          observer.completed()
        }
      }
    }
  }
}

extension StoreAccess {
  /// How a piece of work of the store ends.
  fileprivate func outcome(
    of work: @escaping @Sendable (DiskStore, @escaping @Sendable (CacheError?) -> Void) -> Void
  ) -> Signal<Void> {
    Signal { observer, _ in
      self.use { answer in
        switch answer {
        case .failure(let error): observer.failed(error)
        case .success(let store):
          work(store) { failure in
            if let failure { return observer.failed(failure) }
            observer.next(())
            observer.completed()
          }
        }
      }
    }
  }
}

private func deliver(
  _ result: Result<Record?, CacheError>, _ lookup: Lookup, _ observer: Observer<Stamped<Data>>
) {
  switch result {
  case .failure(let error): observer.failed(error)
  case .success(let record):
    if let stamped = record?.stamped {
      if lookup.admits(age: stamped.age) {
        observer.next(stamped)
      } else {
        lookup.explainMiss(.tooOld(age: stamped.age))
      }
    }
    observer.completed()
  }
}
