public import MillpondSignals
public import Synchronization

/// The lower layer behind one reference, so that a hit above retains one object, whatever lies
/// below.
@usableFromInline
final class LayerBelow<Layer: Source>: Sendable {
  @usableFromInline let layer: Layer

  /// The traits of the layer; empty until they are known.
  @usableFromInline let lazyTraits = AtomicValue<UInt8>(0)

  /// The names of the layers, made when an event is first reported to a listener.
  @usableFromInline let lazyLabels = LazyObject()

  @usableFromInline
  init(_ layer: Layer) {
    self.layer = layer
  }

  @inlinable
  var traits: LayerTraits {
    let known = LayerTraits(rawValue: lazyTraits.load(ordering: .relaxed))
    return known.isEmpty ? findTraits() : known
  }

  @usableFromInline
  func findTraits() -> LayerTraits {
    let topology = layer.topology(for: nil)
    var traits = LayerTraits.known
    if layer.isCache, topology.storesWrites { traits.insert(.storesWrites) }
    if topology.allParts.contains(where: { $0.role == .layers }) { traits.insert(.hasLayers) }
    lazyTraits.store(traits.rawValue, ordering: .relaxed)
    return traits
  }

  /// Whether writes are stored in the layer, so that the layer above has copies.
  @inlinable
  var storesWrites: Bool { traits.contains(.storesWrites) }

  /// Returns the token for a fill of the layer above.
  @inlinable
  func token(_ token: FillToken) -> FillToken {
    storesWrites ? token.ofCopy : token
  }

  /// Returns the lookup for the layer: its own layers are filled with the place in the order of
  /// writes that the one above is, so that no change comes between the two.
  @inlinable
  func lookup(_ lookup: Lookup, _ token: FillToken) -> Lookup {
    traits.contains(.hasLayers) ? lookup.begun(at: token.revision) : lookup
  }

  /// Returns the names of the layer above and this one; nil for a layer that reports by itself.
  @inlinable
  func labels(of upper: some Source) -> LayerLabels {
    if let labels = lazyLabels.object { return unsafeDowncast(labels, to: LayerLabels.self) }
    let labels = LayerLabels(
      upper: upper.askedLabel, immediate: upper.ownLabel, lower: layer.ownLabel,
      isUpperStore: upper.isStoreAlone, isLowerStore: layer.isStoreAlone)
    return unsafeDowncast(lazyLabels.storeIfNil(labels), to: LayerLabels.self)
  }
}

/// The properties of a layer that decide how the layer above it stores and asks.
@usableFromInline
struct LayerTraits: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  @inlinable static var known: LayerTraits { LayerTraits(rawValue: 1) }

  /// Whether gets find what was written.
  @inlinable static var storesWrites: LayerTraits { LayerTraits(rawValue: 2) }

  /// Whether the layer consists of layers, which are filled too.
  @inlinable static var hasLayers: LayerTraits { LayerTraits(rawValue: 4) }
}

/// The names of two layers; nil for a layer that reports by itself.
@usableFromInline
final class LayerLabels: Sendable {
  @usableFromInline let upper: String?

  /// The name of the upper layer in the report of an immediate value.
  @usableFromInline let immediate: String?

  @usableFromInline let lower: String?

  /// Whether a layer only stores.
  @usableFromInline let (isUpperStore, isLowerStore): (Bool, Bool)

  @usableFromInline
  init(upper: String?, immediate: String?, lower: String?, isUpperStore: Bool, isLowerStore: Bool) {
    self.upper = upper
    self.immediate = immediate
    self.lower = lower
    (self.isUpperStore, self.isLowerStore) = (isUpperStore, isLowerStore)
  }
}
