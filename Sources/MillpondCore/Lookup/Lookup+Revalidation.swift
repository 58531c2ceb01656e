public import MillpondSignals

extension Lookup {
  /// The validator of the value that the caller has stored, if it asks whether that is still
  /// current; nil for a caller that needs a value.
  ///
  /// A source may answer with a value, as always, or with ``notModified(timeToLive:)``.
  public var known: Validator? {
    revalidation?.validator
  }

  /// Returns the answer that the value with the validator ``known`` is still current.
  ///
  ///     func getStamped(_ key: URL, _ lookup: Lookup) -> Signal<Stamped<Data>> {
  ///       answers(key, ifNot: lookup.known).flatMap { answer in
  ///         answer.isNotModified ? lookup.notModified() : .just(Stamped(answer.body))
  ///       }
  ///     }
  ///
  /// The layer that has the value keeps it as if it had just arrived. A caller that asked about no
  /// value receives a miss.
  ///
  /// - Parameter timeToLive: The time from now on for which the value may be stored; nil leaves
  ///   that to each cache.
  public func notModified<Value: Sendable>(
    timeToLive: TimeToLive? = nil
  ) -> Signal<Stamped<Value>> {
    Signal { observer, _ in
      if let revalidation {
        revalidation.confirm(NotModified(timeToLive: timeToLive))
        explainMiss(.revalidated)
      }
      observer.completed()
    }
  }

  /// The question about a stored value, if the get asks one.
  @inlinable
  var revalidation: Revalidation? {
    switch details {
    case .usual, .flight: nil
    case .special, .explained: details.special?.revalidation
    }
  }

  /// Returns a copy that asks about a stored value, or about none.
  @usableFromInline
  func asking(_ revalidation: Revalidation?) -> Lookup {
    with { $0.revalidation = revalidation }
  }

  /// Returns a copy that asks about no stored value.
  @inlinable
  package var needingValue: Lookup {
    revalidation == nil ? self : asking(nil)
  }
}
