package import MillpondCore
package import MillpondSignals

/// For those who keep a copy of what is in a store: they see everything, the removals of ``end()``
/// and of ``prune(unusedFor:)`` included, and outlast an end.
extension EntityStore {
  /// All of a type, and then what each commit has changed of it.
  package func edits<E: Entity>(of type: E.Type) -> Signal<[TableEdit<E>]> {
    core.edits(of: type, isQuery: false)
  }

  /// A value each time when all edits of a commit have been sent.
  package var commits: Signal<Void> {
    Signal { [core] observer, lifetime in
      let watch = Watch<Void>(observer, lifetime)
      let number = core.withLock { _, observers in
        let number = observers.nextNumber()
        observers.commitListeners[number] = { watch.post(.next(())) }
        return number
      }
      watch.lifetime.onEnd {
        let released = core.withLock { $1.commitListeners.removeValue(forKey: number) }
        _ = released  // released here, not under the lock
      }
    }
  }

  /// Runs `body` when all are told of what has been committed by now.
  package func afterTelling(_ body: @escaping @Sendable () -> Void) {
    core.afterTelling(body)
  }

  /// Keeps an entity as it once was, unless something was written to it since the token was drawn, or a
  /// newer one is there, with which it is merged.
  package func restore<E: Entity>(_ entity: E, _ token: FillToken) {
    core.restore(entity, token)
  }
}
