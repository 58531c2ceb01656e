import Foundation
public import MillpondCore

extension DiskCache {
  /// Creates a cache in a folder of its name in the caches folder of the program, which is made if it
  /// is missing.
  ///
  ///     let pictures = DiskCache(named: "pictures", byteLimit: .mebibytes(256))
  ///
  /// The system may empty the caches folder while the program does not run. What has to stay belongs
  /// into a folder of the program's choice: ``init(directory:byteLimit:timeToLive:policy:schema:sealing:protection:)``.
  ///
  /// - Parameters:
  ///   - name: The name; any text. Caches of one name in one program share their values.
  ///   - byteLimit: The greatest size of the folder in bytes; with zero or less nothing is stored.
  ///   - timeToLive: The age, by the calendar, at which a value expires.
  ///   - policy: The policy that chooses the entries to evict.
  ///   - schema: The version of the form in which values are stored.
  ///   - sealing: The encryption of values on disk.
  ///   - protection: The protection class of the files, on devices that lock.
  public convenience init(
    named name: String, byteLimit: Int, timeToLive: TimeToLive = .forever,
    policy: EvictionPolicy = .adaptive, schema: DiskSchema = .unversioned,
    sealing: DiskSealing? = nil, protection: DiskProtection = .afterFirstUnlock
  ) {
    self.init(
      directory: CachesFolder.folder(named: name), byteLimit: byteLimit, timeToLive: timeToLive,
      policy: policy, schema: schema, sealing: sealing, protection: protection)
  }
}

/// The folder for what the program can fetch again.
enum CachesFolder {
  /// The caches folder of the program: on Apple's platforms that of its container or user, and on
  /// Linux that of the XDG base directories, with a folder for the program in it.
  static var ofProgram: URL {
    let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
    return folder(named: program, in: caches ?? FileManager.default.temporaryDirectory)
  }

  /// Returns the folder of a cache, whatever its name contains.
  static func folder(named name: String, in parent: URL = ofProgram) -> URL {
    parent.appending(path: FolderName.encoded(name), directoryHint: .isDirectory)
  }
}
