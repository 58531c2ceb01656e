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

#if canImport(Darwin)
  import Foundation

  extension DiskProtection {
    /// Gives the folder this class, which the files that are made in it take over.
    func apply(to folder: String) throws {
      try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: folder)
    }

    private var type: FileProtectionType {
      switch self {
      case .whileUnlocked: .complete
      case .afterFirstUnlock: .completeUntilFirstUserAuthentication
      case .none: .none
      }
    }
  }
#endif

#if os(Linux)
  extension DiskProtection {
    /// There are no such classes here.
    func apply(to folder: String) throws {}
  }
#endif
