public import MillpondSignals

/// A cache that notes the changes that it could not save, and does not show what they were to remove
/// or to replace.
@usableFromInline
struct HidingUnsaved<Base: Cache>: Wrapper, Cache, AnsweringSource {
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
    var outcome = base.apply(change)
    if case .set(let key, _, let revision) = change {
      // Here rather than in the layer above, so that a flush saves the value again, or waits, only
      // when the removal has ended; a later one would remove what the flush has saved.
      outcome = WriteOutcome.orRemoved(key, revision, in: self, base, outcome)
    }
    unsaved.watch(change, outcome)
    return outcome
  }

  @usableFromInline
  func topology(for key: Key?) -> Topology {
    base.topology(for: key)
  }
}
