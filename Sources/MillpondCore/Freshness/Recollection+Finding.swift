public import MillpondSignals

extension Recollection {
  /// What is kept, and, if that is not fresh, what is fetched.
  @usableFromInline
  func look(_ asked: Freshness, _ key: Key, _ lookup: Lookup) -> Signal<Finding> {
    .asked(lookup) { [self] asker, token in
      store.layerAnswer(key, lookup.with(.any)).take(1).map { Look<Value>.kept($0) }
        .ifNoValue { .just(.nothing($0)) }
        .flatMap { [self] (look: Look<Value>) -> Signal<Finding> in
          if case .kept(let stamped) = look { tell?(key, .kept(stamped, asked: token.revision)) }
          let fresh = fresh(key, asked)
          let fetched = { [self] (failure: (any Error)?) in
            fetch(key, lookup.with(fresh), keeps: true, failure: failure).inContext(of: asker)
          }
          switch look {
          case .kept(let stamped) where fresh.admits(age: stamped.age):
            return .just(finding(stamped, isFresh: true, asked: nil))
          case .kept(let stamped) where policy.isUsable(age: stamped.age):
            return fetched(nil).startWith(finding(stamped, isFresh: false, asked: nil))
          case .kept: return fetched(nil)
          case .nothing(let failure): return fetched(failure)
          }
        }
    }
  }

  /// Joins the reload that is to begin, or starts it.
  func reload(_ key: Key, _ lookup: Lookup) -> Signal<Finding> {
    .asked { [self] asker in
      if flights.isCircular(key, asker) { return .fail(CacheError.circular(key: "\(key)")) }
      return flights.join(key, lookup) { [self] shared in
        flights.reload(key, shared) { [self] keeps in
          fetch(key, shared, keeps: keeps, failure: nil)
        }
      }
    }
  }

  /// Asks the source, and keeps what it answers.
  ///
  /// - Parameter failure: That of the store, if it has failed.
  func fetch(
    _ key: Key, _ lookup: Lookup, keeps: Bool, failure: (any Error)?
  ) -> Signal<Finding> {
    // The token is drawn before the source is asked: what is written from then on has to win.
    .asked(lookup) { [self] asker, token in
      if lookup.freshness != .reload, let error = failures.answer(key) { return .fail(error) }
      tell?(key, .begun)
      return base.layerAnswer(key, lookup).inContext(of: asker)
        .onNext { [self] stamped in
          if keeps { keep(stamped, key, token, lookup) }
        }
        .onEnd { [self] ending in
          if keeps, case .failed(let error) = ending { failures.keep(error, key, token) }
          tell?(key, .ended)
        }
        .map { [self] in finding($0, isFresh: true, asked: lookup.freshness) }
        .ifEmpty { failure.map { .fail($0) } ?? .empty }
    }
  }

  /// Stores what was fetched; what follows from it follows only if the store admits it.
  private func keep(_ stamped: Stamped<Value>, _ key: Key, _ token: FillToken, _ lookup: Lookup) {
    let outcome = store.apply(.fill(key, stamped, token))
    if lookup.isHeard { store.reportFailure(ofFill: outcome, key, lookup) }
    outcome.whenAdmitted { [self] in
      failures.forget(key, token)
      ages.renew(key)
      tell?(key, .fetched(stamped, asked: token.revision))
    }
  }

  func finding(_ stamped: Stamped<Value>, isFresh: Bool, asked: Freshness?) -> Finding {
    let now = timeline.now()
    return stamped.map { Recalled($0, isFresh: isFresh, asked: asked, at: now) }
  }
}

/// What the store says.
private enum Look<Value: Sendable>: Sendable {
  case kept(Stamped<Value>)
  case nothing((any Error)?)
}
