/// A cache whose immediate answers are those of a memory cache.
///
/// That can be asked directly: a call through an existential is not specialised, and costs several
/// times as much as the lookup.
package protocol MemoryFronted<Key, Value>: Source {
  /// The memory cache; nil if there is none on top.
  var frontMemory: MemoryCache<Key, Value>? { get }
}

extension MemoryCache: MemoryFronted {
  package var frontMemory: MemoryCache<Key, Value>? { self }
}
