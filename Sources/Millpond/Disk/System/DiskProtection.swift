/// When the files of a disk cache can be read, on devices that lock: the classes of Apple's platforms.
///
/// Elsewhere it makes no difference.
public enum DiskProtection: Sendable, Hashable {
  /// Only while the device is unlocked: what is asked for while it is locked fails, and is kept.
  case whileUnlocked

  /// From the first unlocking after a start on, which is what the system does by itself.
  case afterFirstUnlock

  /// Always.
  case none
}
