public import MillpondSignals
public import Synchronization

/// The lower layer behind one reference, so that a hit above retains one object, whatever lies
/// below.
@usableFromInline
final class LayerBelow<Layer: Source>: Sendable {
  @usableFromInline let layer: Layer

  /// Whether writes are stored in the layer: positive for yes; zero until that is known.
  @usableFromInline let lazyStoring = AtomicValue<Int8>(0)

  /// The names of the layers, made when an event is first reported to a listener.
  @usableFromInline let lazyLabels = LazyObject()

  @usableFromInline
  init(_ layer: Layer) {
    self.layer = layer
  }

  /// Whether writes are stored in the layer, so that the layer above has copies.
  @inlinable
  var storesWrites: Bool {
    let known = lazyStoring.load(ordering: .relaxed)
    return known == 0 ? findStoring() : known > 0
  }

  @usableFromInline
  func findStoring() -> Bool {
    let isStoring = layer.isCache && layer.topology(for: nil).storesWrites
    lazyStoring.store(isStoring ? 1 : -1, ordering: .relaxed)
    return isStoring
  }

  /// Returns the token for a fill of the layer above.
  @inlinable
  func token(_ token: FillToken) -> FillToken {
    storesWrites ? token.ofCopy : token
  }

  /// Returns the lookup for the layer: its own layers are filled with the place in the order of
  /// writes that the one above is, so that no change comes between the two.
  @inlinable
  func lookup(_ lookup: Lookup, _ token: FillToken) -> Lookup {
    lookup.begun(at: token.revision)
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
