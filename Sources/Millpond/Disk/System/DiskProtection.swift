/// The protection classes of Apple's platforms, which say when the files of a disk cache can be
/// read on a locked device.
///
/// They have no effect elsewhere. The folder of a cache is also left out of backups.
public enum DiskProtection: Sendable, Hashable {
  /// Only while the device is unlocked: a get on a locked device fails, and the value is kept.
  case whileUnlocked

  /// After the first unlocking since a start, which is the system's default.
  case afterFirstUnlock

  /// At any time.
  case none
}

#if canImport(Darwin)
  import Foundation

  extension DiskProtection {
    /// Gives the folder this class, which files made in it inherit, and leaves it out of backups.
    func apply(to folder: String) throws {
      var url = URL(filePath: folder)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
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
    /// Does nothing: there are neither such classes nor backups here.
    func apply(to folder: String) throws {}
  }
#endif
