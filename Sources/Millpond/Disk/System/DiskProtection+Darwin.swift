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
