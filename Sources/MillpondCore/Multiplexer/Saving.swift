public import MillpondSignals

/// A cache that notes the changes that it could not save, and does not show what they were to remove
/// or to replace.
@usableFromInline
struct Saving<Base: Cache>: Wrapper, Cache, AnsweringSource {
  @usableFromInline typealias Key = Base.Key
  @usableFromInline typealias Value = Base.Value

  @usableFromInline let base: Base
  let unsaved: UnsavedChanges<Key>
  @usableFromInline var title: String { "saving" }

  @usableFromInline
  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    // Asked twice: a removal may fail during the look-up, or have ended by the time of the value.
    .deferred { [base, unsaved] in
      unsaved.hides(key)
        ? .empty : base.answers(key, lookup).filter { _ in !unsaved.hides(key) }
    }
  }

  @usableFromInline
  func now(_ key: Key, _ lookup: Lookup) -> Value? {
    unsaved.hides(key) ? nil : base.now(key, lookup)
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
