public import MillpondSignals

/// A cache that notes the changes that it could not save, and does not show what they were to remove
/// or to replace.
@usableFromInline
struct Saving<Base: Cache>: Wrapper, Cache {
  @usableFromInline typealias Key = Base.Key
  @usableFromInline typealias Value = Base.Value

  @usableFromInline let base: Base
  let unsaved: UnsavedChanges<Key>
  @usableFromInline var title: String { "saving" }

  @usableFromInline
  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    visible(base.get(key, lookup), key)
  }

  @usableFromInline
  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    visible(base.getStamped(key, lookup), key)
  }

  @usableFromInline
  func now(_ key: Key, _ lookup: Lookup) -> Value? {
    unsaved.hides(key) ? nil : base.now(key, lookup)
  }

  @usableFromInline
  func staleValue(of key: Key) -> Signal<Stamped<Value>>? {
    base.staleValue(of: key).map { visible($0, key) }
  }

  private func visible<Answer>(_ answer: Signal<Answer>, _ key: Key) -> Signal<Answer> {
    // Asked twice: a removal may fail during the look-up, or have ended by the time of the value.
    .deferred { [unsaved] in
      unsaved.hides(key) ? .empty : answer.filter { _ in !unsaved.hides(key) }
    }
  }

  @usableFromInline
  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    unsaved.watch(change, outcome)
    guard case .set(let key, _, let revision) = change, !outcome.isDone else { return outcome }
    // Here rather than in the layer above, so that a flush waits for the removal too. Otherwise the
    // removal could come after the flush has saved the value again, and remove it.
    let whole = WriteOutcome.orRemoved(key, revision, in: self, base, outcome)
    unsaved.wait(for: whole)
    return whole
  }

  @usableFromInline
  func topology(for key: Key?) -> Topology {
    base.topology(for: key)
  }
}
