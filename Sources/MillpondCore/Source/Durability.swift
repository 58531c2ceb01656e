/// The durability that a flush gives to what was written.
public enum Durability: Sendable, Hashable {
  /// In the system's hands: it outlives the process, however that ends.
  case written

  /// On the device: it outlives a power cut too, as far as the device keeps its word.
  case synchronized
}
