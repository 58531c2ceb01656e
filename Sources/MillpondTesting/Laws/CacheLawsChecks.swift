import MillpondCore
import MillpondSignals

extension CacheLaws {
  /// Returns the checks that test a law.
  func checks(of law: CacheLaw) -> [Check] {
    switch law {
    case .identity: identity
    case .association:
      [
        likeness(
          "three layers", .rested, { AnyCache($0.layered(over: $1).layered(over: $2)) },
          { AnyCache($0.layered(over: $1.layered(over: $2))) })
      ]
    case .mappedKeys: mappedKeys
    case .mappedValues: mappedValues
    case .reuse: reuse
    case .noLateWrite: rule { await $0.lateWrite() }
    case .everyGetEnds: rule { await $0.openEnd() }
    case .nothingLeft:
      rule { await $0.leftAfterLeaving() } + rule { await $0.leftAfterEnd() }
    }
  }

  private var identity: [Check] {
    [
      likeness(
        "the empty cache above", .held, { layer, _, _ in layer },
        { layer, _, _ in AnyCache(EmptyCache().layered(over: layer)) }),
      likeness(
        "the empty cache below", .held, { layer, _, _ in layer },
        { layer, _, _ in AnyCache(layer.layered(over: EmptyCache())) }),
      likeness(
        "a cache without immediate answers", .held, { layer, _, _ in layer },
        { layer, _, _ in AnyCache(WithoutImmediateAnswers(base: layer)) }),
    ]
  }

  private var mappedKeys: [Check] {
    let (one, other) = (turned(keys, by: 1), swapped(keys))
    let back = turned(keys, by: -1)
    return [
      likeness(
        "keys that are not changed", .held, { layer, _, _ in layer },
        { layer, _, _ in AnyCache(layer.mapKeys({ $0 }, inverse: { $0 })) }),
      likeness(
        "keys that are changed twice", .held,
        { layer, _, _ in
          AnyCache(layer.mapKeys(one, inverse: back).mapKeys(other, inverse: other))
        },
        { layer, _, _ in
          AnyCache(layer.mapKeys({ one(other($0)) }, inverse: { other(back($0)) }))
        }),
    ]
  }

  private var mappedValues: [Check] {
    let inner = codec(turned(values, by: 1), turned(values, by: -1), failing: values.first)
    let outer = codec(swapped(values), swapped(values), failing: values.last)
    return [
      likeness(
        "values that are not changed", .held, { layer, _, _ in layer },
        { layer, _, _ in AnyCache(layer.mapValues(.identity)) }),
      likeness(
        "values that are changed twice", .held,
        { layer, _, _ in AnyCache(layer.mapValues(inner).mapValues(outer)) },
        { layer, _, _ in AnyCache(layer.mapValues(inner.then(outer))) }),
    ]
  }

  private var reuse: [Check] {
    [
      likeness(
        "flights that are shared twice", .held,
        { AnyCache($0.layered(over: $1).layered(over: $2).reusingInFlight()) },
        { AnyCache($0.layered(over: $1).layered(over: $2).reusingInFlight().reusingInFlight()) }),
      likeness(
        "flights without other callers", .calm,
        { AnyCache($0.layered(over: $1).layered(over: $2)) },
        { AnyCache($0.layered(over: $1).layered(over: $2).reusingInFlight()) }),
    ]
  }
}

/// Returns a codec that can neither encode nor decode one of the values.
private func codec<Value: Equatable & Sendable>(
  _ encode: @escaping @Sendable (Value) -> Value, _ decode: @escaping @Sendable (Value) -> Value,
  failing: Value?
) -> Codec<Value, Value> {
  Codec(
    encode: { value in
      if value == failing { throw CacheLawsError(layer: nil) }
      return encode(value)
    },
    decode: { value in
      if value == failing { throw CacheLawsError(layer: nil) }
      return decode(value)
    })
}

/// Returns a mapping of each element to the one that is so many places further.
private func turned<Element: Equatable & Sendable>(
  _ elements: [Element], by places: Int
) -> @Sendable (Element) -> Element {
  { element in
    guard let place = elements.firstIndex(of: element) else { return element }
    return elements[(place + places + elements.count) % elements.count]
  }
}

/// Returns a mapping that swaps the first element and the last.
private func swapped<Element: Equatable & Sendable>(
  _ elements: [Element]
) -> @Sendable (Element) -> Element {
  { element in
    if element == elements.first { return elements.last ?? element }
    return element == elements.last ? elements.first ?? element : element
  }
}

/// A cache without immediate answers, to compare the base's immediate answers with its signal.
private struct WithoutImmediateAnswers<Base: Cache>: Cache, AnsweringSource {
  let base: Base

  func answers(_ key: Base.Key, _ lookup: Lookup) -> Signal<Answer<Base.Value>> {
    base.answers(key, lookup)
  }

  func apply(_ change: Change<Base.Key, Base.Value>) -> Signal<Void> {
    base.apply(change)
  }

  func topology(for key: Base.Key?) -> Topology {
    base.topology(for: key)
  }
}
