import Foundation
import MillpondCore
import MillpondSignals

/// The values of a disk cache, as files.
struct StoredFiles<Key: Hashable & Sendable>: Cache {
  let disk: DiskCache
  let name: @Sendable (Key) -> String

  func get(_ key: Key, _ lookup: Lookup) -> Signal<DiskFile> {
    if lookup.freshness == .reload { return .empty }
    return disk.file(for: name(key)).filter { lookup.admits(age: $0.age) }
  }

  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<DiskFile>> {
    get(key, lookup).map { Stamped($0, age: $0.age, validator: $0.validator) }
  }

  /// A fill is here already: whoever brings a file stores it first.
  func apply(_ change: Change<Key, DiskFile>) -> Signal<Void> {
    switch change {
    case .fill: return .just(())
    case .set(let key, let file, let revision):
      do {
        let content = try Data(contentsOf: file.url)
        return disk.apply(.set(name(key), content, revision))
      } catch {
        return .fail(error)
      }
    case .remove(let key, let revision):
      return disk.apply(.remove(name(key), revision))
    case .removeAll(let revision):
      return disk.apply(.removeAll(revision))
    }
  }

  func layout(for key: Key?) -> Layout {
    disk.layout(for: key.map(name))
  }
}
