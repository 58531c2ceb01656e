/// An action that the page of an ``Inspector`` offers besides looking.
public enum InspectorPermission: String, Sendable, Hashable, CaseIterable {
  /// The values of a key can be removed, from all layers.
  case removing

  /// The values of a memory layer can be reduced to a half, or to nothing.
  case trimming
}
