/// The durability that a flush gives to earlier writes.
public enum Durability: Sendable, Hashable {
  /// Handed over to the system: writes survive any end of the process.
  case written

  /// On the device: writes survive a power cut, if the device keeps its promises.
  case synchronized
}
